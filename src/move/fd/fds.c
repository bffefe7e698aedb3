/*
 * fds.c - the source side of fds.h
 */
#include "move/fd/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/restore.h"
#include "move/fd/scan.h"
#include "move/kind/kinds.h"
#include "move/sock/diag.h"
#include "move/sock/tcp.h"
#include "move/sock/tcp_later.h"
#include "move/sock/tcp_repair.h"

/*
 * How often a running process is looked at before what stands in the way
 * counts: it may be between two calls, or about to give a lock back.
 */
struct patience {
	long pause; /* ns */
	int looks, lock_looks;
};
static const struct patience patient = { 2000000, 5, 100 };
static const struct patience brief = { 200000, 5, 5 };

#define WARM_MAX ((size_t)256 << 20)

static int open_source(struct fds_source *s, struct error *err)
{
	char path[32];
	int r = fdinfo_ns_pid(s->pid, &s->ns_pid, err);

	if (r < 0)
		return r;
	s->strangers = strangers_to(s->pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)s->pid);
	s->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->proc < 0)
		return error_sys(err, -errno, "%s", path);
	s->root = openat(s->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->root < 0 ? error_sys(err, -errno, "%s/root", path) : 0;
}

static int look_patiently(struct fds_source *s, const struct patience *p,
			  struct fdscan **ret, struct error *err)
{
	const struct timespec pause = { .tv_nsec = p->pause };
	int r = -EAGAIN, locked = 0;

	s->nr_passed = 0;
	for (int i = 0; i < p->looks && r < 0;) {
		r = fdscan_run(s, false, ret, err);
		if (!r || r == -ESTALE)
			continue;
		nanosleep(&pause, NULL);
		if (r != -ENOLCK || locked++ >= p->lock_looks)
			i++;
	}
	return r == -ENOLCK ? -ENOTSUP : r;
}

/* A source that has not looked yet and has no sock_diag socket. */
static int source_create(pid_t pid, int pidfd, const struct move_external *ext,
			 size_t nr_ext, const struct tree_set *trees,
			 struct fds_source **ret, struct error *err)
{
	struct fds_source *s = xcalloc(1, sizeof(*s));
	int r;

	s->pid = pid;
	s->pidfd = pidfd;
	s->ext = ext;
	s->nr_ext = nr_ext;
	s->trees = trees;
	s->proc = s->root = s->diag = s->route = -1;
	s->queued_most = FDS_QUEUED_MOST;
	s->later_least = FDS_LATER_LEAST;
	r = open_source(s, err);
	if (r < 0)
		fds_source_destroy(s);
	else
		*ret = s;
	return r;
}

int fds_check(pid_t pid, const struct move_external *ext, size_t nr_ext,
	      const struct tree_set *trees, struct error *err)
{
	fd_auto pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct fds_source *s;
	struct fdscan *sc;
	int r;

	if (pidfd < 0)
		return error_sys(err, -errno, "process %d", (int)pid);
	r = source_create(pid, pidfd, ext, nr_ext, trees, &s, err);
	if (r < 0)
		return r;
	r = look_patiently(s, &patient, &sc, err);
	if (!r)
		fdscan_destroy(sc);
	fds_source_destroy(s);
	return r;
}

/*
 * A page touched for the first time costs ten times what copying into it does,
 * and the capture is downtime.  So the allocator keeps what it has had: a look
 * that reads as much as the capture will, and as many pages as the content and
 * the blob would take now.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most there can be */
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
}

static void warm_up(size_t content)
{
	size_t piece = 1 << 20, sum = piece + 2 * content, n;
	void **p;

	n = (sum < WARM_MAX ? sum : WARM_MAX) / piece;
	p = xcalloc(n, sizeof(*p));
	for (size_t i = 0; i < n; i++) {
		p[i] = xmalloc(piece);
		explicit_bzero(p[i], piece);
	}
	for (size_t i = 0; i < n; i++)
		free(p[i]);
	free(p);
}

