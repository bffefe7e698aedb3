/* bind.c - guests are held to the terms, see bind.h */
#include "cluster/agent/bind.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "cluster/agent/memory.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

/* The least that guests keep, where terms leave none. */
#define MEMORY_LEAST (UINT64_C(16) << 20)

struct bind {
	char *group;
	struct host_memory *memory;
	int done; /* eventfd: the thread has */
	sd_event_source *io;
	pthread_t thread;
	bool runs;		    /* there is a thread */
	bool behind;		    /* `next` came after it had begun */
	bool loose;		    /* as the log has it; */
	bool told;		    /* ... to be said again */
	struct bounds bounds, next; /* the thread's; what is to follow */
	int result;
	struct error err;
};

static uint64_t memory_for_guests(struct bind *b, const struct owner_terms *t)
{
	struct memory_sample s;

	if (!t->memory)
		return 0;
	host_memory_sample(b->memory, 0, &s);
	if (!s.all)
		return 0;
	return s.all > t->memory + MEMORY_LEAST ? s.all - t->memory
						: MEMORY_LEAST;
}

static void *run_set(void *arg)
{
	struct bind *b = arg;

	b->result = bounds_set(b->group, &b->bounds, &b->err);
	eventfd_write(b->done, 1);
	return NULL;
}

static void tell_result(struct bind *b)
{
	if (b->result < 0 && (b->told || !b->loose))
		log_warnx("guests=loose why=\"%s\"", b->err.text);
	else if (!b->result && b->loose)
		log_info("guests=bound");
	b->loose = b->result < 0;
	b->told = b->told && b->behind;
}

static void begin_set(struct bind *b)
{
	b->behind = false;
	b->bounds = b->next;
	b->runs = b->io && !pthread_create(&b->thread, NULL, run_set, b);
	if (b->runs)
		return;
	run_set(b);
	tell_result(b);
}

static int on_done(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct bind *b = arg;
	eventfd_t n;

	if (eventfd_read(fd, &n) < 0 || !b->runs)
		return 0;
	pthread_join(b->thread, NULL);
	b->runs = false;
	tell_result(b);
	if (b->behind)
		begin_set(b);
	return 0;
}

struct bind *bind_create(sd_event *event, const char *run_dir)
{
	struct bind *b = xcalloc(1, sizeof(*b));
	int r;

	b->group = bounds_name(run_dir);
	b->memory = host_memory_own();
	bounds_make(b->group);
	b->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = b->done < 0 ? -errno : 0;
	if (!r)
		r = sd_event_add_io(event, &b->io, b->done, EPOLLIN, on_done,
				    b);
	if (r < 0)
		log_warnx("guests cannot be bound beside all else: %s",
			  strerror(-r));
	return b;
}

const char *bind_group(const struct bind *b)
{
	return b->group;
}

void bind_put(struct bind *b, const struct owner_terms *terms, bool told)
{
	b->next = (struct bounds){ .memory = memory_for_guests(b, terms),
				   .spared = terms->cores,
				   .disk = terms->disk };
	b->told |= told;
	b->behind = true;
	if (!b->runs)
		begin_set(b);
}

void bind_destroy(struct bind *b)
{
	if (!b)
		return;
	sd_event_source_disable_unref(b->io);
	/* Whoever ends does not wait for a kernel that is freeing memory. */
	if (b->runs)
		return;
	bounds_remove(b->group);
	io_close(&b->done);
	host_memory_destroy(b->memory);
	free(b->group);
	free(b);
}
