/* land.c - the landing process, as the engine sees it; see land.h */
#include "move/land/land.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/move.h"
#include "move/proc/proc.h"
#include "move/proc/watch.h"

static void futex_wait(struct landing *l, uint32_t *word, uint32_t value)
{
	struct timespec ts = { .tv_nsec = LANDING_LOOK * NSEC_PER_MSEC };

	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &ts, NULL, 0) < 0 &&
	    errno == ETIMEDOUT)
		landing_wait_longer(l, l->pid);
}

static bool landing_alive(const struct landing *l)
{
	struct pollfd p = { .fd = l->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static int wait_word(struct landing *l, uint32_t *word, uint32_t want,
		     struct error *err)
{
	uint32_t now;

	while ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != want) {
		futex_wait(l, word, now);
		if (!landing_alive(l))
			return error_set(err, -ESRCH,
					 "the landing process has died");
	}
	return 0;
}

/* The pid, in this process's /proc, of the process of a pidfd. */
static pid_t pidfd_pid(int pidfd)
{
	char path[64];
	int64_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	return io_read_key(path, "Pid", &pid) < 0 ? -1 : (pid_t)pid;
}

static int landing_map(struct landing *l, struct error *err)
{
	size_t n = l->size - STUB_BOX;

	l->memfd = memfd_create("stint-landing", MFD_CLOEXEC);
	if (l->memfd < 0 || ftruncate(l->memfd, (off_t)n) < 0)
		return error_sys(err, -errno, "memfd of %zu bytes", n);
	l->map = mmap(NULL, n, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_POPULATE, l->memfd, 0);
	if (l->map == MAP_FAILED) {
		l->map = NULL;
		return error_sys(err, -errno, "mapping %zu bytes", n);
	}
	l->box = (struct stub_box *)l->map;
	l->box->request = 1;
	return 0;
}

int landing_create(const struct move_dest *dst, const struct landing_spec *spec,
		   struct channel *ch, struct landing **ret, struct error *err)
{
	struct landing *l = xcalloc(1, sizeof(*l));
	int pair[2] = { -1, -1 }, made[HELPER_FDS], r;
	struct clocks here;

	l->dst = dst;
	l->ch = ch;
	l->helper.sock = l->memfd = l->pidfd = l->uffd = -1;
	l->area = spec->area;
	l->size = spec->size;
	clocks_offsets(0, &here);
	l->clock_shift = spec->clocks.monotonic - here.monotonic;
	stub_fill_code(l->code, l->size);
	r = landing_map(l, err);
	if (r < 0)
		goto fail;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		error_sys(err, r = -errno, "socketpair");
		goto fail;
	}
	l->helper.sock = pair[0];
	r = dst->ops->spawn(dst->ctx, spec, sizeof(*spec),
			    (int[]){ l->memfd, pair[1] }, 2, err);
	io_close(&pair[1]);
	if (r < 0)
		goto fail;
	r = landing_ask(l, HELPER_CLONE, 0, NULL, 0, made, err);
	if (r < 0)
		goto fail;
	l->pidfd = made[0];
	l->pid = pidfd_pid(l->pidfd);
	l->helper.pid = pidfd_pid(made[1]);
	io_close(&made[1]);
	r = wait_word(l, &l->box->done, 1, err);
	if (r < 0)
		goto fail;
	*ret = l;
	return 0;
fail:
	landing_destroy(l, false);
	return r;
}