/* Take over what a look has found; returns how many of its files are new. */
static size_t take_stock(struct fds_source *s, struct fdscan *sc)
{
	size_t nr = fdtold_add(s, sc);

	s->content = 0;
	s->has_socket = false;
	for (size_t i = 0; i < sc->nr_file; i++) {
		const struct fd_kind *k =
			fdkinds_find(sc->file[i].msg->kind_case);

		s->content += k->size ? k->size(&sc->file[i]) : 0;
		s->has_socket |= S_ISSOCK(sc->file[i].st.st_mode);
	}
	fdscan_destroy(sc);
	return nr;
}

int fds_prepare(pid_t pid, int pidfd, const struct move_external *ext,
		size_t nr_ext, const struct tree_set *trees,
		struct fds_source **ret, struct error *err)
{
	struct fds_source *s;
	struct fdscan *sc;
	int r = source_create(pid, pidfd, ext, nr_ext, trees, &s, err);

	if (r < 0)
		return r;
	r = sock_diag_open(pid, pidfd, &s->diag, &s->route, err);
	keep_memory();
	s->whole = true;
	if (!r)
		r = look_patiently(s, &patient, &sc, err);
	s->whole = false;
	if (r < 0) {
		fds_source_destroy(s);
		return r;
	}
	take_stock(s, sc);
	/* This counts as told: if sending it fails, there is no move. */
	fds_confirm(s, true);
	fdtold_forget_needs(s); /* the first round tells these */
	warm_up(s->content);
	*ret = s;
	return 0;
}

size_t fds_content(const struct fds_source *s)
{
	return s->content;
}

bool fds_reads_direct(const struct fds_source *s)
{
	return s->reads_direct;
}

void fds_forbid_direct(struct fds_source *s)
{
	s->no_direct = true;
}

void fds_paths(struct fds_source *s, uint8_t **ret, size_t *ret_n)
{
	fdtold_pack(s, true, ret, ret_n);
}

