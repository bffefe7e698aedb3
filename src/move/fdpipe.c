/*
 * fdpipe.c - capture of pipes
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdsrc.h"

int fdpipe_end(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__PipeEnd *m;
	size_t i;

	/* The index is the first file of that inode until fdpipe_finish(). */
	for (i = 0; i < sc->nr_file; i++) {
		if (S_ISFIFO(sc->file[i].st.st_mode) &&
		    sc->file[i].st.st_ino == f->st.st_ino &&
		    sc->file[i].st.st_dev == f->st.st_dev)
			break;
	}
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
	if (fcntl(twin[1], F_SETPIPE_SZ, size) < 0)
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
		fdmsg_append(ret, ret_n, buf, (size_t)r);
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

	for (size_t i = 0; i < sc->nr_file; i++) {
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

/* If only one end is inside, nobody else may have the other. */
static int check_ends(const struct ends *e, struct error *err)
{
	const struct fdscan_file *f = e->reader ? e->reader : e->writer;
	struct pollfd p = { .fd = f->copy, .events = POLLIN | POLLOUT };

	if (e->reader && e->writer)
		return 0;
	if (poll(&p, 1, 0) < 0)
		return error_sys(err, -errno, "fd %d: poll", f->number);
	if (p.revents & (e->reader ? POLLHUP : POLLERR))
		return 0;
	return error_set(err, -ENOTSUP,
			 "fd %d: pipe whose other end is outside the process",
			 f->number);
}

static int finish_one(struct fdscan *sc, size_t first, struct error *err)
{
	struct ends e = find_ends(sc, first);
	Fds__Set *set = sc->set;
	Fds__Pipe *m;
	int r, size;

	r = check_ends(&e, err);
	if (r < 0)
		return r;
	size = fcntl((e.reader ? e.reader : e.writer)->copy, F_GETPIPE_SZ);
	if (size < 0)
		return error_sys(err, -errno, "fd %d: pipe size",
				 (e.reader ? e.reader : e.writer)->number);
	m = xmalloc(sizeof(*m));
	fds__pipe__init(m);
	m->size = (uint32_t)size;
	m->packets = e.packets;
	set->pipe[set->n_pipe++] = m;
	if (!sc->content || !e.reader)
		return 0;
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
