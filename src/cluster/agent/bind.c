/* bind.c - guests are held to the terms, see bind.h */
#include "cluster/agent/bind.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cluster/agent/memory.h"
#include "core/io.h"
#include "core/log.h"
#include "core/pace.h"
#include "core/xalloc.h"
#include "net/share.h"

/* The least that guests keep, where terms leave none. */
#define MEMORY_LEAST (UINT64_C(16) << 20)

struct bind {
	char *group;
	char *made[BOUNDS_MOST]; /* of it, in each hierarchy */
	unsigned nr_made;
	struct host_memory *memory;
	int done; /* eventfd: the thread has */
	sd_event_source *io;
	pthread_t thread;
	bool runs;		    /* there is a thread */
	bool behind;		    /* `next` came after it had begun */
	bool loose;		    /* as the log has it; */
	bool told;		    /* ... to be said again */
	struct bounds bounds, next; /* the thread's; what is to follow */
	struct net_share share, next_share, before; /* likewise; as it is */
	bool shared;				    /* that is known */
	struct pace *pace;
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

/* No uplink: guests have no network that they could use too much of. */
static int set_share(struct bind *b, struct error *err)
{
	int r = *b->share.uplink
			? net_share_set(&b->share,
					b->shared ? &b->before : NULL, err)
			: 0;

	b->shared = !r;
	b->before = b->share;
	return r < 0 ? error_prefix(err, r, "net cannot be kept here") : 0;
}

static void *run_set(void *arg)
{
	struct bind *b = arg;
	struct error err;
	int r = bounds_set(b->group, &b->bounds, &b->err);

	b->result = set_share(b, r ? &err : &b->err);
	b->result = r ? r : b->result;
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
	b->share = b->next_share;
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

static struct net_share share_of(const char *group, const char *uplink,
				 const char *net)
{
	return (struct net_share){
		.table = group,
		.guests = BOUNDS_LINKS,
		.uplink = uplink && strcmp(net, "none") ? uplink : "",
		.bridge = !strcmp(net, "bridge"),
	};
}

static struct pace *open_pace(const char *run_dir)
{
	char *path = pace_path(run_dir);
	struct error err = ERROR_INIT;
	struct pace *pace = NULL;

	if (pace_open(path, &pace, &err) < 0)
		log_warnx("moves=loose why=\"%s\"", err.text);
	free(path);
	return pace;
}

struct bind *bind_create(sd_event *event, const struct agent_conf *conf,
			 const char *net)
{
	struct bind *b = xcalloc(1, sizeof(*b));
	int r;

	b->group = bounds_name(conf->run_dir);
	b->next_share = share_of(b->group, conf->uplink, net);
	b->pace = open_pace(conf->run_dir);
	b->memory = host_memory_own();
	bounds_make(b->group);
	b->nr_made = bounds_list(b->group, b->made);
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
	b->next_share.rate = terms->net;
	if (b->pace)
		pace_set(b->pace, terms->move_net);
	b->told |= told;
	b->behind = true;
	if (!b->runs)
		begin_set(b);
}

static bool is_whole(const struct bind *b)
{
	for (unsigned i = 0; i < b->nr_made; i++)
		if (access(b->made[i], F_OK) < 0)
			return false;
	return true;
}

void bind_mend(struct bind *b)
{
	if (is_whole(b))
		return;
	log_warnx("group=%s was removed: made anew", b->group);
	bounds_make(b->group);
	b->behind = true;
	if (!b->runs)
		begin_set(b);
}

void bind_forget(const char *group, const struct agent_conf *conf)
{
	struct net_share share = share_of(group, conf->uplink, "");
	struct error err;

	/* Its kind of network is not known any more. */
	for (int i = 0; i < 2; i++) {
		share.bridge = i;
		if (net_share_set(&share, NULL, &err) < 0)
			log_warnx("table=%s stays: %s", group, err.text);
	}
}

void bind_destroy(struct bind *b, bool empty)
{
	if (!b)
		return;
	sd_event_source_disable_unref(b->io);
	/* Whoever ends does not wait for a kernel that is freeing memory. */
	if (b->runs)
		return;
	bounds_remove(b->group);
	b->share.rate = 0;
	if (empty && b->before.rate)
		(void)!set_share(b, &b->err);
	pace_close(b->pace);
	io_close(&b->done);
	host_memory_destroy(b->memory);
	free(b->group);
	while (b->nr_made)
		free(b->made[--b->nr_made]);
	free(b);
}