static bool in_our_network(const struct fds_source *s)
{
	struct stat own, its;

	return stat("/proc/self/ns/net", &own) == 0 &&
	       fstatat(s->proc, "ns/net", &its, 0) == 0 &&
	       own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

static bool has_connections(const struct fds_source *s)
{
	/*
	 * Asking for connections takes 0.3 ms. In a capsule all connections
	 * belong to the process, also those that it has closed. If it shares
	 * our network, a process that had no socket when it was looked at has
	 * no connection to wait for.
	 */
	return !in_our_network(s) || s->has_socket;
}

/*
 * This part is sent in one piece, while the process stands still (FDS in
 * wire/frame.c).
 */
static int check_queued(const struct fdscan *sc, struct error *err)
{
	size_t most = sc->s->queued_most, sum = 0;

	for (size_t i = 0; i < sc->nr_file; i++)
		if (S_ISSOCK(sc->file[i].st.st_mode) &&
		    tcp_is(sc->file[i].copy))
			sum += fdkinds_find(sc->file[i].msg->kind_case)
				       ->size(&sc->file[i]);
	if (sum <= most)
		return 0;
	return error_set(err, -EAGAIN,
			 "its TCP connections hold %zu MiB that are not read, "
			 "or not acknowledged, yet; %zu MiB can move",
			 sum >> 20, most >> 20);
}

int fds_look(struct fds_source *s, bool early, uint8_t **ret, size_t *ret_n,
	     struct error *err)
{
	int r = has_connections(s) ? tcp_capture_check_soon(s, err) : 0;
	struct fdscan *sc;
	size_t nr;
	bool news;

	if (r < 0)
		return r;
	s->soon = true;
	r = look_patiently(s, &brief, &sc, err);
	s->soon = false;
	if (r < 0)
		return r;
	r = check_queued(sc, err);
	if (r < 0) {
		fdscan_destroy(sc);
		return r;
	}
	news = early && fdearly_look(s, sc);
	nr = take_stock(s, sc);
	news |= early && s->told->n_need > s->nr_needed;
	if (nr || news)
		fdtold_pack(s, false, ret, ret_n);
	return nr || news;
}

size_t fds_untold(struct fds_source *s, uint8_t **ret, size_t *ret_n)
{
	size_t nr = fdtold_add(s, s->scan);

	if (nr)
		fdtold_pack(s, false, ret, ret_n);
	return nr;
}

int fds_drain(struct fds_source *s, usec_t limit, struct error *err)
{
	return has_connections(s) ? tcp_capture_drain(s, limit, err) : 0;
}

void fds_release(struct fds_source *s)
{
	if (!s)
		return;
	fdscan_destroy(s->scan);
	s->scan = NULL;
}

int fds_capture(struct fds_source *s, uint8_t **ret, size_t *ret_n,
		struct error *err)
{
	int r;

	fds_release(s);
	r = fdscan_run(s, true, &s->scan, err);
	if (r < 0)
		return r;
	tcplater_take_out(s->scan);
	*ret = xmalloc(fds__set__get_packed_size(s->scan->set) + 1);
	*ret_n = fds__set__pack(s->scan->set, *ret);
	return 0;
}

int fds_queues(struct fds_source *s, fds_put_fn *put, void *ctx,
	       struct error *err)
{
	return tcplater_put(s->scan, put, ctx, err);
}

size_t fds_handed(const struct fds_source *s, struct fds_lock **ret)
{
	struct fds_lock *all;
	size_t nr = fds_restored_locks(s->scan->set, &all), n = 0;

	for (size_t i = 0; i < nr; i++)
		if (all[i].handed)
			all[n++] = all[i];
	*ret = all;
	return n;
}

static int unlock(const struct fdscan_file *f)
{
	struct flock fl = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	for (size_t i = 0; i < f->msg->n_lock; i++) {
		/* Only the process can hand over its own locks. */
		if (f->msg->lock[i]->posix)
			continue;
		if ((f->msg->lock[i]->ofd ? fcntl(f->copy, F_OFD_SETLK, &fl)
					  : flock(f->copy, LOCK_UN)) < 0)
			return -errno;
	}
	return 0;
}

int fds_finish(struct fds_source *s, struct error *err)
{
	int ret = 0, r;

	for (size_t i = 0; s->scan && i < s->scan->nr_file; i++) {
		const struct fdscan_file *f = &s->scan->file[i];
		const struct fd_kind *k = fdkinds_find(f->msg->kind_case);

		r = unlock(f);
		if (!r && k->end)
			r = k->end(f);
		if (r < 0 && !ret)
			ret = error_sys(err, r, "fd %d: cannot end it here",
					f->number);
	}
	return ret;
}

void fds_source_destroy(struct fds_source *s)
{
	if (!s)
		return;
	fds_release(s);
	fdtold_clear(s);
	fdearly_clear(s);
	fdkept_clear(s);
	free(s->place);
	free(s->alone);
	free(s->passed);
	io_close(&s->proc);
	io_close(&s->root);
	io_close(&s->diag);
	io_close(&s->route);
	free(s);
}

static int heal_one(int pidfd, int number)
{
	fd_auto fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);

	if (fd < 0 || !tcp_is(fd))
		return 0;
	return tcp_capture_heal(fd);
}

int move_heal(pid_t pid, int pidfd, struct error *err)
{
	fd_auto proc = -1;
	char path[32];
	int *list, ret = 0, r;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return error_sys(err, -errno, "%s", path);
	r = fdinfo_list(proc, &list, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		r = heal_one(pidfd, list[i]);
		if (r < 0 && !ret)
			ret = error_sys(err, r, "fd %d: TCP_REPAIR off",
					list[i]);
	}
	free(list);
	return ret;
}