void landing_destroy(struct landing *l, bool keep)
{
	if (!l)
		return;
	landing_hurry(l, false);
	watch_stop(l->watch);
	if (!keep && l->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	io_close(&l->pidfd);
	io_close(&l->helper.sock);
	io_close(&l->memfd);
	io_close(&l->uffd);
	if (l->map)
		munmap(l->map, l->size - STUB_BOX);
	landing_forget_files(l);
	free(l->helper.file);
	frame_clear(&l->helper.queue);
	free(l->end);
	free(l->lock);
	free(l);
}

/* The address in L of something in our mapping of the area. */
static uint64_t there(const struct landing *l, const void *here)
{
	return l->area + STUB_BOX + (uint64_t)((const char *)here - l->map);
}

void *landing_here(const struct landing *l, uint64_t at)
{
	return l->map + (at - l->area - STUB_BOX);
}

/*
 * How many more calls fit; one place is always kept for the call that ends the
 * list.
 */
static size_t calls_left(const struct landing *l)
{
	return STUB_BOX_CALLS - l->list.top_calls - l->list.nr_calls - 1;
}

static size_t data_left(const struct landing *l)
{
	return sizeof(l->box->data) - l->list.top_data - l->list.nr_data;
}

int landing_keep_calls(struct landing *l, const struct stub_call *c, size_t n,
		       uint64_t *ret, struct error *err)
{
	struct stub_call *to;

	if (n > calls_left(l))
		return error_set(err, -E2BIG,
				 "too many timers and pending signals");
	l->list.top_calls += n;
	to = &l->box->call[STUB_BOX_CALLS - l->list.top_calls];
	memcpy(to, c, n * sizeof(*c));
	*ret = there(l, to);
	return 0;
}

int landing_keep_data(struct landing *l, const void *p, size_t n, uint64_t *ret,
		      struct error *err)
{
	size_t need = (n + 15) & ~(size_t)15;
	char *to;

	if (need > data_left(l))
		return error_set(err, -E2BIG,
				 "too many timers and pending signals");
	l->list.top_data += need;
	to = l->box->data + sizeof(l->box->data) - l->list.top_data;
	memcpy(to, p, n);
	*ret = there(l, to);
	return 0;
}

int landing_call(struct landing *l, const char *what, long nr, uint64_t a,
		 uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		 struct error *err)
{
	int r = 0;

	/* room for this one and the one that ends the list */
	if (!calls_left(l))
		r = landing_flush(l, err);
	l->list.what[l->list.nr_calls] = what;
	l->box->call[l->list.nr_calls++] =
		(struct stub_call){ .nr = nr, .arg = { a, b, c, d, e, f } };
	return r;
}

int landing_data(struct landing *l, const void *p, size_t n, uint64_t *ret,
		 struct error *err)
{
	size_t need = (n + 15) & ~(size_t)15;
	int r = 0;

	if (need > data_left(l) || !calls_left(l))
		r = landing_flush(l, err);
	if (!r && need > data_left(l))
		return error_set(err, -E2BIG, "argument of %zu bytes", n);
	if (r < 0)
		return r;
	memcpy(l->box->data + l->list.nr_data, p, n);
	*ret = there(l, l->box->data + l->list.nr_data);
	l->list.nr_data += need;
	return 0;
}

static void landing_go(struct landing *l)
{
	l->list.nr_calls = l->list.nr_data = 0;
	__atomic_add_fetch(&l->box->request, 1, __ATOMIC_RELEASE);
	landing_wake(&l->box->request, 1);
}

/* Check the results of those among the first n calls that were made. */
static int check_calls(const struct landing *l, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct stub_call *c = &l->box->call[i];

		if (l->list.what[i] && c->ret < 0 && c->ret > -4096)
			return error_sys(
				err, (int)c->ret,
				"%s at the destination (call %lld, %#llx, %#llx)",
				l->list.what[i], (long long)c->nr,
				(unsigned long long)c->arg[0],
				(unsigned long long)c->arg[1]);
	}
	return 0;
}

int landing_flush(struct landing *l, struct error *err)
{
	size_t n = l->list.nr_calls;
	int r;

	if (!n)
		return 0;
	l->box->call[n] = (struct stub_call){
		.nr = STUB_BOX_WAIT,
		.arg = { there(l, l->box), there(l, l->box->call) },
	};
	landing_go(l);
	r = wait_word(l, &l->box->done, l->box->request, err);
	return r < 0 ? r : check_calls(l, n, err);
}

int landing_start(struct landing *l, uint64_t next, struct error *err)
{
	int r = landing_call(l, NULL, STUB_JUMP, next, 0, 0, 0, 0, 0, err);

	if (!r && !landing_alive(l))
		r = error_set(err, -ESRCH, "the landing process has died");
	l->list.nr_last = l->list.nr_calls;
	if (!r)
		landing_go(l);
	return r;
}

int landing_wait_ready(struct landing *l, unsigned nr, struct error *err)
{
	uint32_t now;
	int r = 0;

	/* a thread that could not be made never gets there */
	while (!r && (now = __atomic_load_n(&l->box->ready,
					    __ATOMIC_ACQUIRE)) != nr) {
		futex_wait(l, &l->box->ready, now);
		r = check_calls(l, l->list.nr_last, err);
		if (!r && !landing_alive(l))
			r = error_set(err, -ESRCH,
				      "the landing process has died");
	}
	return r < 0 ? r : check_calls(l, l->list.nr_last, err);
}

uint64_t landing_slot(const struct landing *l, size_t i, size_t xsave_size)
{
	return l->area + STUB_THREADS + i * stub_slot_size(xsave_size);
}

struct stub_thread *landing_slot_here(const struct landing *l, size_t i,
				      size_t xsave_size)
{
	return (struct stub_thread *)(l->map + (STUB_THREADS - STUB_BOX) +
				      i * stub_slot_size(xsave_size));
}
