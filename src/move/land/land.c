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

/* How often a wait for L or F checks that they live and make progress. */
#define PATIENCE_MSEC 30

/* It takes its time. */
static void wait_longer(struct landing *l, pid_t pid)
{
	landing_calm(l);
	landing_beat(l, pid);
}

static void futex_wait(struct landing *l, uint32_t *word, uint32_t value)
{
	struct timespec ts = { .tv_nsec = PATIENCE_MSEC * NSEC_PER_MSEC };

	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &ts, NULL, 0) < 0 &&
	    errno == ETIMEDOUT)
		wait_longer(l, l->pid);
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

/* F asks for the process's end of an external. */
static int give_external(struct landing *l, const char *name)
{
	const struct move_dest_ops *ops = l->dst->ops;
	struct error err = ERROR_INIT;
	int far = -1;
	int near = ops->external
			   ? ops->external(l->dst->ctx, name, &far, &err)
			   : error_set(&err, -ENOENT,
				       "nothing to connect its %s to", name);
	int r = helper_send(l->helper.sock, HELPER_EXTERNAL,
			    near < 0 ? near : 0, err.text, strlen(err.text),
			    (int[]){ near, far });

	io_close(&near);
	io_close(&far);
	return r;
}

/* One request to F and its answer; ret_fds as in helper_recv(). */
static int ask_helper(struct landing *l, enum helper_verb verb, int32_t value,
		      const void *p, size_t n, int ret_fds[HELPER_FDS],
		      struct error *err)
{
	int r = helper_send(l->helper.sock, verb, value, p, n, NULL);

	while (!r) {
		struct pollfd news = { .fd = l->helper.sock, .events = POLLIN };
		struct helper_head head;
		int fds[HELPER_FDS];
		void *text;

		while (poll(&news, 1, PATIENCE_MSEC) == 0)
			wait_longer(l, l->helper.pid);
		r = helper_recv(l->helper.sock, &head, &text, fds);
		if (r < 0)
			break;
		for (int i = 0; i < HELPER_FDS; i++)
			if (ret_fds)
				ret_fds[i] = fds[i];
			else
				io_close(&fds[i]);
		if (head.verb == HELPER_EXTERNAL) {
			r = give_external(l, text);
			free(text);
			continue;
		}
		r = head.value;
		if (r < 0)
			error_set(err, r, "%s", (char *)text);
		free(text);
		return r;
	}
	return error_sys(err, r, "the landing helper");
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
	r = ask_helper(l, HELPER_CLONE, 0, NULL, 0, made, err);
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

static void forget_files(struct landing *l)
{
	for (size_t i = 0; i < l->helper.nr_files; i++)
		free(l->helper.file[i].path);
	l->helper.nr_files = 0;
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
	forget_files(l);
	free(l->helper.file);
	free(l->end);
	free(l->lock);
	free(l);
}

/* The address in L of something that lies in our mapping of the area. */
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

/* Check the results of those of the first n calls that were made. */
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

int landing_open(struct landing *l, const char *path, int flags,
		 struct error *err)
{
	int fd;

	for (size_t i = 0; i < l->helper.nr_files; i++)
		if (l->helper.file[i].flags == flags &&
		    !strcmp(l->helper.file[i].path, path))
			return l->helper.file[i].fd;
	fd = ask_helper(l, HELPER_OPEN, flags, path, strlen(path), NULL, err);
	if (fd >= 0) {
		array_room(l->helper.file, l->helper.nr_files,
			   &l->helper.cap_files);
		l->helper.file[l->helper.nr_files++] =
			(struct landing_file){ xstrdup(path), flags, fd };
	}
	return fd;
}

void landing_close_files(struct landing *l)
{
	struct error err;

	/* should F be dead, the next request tells */
	for (size_t i = 0; i < l->helper.nr_files; i++)
		(void)!ask_helper(l, HELPER_CLOSE, l->helper.file[i].fd, NULL,
				  0, NULL, &err);
	forget_files(l);
}

int landing_object(struct landing *l, uint64_t dev, uint64_t ino,
		   const char *name, uint64_t size, struct error *err)
{
	struct landing_object o = { .dev = dev, .ino = ino, .size = size };

	if (strlen(name) >= sizeof(o.name))
		return error_set(err, -EPROTO, "memfd of a long name");
	snprintf(o.name, sizeof(o.name), "%s", *name ? name : OBJECT_NAMELESS);
	return ask_helper(l, HELPER_OBJECT, 0, &o, sizeof(o), NULL, err);
}

int landing_change_tree(struct landing *l, const void *p, size_t n,
			struct error *err)
{
	return ask_helper(l, HELPER_TREE, 0, p, n, NULL, err);
}

int landing_open_early(struct landing *l, const void *paths, size_t n,
		       struct error *err)
{
	return ask_helper(l, HELPER_EARLY, 0, paths, n, NULL, err);
}

int landing_restore_fds(struct landing *l, const void *blob, size_t n,
			struct error *err)
{
	int r;

	forget_files(l); /* F closes all that is not of the process */
	r = ask_helper(l, HELPER_RESTORE, 0, blob, n, NULL, err);
	if (r < 0)
		return r;
	l->helper.left = r;
	/* Nothing is left to do, nor is there a lock to take. */
	if (l->helper.left == HELPER_LEFT_NOTHING)
		return 0;
	return fds_locks(blob, n, &l->lock, &l->nr_locks, err);
}

int landing_late_fds(struct landing *l, struct error *err)
{
	if (l->helper.left != HELPER_LEFT_LATE)
		return 0;
	return ask_helper(l, HELPER_LATE, 0, NULL, 0, NULL, err);
}

int landing_activate(struct landing *l, struct error *err)
{
	if (l->helper.left == HELPER_LEFT_NOTHING)
		return 0;
	return ask_helper(l, HELPER_ACTIVATE, 0, NULL, 0, NULL, err);
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
