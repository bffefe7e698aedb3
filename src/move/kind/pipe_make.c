/*
 * pipe_make.c - making pipes again, and the near ends of externals
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"
#include "move/kind/make.h"
#include "move/sock/make.h"

static int fill(int fd, Fds__Message *const *m, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		ssize_t w = write(fd, m[i]->data.data, m[i]->data.len);

		if (w < 0 && errno != EAGAIN)
			return error_sys(err, -errno, "cannot fill a pipe");
		if (w < 0 || (size_t)w != m[i]->data.len)
			return error_set(
				err, -ENOSPC,
				"a pipe with unread bytes cannot be enlarged to hold them: its user has too many pipes (fs.pipe-user-pages-soft)");
	}
	return 0;
}

/*
 * A user of many pipes gets small ones, which only a privilege enlarges: then
 * it stays as it is, and only what does not go in is in the way.
 */
static int resize(int fd, uint32_t size)
{
	if (fcntl(fd, F_GETPIPE_SZ) == (int)size ||
	    fcntl(fd, F_SETPIPE_SZ, (int)size) >= 0 || errno == EPERM)
		return 0;
	return -errno;
}

/*
 * Where source and destination are one machine it is the very same pipe, and
 * what is in it is there.  Otherwise nobody else's bytes may be.
 */
static int fill_fifo(int fd, const Fds__Pipe *m, struct error *err)
{
	Fds__Message **there = NULL;
	size_t n = 0;
	bool same;
	int r = fdpipe_peek(fd, &there, &n, err);

	if (r < 0)
		return r;
	same = n == m->n_content;
	for (size_t i = 0; i < n; i++) {
		same = same && there[i]->data.len == m->content[i]->data.len &&
		       !memcmp(there[i]->data.data, m->content[i]->data.data,
			       there[i]->data.len);
		fds__message__free_unpacked(there[i], NULL);
	}
	free(there);
	if (n)
		return same ? 0
			    : error_set(err, -EBUSY,
					"named pipe %s is in use at the "
					"destination",
					m->fifo->path);
	return fill(fd, m->content, m->n_content, err);
}

/*
 * Held open both ways until all its ends are made, so that none has to wait
 * for another; but a writer, once seen, is not forgotten.
 */
static int make_fifo(struct fds_restored *r, const Fds__Pipe *m, int *ret,
		     struct error *err)
{
	fd_auto root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd_auto found = -1;
	int fd, e;

	if (root < 0)
		return error_sys(err, -errno, "/");
	e = fdpath_find(root, m->fifo, &found, err);
	if (e < 0)
		return e;
	if (m->silent && !m->n_content) {
		fd = fcntl(found, F_DUPFD_CLOEXEC, r->base);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = fdrst_lift(r, fdrst_reopen(found, O_RDWR | O_NONBLOCK));
	}
	if (fd < 0)
		return error_sys(err, fd, "%s", m->fifo->path);
	*ret = fd;
	if (m->silent && !m->n_content)
		return 0;
	if ((e = resize(fd, m->size)) < 0)
		return error_sys(err, e, "%s of %u bytes", m->fifo->path,
				 m->size);
	if (m->packets && fcntl(fd, F_SETFL, O_NONBLOCK | O_DIRECT) < 0)
		return error_sys(err, -errno, "%s", m->fifo->path);
	return fill_fifo(fd, m, err);
}

static int make_one(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__Pipe *m = r->set->pipe[i];
	int fd[2], *p = r->pipe[i], e;

	if (m->fifo)
		return make_fifo(r, m, &p[0], err);
	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK | (m->packets ? O_DIRECT : 0)) < 0)
		return error_sys(err, -errno, "pipe");
	p[0] = fdrst_lift(r, fd[0]);
	p[1] = fdrst_lift(r, fd[1]);
	if (p[0] < 0 || p[1] < 0)
		return error_sys(err, p[0] < 0 ? p[0] : p[1], "pipe");
	if ((e = resize(p[1], m->size)) < 0)
		return error_sys(err, e, "pipe of %u bytes", m->size);
	return fill(p[1], m->content, m->n_content, err);
}

int fdmkpipe_all(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (size_t i = 0; i < r->set->n_pipe && !e; i++)
		e = make_one(r, i, err);
	return e;
}

