/*
 * helper.c - what runs inside the new capsule: F, and L until it is the stub
 *
 * F is a child of the capsule's init and does what needs ordinary C code.  L
 * is cloned from it: a child of init as well, with the pid of the process
 * that moves, a memory of its own and F's descriptor table.  L maps the
 * landing area and jumps into it; from that moment it executes nothing but
 * what the engine lists, and the engine unmaps everything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/io.h"
#include "core/signals.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/land/land.h"
#include "move/proc/fdinfo.h"
#include "move/tree/tree.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* A piece of shared memory; made before the descriptors that refer to it. */
struct object {
	uint64_t dev, ino;
	int fd;
};

struct helper {
	const struct landing_spec *spec;
	int memfd, sock;
	struct stub_box *box;
	struct fds_restored *restored;
	struct tree_made *trees;
	struct object *object;
	size_t nr_objects, cap_objects;
	struct fds_restore_ops ops;
};

/*
 * Unless something else is told, a program's signals have the default actions, whatever
 * our own starter ignored; the C library would leave out 32 and 33.
 */
static void default_actions(void)
{
	static const uint64_t none[4];

	for (int sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, none, NULL, 8);
}

/* Map the area and never come back. */
static _Noreturn void become_stub(const struct helper *h)
{
	uint64_t at = h->spec->area;
	char *code =
		mmap((void *)(uintptr_t)at, STUB_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char *data = mmap((void *)(uintptr_t)(at + STUB_BOX),
			  h->spec->size - STUB_BOX, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_POPULATE,
			  h->memfd, 0);
	struct stub_box *box = (struct stub_box *)data;

	if (code == MAP_FAILED || data == MAP_FAILED)
		_exit(1);
	stub_fill_code(code, h->spec->size);
	default_actions();
	if (mprotect(code, STUB_PAGE, PROT_READ | PROT_EXEC) < 0)
		_exit(1);
	/* the kernel writes there whenever it likes; soon it is unmapped */
	if (__rseq_size)
		syscall(SYS_rseq,
			(char *)__builtin_thread_pointer() + __rseq_offset,
			sizeof(struct rseq), RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
	if (h->spec->own_session)
		setsid();
	else if (h->spec->own_group)
		setpgid(0, 0);
	box->call[0] = (struct stub_call){
		.nr = STUB_BOX_WAIT,
		.arg = { (uintptr_t)box, (uintptr_t)&box->call[0] },
	};
	__asm__ volatile("jmp *%1"
			 :
			 : "b"(&box->call[0]), "r"(code + STUB_ENTRY)
			 : "memory");
	__builtin_unreachable();
}

/* Whole seconds, rounded down: the kernel wants 0 <= ns < 1 s beside them. */
static long seconds(int64_t ns)
{
	return ns / NSEC_PER_SEC - (ns % NSEC_PER_SEC < 0);
}

/* The process's clocks must not jump: shift those of L, F's next child. */
static int shift_clocks(const struct clocks *s)
{
	char text[128];

	if (unshare(CLONE_NEWTIME) < 0)
		return -errno;
	snprintf(text, sizeof(text), "monotonic %ld %ld\nboottime %ld %ld\n",
		 seconds(s->monotonic),
		 s->monotonic - seconds(s->monotonic) * NSEC_PER_SEC,
		 seconds(s->boottime),
		 s->boottime - seconds(s->boottime) * NSEC_PER_SEC);
	return io_write_file(AT_FDCWD, "/proc/self/timens_offsets", text);
}

/*
 * Answers with a pidfd of L and one of F: the engine knows them only by these.
 */
static int make_landing(struct helper *h, int ret_fds[HELPER_FDS])
{
	pid_t tid = h->spec->pid;
	int pidfd = -1, r;
	struct clone_args args = {
		.flags = CLONE_FILES | CLONE_PARENT | CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.set_tid = (uintptr_t)&tid,
		.set_tid_size = 1,
	};
	long pid;

	if (h->spec->shift_clocks && (r = shift_clocks(&h->spec->clocks)) < 0)
		return r;
	ret_fds[1] = pidfd_open(getpid(), 0);
	if (ret_fds[1] < 0)
		return -errno;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		become_stub(h);
	if (pid < 0)
		return -errno;
	ret_fds[0] = pidfd;
	return 0;
}

/* Ask the engine for the two ends of an external. */
static int ask_external(void *ctx, const char *name, int *ret_far,
			struct error *err)
{
	struct helper *h = ctx;
	struct helper_head head;
	void *text;
	int fds[HELPER_FDS];
	int r = helper_send(h->sock, HELPER_EXTERNAL, 0, name, strlen(name),
			    NULL);

	if (!r)
		r = helper_recv(h->sock, &head, &text, fds);
	if (r < 0)
		return error_sys(err, r, "the engine");
	if (head.value < 0) {
		r = error_set(err, head.value, "%s", (char *)text);
		io_close(&fds[0]);
		io_close(&fds[1]);
	} else {
		r = fds[0];
		*ret_far = fds[1];
	}
	free(text);
	return r;
}

/* As many bytes of queues as the engine has, and again. */
static int take_queue(struct helper *h, char *p, size_t n, size_t *ret,
		      struct error *err)
{
	size_t most = n < FRAME_QUEUE_DATA ? n : FRAME_QUEUE_DATA;
	struct helper_head head = { 0 };
	void *bytes = NULL;
	int r = helper_send(h->sock, HELPER_QUEUE, (int32_t)most, NULL, 0,
			    NULL);

	if (!r)
		r = helper_recv(h->sock, &head, &bytes, NULL);
	if (!r)
		r = head.value;
	if (!r && (!head.size || head.size > most))
		r = -EPROTO;
	if (!r)
		memcpy(p, bytes, head.size);
	*ret = head.size;
	free(bytes);
	return r < 0 ? error_sys(err, r, "the bytes of a queue") : 0;
}

static int ask_queue(void *ctx, void *p, size_t n, struct error *err)
{
	size_t have = 0, got;
	int r = 0;

	for (; have < n && !r; have += got)
		r = take_queue(ctx, (char *)p + have, n - have, &got, err);
	return r;
}

static struct object *find_object(const struct helper *h, uint64_t dev,
				  uint64_t ino)
{
	for (size_t i = 0; i < h->nr_objects; i++)
		if (h->object[i].dev == dev && h->object[i].ino == ino)
			return &h->object[i];
	return NULL;
}

/* The size that mappings need, until the descriptor says it better. */
static int make_object(struct helper *h, const struct landing_object *want,
		       size_t n, struct error *err)
{
	struct object *o;
	struct stat st;

	if (n != sizeof(*want) || !memchr(want->name, 0, sizeof(want->name)))
		return error_set(err, -EPROTO, "helper: malformed object");
	o = find_object(h, want->dev, want->ino);
	if (!o) {
		array_room(h->object, h->nr_objects, &h->cap_objects);
		o = &h->object[h->nr_objects++];
		*o = (struct object){ want->dev, want->ino, -1 };
		o->fd = memfd_create(want->name,
				     MFD_CLOEXEC | MFD_ALLOW_SEALING);
	}
	if (fstat(o->fd, &st) < 0 || ((uint64_t)st.st_size < want->size &&
				      ftruncate(o->fd, (off_t)want->size) < 0))
		return error_sys(err, -errno, "memfd %s of %llu bytes",
				 want->name, (unsigned long long)want->size);
	return o->fd;
}

static void close_objects(struct helper *h)
{
	for (size_t i = 0; i < h->nr_objects; i++)
		io_close(&h->object[i].fd);
	free(h->object);
	h->object = NULL;
	h->nr_objects = 0;
}

/* fds_restore() asks for the memfd of that inode at the source. */
static int give_object(void *ctx, uint64_t dev, uint64_t ino)
{
	const struct object *o = find_object(ctx, dev, ino);

	return o ? o->fd : -ENOENT;
}

/* Move *fd to the first free number from `first` on. */
static int move_up(int *fd, int first, struct error *err)
{
	int up = fcntl(*fd, F_DUPFD_CLOEXEC, first);

	if (up < 0)
		return error_sys(
			err, -errno,
			"no descriptor free from %d on (RLIMIT_NOFILE)", first);
	close(*fd);
	*fd = up;
	return 0;
}

/* Keep out of the way of the descriptors that are to be restored. */
static int step_aside(struct helper *h, int first, struct error *err)
{
	int r = move_up(&h->sock, first, err);

	for (size_t i = 0; i < h->nr_objects && !r; i++)
		r = move_up(&h->object[i].fd, first, err);
	io_close(&h->memfd);
	return r;
}

/* Connections come alive, and the table then has only descriptors of L. */
static int activate(struct helper *h, struct error *err)
{
	int r = h->restored ? fds_activate(h->restored, err) : 0;

	fds_restored_destroy(h->restored);
	h->restored = NULL;
	/* From here on the copy is to run, even if the engine is dead. */
	if (__atomic_exchange_n(&h->box->alive, STUB_ALIVE, __ATOMIC_ACQ_REL) ==
	    STUB_ALIVE_WANTED)
		landing_release_box(h->box);
	return r;
}

/*
 * Restore the descriptors; returns what is left to be done, see enum
 * helper_left.
 */
static int restore_fds(struct helper *h, const void *blob, size_t n,
		       struct error *err)
{
	int *reserved = xcalloc(h->nr_objects + 1, sizeof(*reserved));
	int r = fds_unpack(blob, n, &h->restored, err);

	if (r >= 0)
		r = step_aside(h, fds_first_free(h->restored), err);
	reserved[0] = h->sock;
	for (size_t i = 0; i < h->nr_objects; i++)
		reserved[i + 1] = h->object[i].fd;
	if (r >= 0)
		r = fds_restore(h->restored, &h->ops, h, reserved,
				h->nr_objects + 1, err);
	close_objects(h);
	fds_early_destroy(h->ops.early);
	h->ops.early = NULL;
	free(reserved);
	if (r < 0) {
		fds_restored_destroy(h->restored);
		h->restored = NULL;
		return r;
	}
	if (fds_is_late(h->restored))
		return HELPER_LEFT_LATE;
	if (fds_dormant(h->restored))
		return HELPER_LEFT_ACTIVATE;
	r = activate(h, err);
	return r < 0 ? r : HELPER_LEFT_NOTHING;
}

/*
 * The engine is dead.  Unsent data of the connections is only in this process's
 * memory, so wait as long as L does for the decision.
 */
static void outlive_engine(struct helper *h)
{
	const struct timespec now_and_then = { .tv_nsec = 200000000 };
	struct error err;

	while (__atomic_load_n(&h->box->alive, __ATOMIC_ACQUIRE) ==
	       STUB_ALIVE_NOT) {
		if (kill(h->spec->pid, 0) < 0)
			return;
		syscall(SYS_futex, &h->box->alive, FUTEX_WAIT, STUB_ALIVE_NOT,
			&now_and_then, NULL, 0);
	}
	(void)!activate(h, &err);
}

static int change_tree(struct helper *h, const char *p, size_t n,
		       struct error *err)
{
	size_t path = strlen(p) + 1; /* ends with the message at the latest */

	if (path > n)
		return error_set(err, -EPROTO, "helper: malformed tree");
	if (!h->trees)
		h->trees = tree_made_create();
	return tree_made_apply(h->trees, p, p + path, n - path, err);
}

static int do_verb(struct helper *h, const struct helper_head *head, void *p,
		   int ret_fds[HELPER_FDS], struct error *err)
{
	int r;

	switch (head->verb) {
	case HELPER_CLONE:
		r = make_landing(h, ret_fds);
		return r < 0 ? error_sys(err, r, "making a process with pid %d",
					 h->spec->pid)
			     : r;
	case HELPER_OPEN:
		r = open(p, head->value | O_CLOEXEC);
		return r < 0 ? error_sys(err, -errno, "%s", (char *)p) : r;
	case HELPER_OBJECT:
		return make_object(h, p, head->size, err);
	case HELPER_TREE:
		return change_tree(h, p, head->size, err);
	case HELPER_CLOSE:
		return close(head->value) < 0 ? -errno : 0;
	case HELPER_EARLY:
		r = fds_open_early(&h->ops.early, p, head->size, err);
		return r < 0 ? r : fds_check_needs(p, head->size, err);
	case HELPER_RESTORE:
		return restore_fds(h, p, head->size, err);
	case HELPER_LATE:
		return h->restored ? fds_restore_late(h->restored, err) : 0;
	case HELPER_ACTIVATE:
		return activate(h, err);
	}
	return error_set(err, -EPROTO, "helper: unknown request");
}

/* Do what the engine asks until it ends, or the helper has nothing left to do. */
static void answer_requests(struct helper *h)
{
	struct helper_head head;
	void *p;

	while (helper_recv(h->sock, &head, &p, NULL) == 0) {
		struct error err = ERROR_INIT;
		int made[HELPER_FDS] = { -1, -1 };
		int r = do_verb(h, &head, p, made, &err);

		free(p);
		if (helper_send(h->sock, HELPER_DONE, r, err.text,
				strlen(err.text), made) < 0)
			return;
		io_close(&made[0]);
		io_close(&made[1]);
		if (head.verb == HELPER_ACTIVATE ||
		    (head.verb == HELPER_RESTORE && r == HELPER_LEFT_NOTHING))
			return;
	}
}

static void await_release(const struct helper *h)
{
	while (!__atomic_load_n(&h->box->released, __ATOMIC_ACQUIRE) &&
	       kill(h->spec->pid, 0) == 0)
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_SEC / 20 },
			  NULL);
}

int move_land(const void *arg, size_t n, const int *fds, size_t nr_fds)
{
	struct landing_spec spec;
	struct helper h = { .spec = &spec,
			    .ops = { .external = ask_external,
				     .object = give_object,
				     .queue = ask_queue } };
	struct clocks mine;

	if (n != sizeof(spec) || nr_fds != 2)
		return 2;
	memcpy(&spec, arg, sizeof(spec));
	prctl(PR_SET_NAME, LANDING_NAME); /* not taken for init */
	h.memfd = fds[0];
	h.sock = fds[1];
	/* from then on children get these offsets */
	clocks_offsets(0, &mine);
	h.ops.clock_shift = spec.clocks.monotonic - mine.monotonic;
	h.box = mmap(NULL, STUB_BOX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     h.memfd, 0);
	if (h.box == MAP_FAILED)
		return 2;
	/* L inherits this mask, and queues the signals that were pending. */
	signals_block_all();
	answer_requests(&h);
	/* the table is shared with L: leave nothing of ours in it */
	io_close(&h.memfd);
	io_close(&h.sock);
	if (h.restored)
		outlive_engine(&h);
	/* exiting takes longer than all that the others still have to do */
	hurry_end(0);
	await_release(&h);
	return 0;
}
