/*
 * pipe.c - capture of pipes
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

static bool same_inode(const struct fdscan_file *a, const struct fdscan_file *b)
{
	return a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev;
}

int fdpipe_end(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__PipeEnd *m;
	size_t i = (size_t)(f - sc->file);

	/* The index is the first file of that inode until fdpipe_finish(). */
	while (i && same_inode(&sc->file[i - 1], f))
		i--;
	f->msg->pipe = m = xmalloc(sizeof(*m));
	fds__pipe_end__init(m);
	m->pipe = (uint32_t)i;
	f->msg->kind_case = FDS__FILE__KIND_PIPE;
	return 0;
}

/* A twin of the pipe fd that holds the same content. */
static int tee_content(int fd, int twin[2], int size)
{
	int waiting, r;

	if (pipe2(twin, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	/* of a user with many pipes: what it holds may fit all the same */
	if (fcntl(twin[1], F_SETPIPE_SZ, size) < 0 && errno != EPERM)
		return -errno;
	if (ioctl(fd, FIONREAD, &waiting) < 0)
		return -errno;
	r = (int)tee(fd, twin[1], INT_MAX, SPLICE_F_NONBLOCK);
	if (r < 0)
		return -errno;
	return r == waiting ? 0 : -EAGAIN;
}

/* A read ends where a packet does. */
static int read_all(int fd, Fds__Message ***ret, size_t *ret_n, int size)
{
	uint8_t *buf = xmalloc((size_t)size);
	ssize_t r;

	while ((r = read(fd, buf, (size_t)size)) > 0)
		append_packet(ret, ret_n, buf, (size_t)r);
	r = r < 0 && errno != EAGAIN ? -errno : 0;
	free(buf);
	return (int)r;
}

int fdpipe_peek(int fd, Fds__Message ***ret, size_t *ret_n, struct error *err)
{
	int twin[2] = { -1, -1 }, size = fcntl(fd, F_GETPIPE_SZ), waiting, r;

	if (size < 0 || ioctl(fd, FIONREAD, &waiting) < 0)
		return error_sys(err, -errno, "pipe");
	if (!waiting)
		return 0;
	r = tee_content(fd, twin, size);
	io_close(&twin[1]);
	if (!r)
		r = read_all(twin[0], ret, ret_n, size);
	io_close(&twin[0]);
	return r < 0 ? error_sys(err, r, "cannot copy the content of a pipe")
		     : 0;
}

/* The descriptions of one pipe, found while walking all. */
struct ends {
	struct fdscan_file *reader, *writer;
	bool packets;
};

static struct ends find_ends(struct fdscan *sc, size_t first)
{
	struct ends e = { NULL };

	for (size_t i = first;
	     i < sc->nr_file && same_inode(&sc->file[i], &sc->file[first]);
	     i++) {
		struct fdscan_file *f = &sc->file[i];
		unsigned mode = f->info.flags & O_ACCMODE;

		if (f->msg->kind_case != FDS__FILE__KIND_PIPE ||
		    f->msg->pipe->pipe != first)
			continue;
		if (mode != O_WRONLY)
			e.reader = f;
		if (mode != O_RDONLY)
			e.writer = f;
		if (mode != O_RDONLY && (f->info.flags & O_DIRECT))
			e.packets = true;
	}
	return e;
}

static int poll_end(const struct fdscan_file *f, struct error *err)
{
	struct pollfd p = { .fd = f->copy, .events = POLLIN | POLLOUT };

	return poll(&p, 1, 0) < 0
		       ? error_sys(err, -errno, "fd %d: poll", f->number)
		       : p.revents;
}

/* If only one end is inside, nobody else may have the other. */
static int check_ends(const struct ends *e, struct error *err)
{
	const struct fdscan_file *f = e->reader ? e->reader : e->writer;
	int events;

	if (e->reader && e->writer)
		return 0;
	events = poll_end(f, err);
	if (events < 0 || (events & (e->reader ? POLLHUP : POLLERR)))
		return events < 0 ? events : 0;
	return error_set(err, -ENOTSUP,
			 "fd %d: pipe whose other end is outside the process",
			 f->number);
}

/*
 * Another host that shares the file system shares the name, and not the pipe:
 * both ends must be the process's.  In a tree that moves nobody else is.
 */
static int check_fifo(struct fdscan *sc, const struct ends *e, const char *path,
		      struct error *err)
{
	const struct fdscan_file *f = e->reader ? e->reader : e->writer;
	pid_t other;

	if (tree_holds(sc->s->trees, f->st.st_dev))
		return 0;
	if (!e->reader || !e->writer)
		return error_set(err, -ENOTSUP,
				 "fd %d: named pipe %s, whose other end is not "
				 "open in the process",
				 f->number, path);
	other = fdscan_other_holder(sc, &f->st);
	if (other)
		return error_set(err, -ENOTSUP,
				 "fd %d: named pipe %s, which process %d has "
				 "open as well",
				 f->number, path, (int)other);
	return 0;
}

static int name_fifo(struct fdscan *sc, const struct ends *e, const char *path,
		     Fds__Pipe *m, struct error *err)
{
	const struct fdscan_file *f = e->reader ? e->reader : e->writer;
	char what[32];
	int r = check_fifo(sc, e, path, err);

	if (r < 0)
		return r;
	snprintf(what, sizeof(what), "fd %d", f->number);
	r = fdpath_capture(sc->s->root, f->copy, path, true, what, &m->fifo,
			   err);
	if (r < 0)
		return r;
	m->fifo->carried = tree_holds(sc->s->trees, f->st.st_dev);
	r = e->writer ? POLLHUP : poll_end(f, err);
	m->silent = r >= 0 && !(r & POLLHUP);
	return r < 0 ? r : 0;
}

static int name_pipe(struct fdscan *sc, const struct ends *e, Fds__Pipe *m,
		     struct error *err)
{
	const struct fdscan_file *f = e->reader ? e->reader : e->writer;
	char link[PATH_MAX + 32];
	int r = fdproc_link(sc->s->proc, f->number, link, sizeof(link), err);

	if (r < 0)
		return r;
	return link[0] == '/' ? name_fifo(sc, e, link, m, err)
			      : check_ends(e, err);
}

static int finish_one(struct fdscan *sc, size_t first, struct error *err)
{
	struct ends e = find_ends(sc, first);
	const struct fdscan_file *f = e.reader ? e.reader : e.writer;
	int r, size = fcntl(f->copy, F_GETPIPE_SZ);
	Fds__Set *set = sc->set;
	Fds__Pipe *m;

	if (size < 0)
		return error_sys(err, -errno, "fd %d: pipe size", f->number);
	m = xmalloc(sizeof(*m));
	fds__pipe__init(m);
	m->size = (uint32_t)size;
	m->packets = e.packets;
	set->pipe[set->n_pipe++] = m;
	r = name_pipe(sc, &e, m, err);
	if (r < 0 || !sc->content || !e.reader)
		return r;
	r = fdpipe_peek(e.reader->copy, &m->content, &m->n_content, err);
	return r < 0 ? error_prefix(err, r, "fd %d", e.reader->number) : 0;
}

int fdpipe_finish(struct fdscan *sc, struct error *err)
{
	size_t *index = xcalloc(sc->nr_file + 1, sizeof(*index));
	int r = 0;

	sc->set->pipe = xcalloc(sc->nr_file + 1, sizeof(*sc->set->pipe));
	for (size_t i = 0; i < sc->nr_file && !r; i++) {
		Fds__File *m = sc->file[i].msg;

		if (m->kind_case != FDS__FILE__KIND_PIPE || m->pipe->pipe != i)
			continue;
		index[i] = sc->set->n_pipe;
		r = finish_one(sc, i, err);
	}
	for (size_t i = 0; i < sc->nr_file && !r; i++) {
		Fds__File *m = sc->file[i].msg;

		if (m->kind_case == FDS__FILE__KIND_PIPE)
			m->pipe->pipe = (uint32_t)index[m->pipe->pipe];
	}
	free(index);
	return r;
}