/* The first description of an end is the end itself. */
static bool is_first(const Fds__Set *set, size_t i)
{
	unsigned mode = set->file[i]->flags & O_ACCMODE;

	for (size_t k = 0; k < i; k++) {
		const Fds__File *f = set->file[k];

		if (f->kind_case == FDS__FILE__KIND_PIPE &&
		    f->pipe->pipe == set->file[i]->pipe->pipe &&
		    (f->flags & O_ACCMODE) == mode)
			return false;
	}
	return mode != O_RDWR;
}

int fdmkpipe_end(struct fds_restored *r, size_t i, int *ret, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	unsigned mode = f->flags & O_ACCMODE;
	bool fifo = r->set->pipe[f->pipe->pipe]->fifo;
	int end = r->pipe[f->pipe->pipe][!fifo && mode != O_RDONLY], fd;

	if (!fifo && is_first(r->set, i)) {
		fd = fcntl(end, F_DUPFD_CLOEXEC, r->base);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = fdrst_reopen(end, mode | O_NONBLOCK);
	}
	if (fd < 0)
		return error_sys(err, fd, "pipe");
	*ret = fd;
	return 0;
}

/* ---- externals ---- */

/* A file before i with the same name, or SIZE_MAX. */
static size_t find_same(const Fds__Set *set, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (set->file[k]->kind_case == FDS__FILE__KIND_EXTERNAL &&
		    !strcmp(set->file[k]->external->name,
			    set->file[i]->external->name))
			return k;
	}
	return SIZE_MAX;
}

/*
 * A pipe is written through a description of our own, which cannot block;
 * should opening be forbidden, as with a keeper of another user, through far.
 */
static int put_back_pipe(int near, int far, const Fds__External *m,
			 struct error *err)
{
	fd_auto own = fdrst_reopen(near, O_WRONLY | O_NONBLOCK);
	size_t sum = 0;
	int e;

	if (own >= 0)
		far = own;
	else if (far < 0)
		return error_sys(
			err, own,
			"there is no far end through which to put unread bytes back");
	for (size_t i = 0; i < m->n_unread; i++)
		sum += m->unread[i]->data.len;
	if (sum > (size_t)fcntl(far, F_GETPIPE_SZ) &&
	    (e = resize(far, (uint32_t)sum)) < 0)
		return error_sys(err, e, "pipe of %zu bytes", sum);
	return fill(far, m->unread, m->n_unread, err);
}

static int put_back(int near, int far, const Fds__External *m,
		    struct error *err)
{
	struct stat st;
	int r;

	if (!m->n_unread)
		return 0;
	if (fstat(near, &st) < 0)
		return error_sys(err, -errno, "%s", m->name);
	if (!S_ISSOCK(st.st_mode))
		r = put_back_pipe(near, far, m, err);
	else if (far >= 0)
		r = sockmake_fill(far, m->unread, m->n_unread, err);
	else
		r = error_set(
			err, -EPROTO,
			"there is no far end through which to put bytes back");
	return r < 0 ? error_prefix(err, r, "%s", m->name) : 0;
}

int fdmkext_end(struct fds_restored *r, size_t i, int *ret, struct error *err)
{
	const Fds__External *m = r->set->file[i]->external;
	size_t same = find_same(r->set, i);
	fd_auto far = -1;
	int fd, e;

	if (same < i) {
		fd = fdrst_reopen(r->at[same], r->set->file[i]->flags);
		if (fd < 0) /* sockets cannot be opened */
			fd = fcntl(r->at[same], F_DUPFD_CLOEXEC, r->base);
		if (fd < 0)
			return error_sys(err, -errno, "%s", m->name);
		*ret = fd;
		return 0;
	}
	if (!r->ops->external)
		return error_set(err, -EPROTO, "no external descriptors here");
	fd = r->ops->external(r->ctx, m->name, &far, err);
	if (fd < 0)
		return fd;
	fd = fdrst_lift(r, fd);
	far = fdrst_lift(r, far);
	if (fd < 0)
		return error_sys(err, fd, "%s", m->name);
	e = put_back(fd, far, m, err);
	if (e < 0) {
		close(fd);
		return e;
	}
	*ret = fd;
	return 0;
}
