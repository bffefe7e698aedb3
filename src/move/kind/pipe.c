/*
 * pipe.c - pipes, named and not
 */
#include "move/kind/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/wire/append.h"

#define SIZE_MAX_PIPE (1u << 30)

static bool pipe_is(const struct fdscan *sc, const struct fdscan_file *f,
		    const char *link)
{
	return S_ISFIFO(f->st.st_mode) && !(f->info.flags & O_PATH);
}

static int pipe_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			struct error *err)
{
	Fds__PipeEnd *m;

	f->msg->pipe = m = append_new(&fds__pipe_end__descriptor);
	/* The first file of that inode, until pipe_capture_all(). */
	m->pipe = (uint32_t)fdscan_first_of_inode(sc, f);
	return 0;
}

/* A twin of the pipe fd that holds the same content. */
static int tee_content(int fd, int twin[2], int size)
{
	int waiting, r;

	if (pipe2(twin, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	/*
	 * EPERM: a user with many pipes may not enlarge one, but its content
	 * may fit all the same
	 */
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
	     i < sc->nr_file &&
	     fdscan_same_inode(&sc->file[i], &sc->file[first]);
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

/* If the process has only one end, no other process may have the other. */
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
 * Another host that shares the file system shares the name, but not the pipe:
 * so both ends must belong to the process. In a tree that moves nobody else has
 * one.
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
	int r = fdinfo_link(sc->s->proc, f->number, link, sizeof(link), err);

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
	m = append_new(&fds__pipe__descriptor);
	m->size = (uint32_t)size;
	m->packets = e.packets;
	set->pipe[set->n_pipe++] = m;
	r = name_pipe(sc, &e, m, err);
	if (r < 0 || !sc->content || !e.reader)
		return r;
	r = fdpipe_peek(e.reader->copy, &m->content, &m->n_content, err);
	return r < 0 ? error_prefix(err, r, "fd %d", e.reader->number) : 0;
}

static int pipe_capture_all(struct fdscan *sc, struct error *err)
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

static void pipe_tell(struct fds_source *s, const struct fdscan *sc, size_t i)
{
	const Fds__Pipe *m = sc->set->pipe[sc->set->file[i]->pipe->pipe];

	if (m->fifo)
		fdtold_path(s, m->fifo);
}

size_t fdpipe_size(const struct fdscan_file *f)
{
	int n = 0;

	(void)!ioctl(f->copy, FIONREAD, &n);
	return n > 0 ? (size_t)n : 0;
}

static int pipe_check(const Fds__Set *set, size_t i, struct error *err)
{
	return set->file[i]->pipe->pipe < set->n_pipe
		       ? 0
		       : fdkind_bad(err, "no pipe");
}

static int pipe_check_all(const Fds__Set *set, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < set->n_pipe && !r; i++) {
		const Fds__Pipe *p = set->pipe[i];

		if (p->size > SIZE_MAX_PIPE)
			return fdkind_bad(err, "pipe too large");
		if (p->fifo &&
		    (p->fifo->path[0] != '/' || !S_ISFIFO(p->fifo->mode)))
			return fdkind_bad(err, "odd named pipe");
		r = fdkind_check_messages(p->content, p->n_content, p->size,
					  err);
	}
	return r;
}

int fdpipe_fill(int fd, Fds__Message *const *m, size_t n, struct error *err)
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

int fdpipe_resize(int fd, uint32_t size)
{
	if (fcntl(fd, F_GETPIPE_SZ) == (int)size ||
	    fcntl(fd, F_SETPIPE_SZ, (int)size) >= 0 || errno == EPERM)
		return 0;
	return -errno;
}

/*
 * If source and destination are one machine it is the very same pipe, whose
 * content is still there. Otherwise it must not have bytes of somebody else.
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
	return fdpipe_fill(fd, m->content, m->n_content, err);
}

/*
 * The pipe is held open for both directions until all its ends are made, so
 * that opening an end never waits for the other; but readers notice once they
 * have seen a writer.
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
		fd = fdkit_lift(r, fdkit_reopen(found, O_RDWR | O_NONBLOCK));
	}
	if (fd < 0)
		return error_sys(err, fd, "%s", m->fifo->path);
	*ret = fd;
	if (m->silent && !m->n_content)
		return 0;
	if ((e = fdpipe_resize(fd, m->size)) < 0)
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
	p[0] = fdkit_lift(r, fd[0]);
	p[1] = fdkit_lift(r, fd[1]);
	if (p[0] < 0 || p[1] < 0)
		return error_sys(err, p[0] < 0 ? p[0] : p[1], "pipe");
	if ((e = fdpipe_resize(p[1], m->size)) < 0)
		return error_sys(err, e, "pipe of %u bytes", m->size);
	return fdpipe_fill(p[1], m->content, m->n_content, err);
}

static int pipe_make_first(struct fds_restored *r, struct error *err)
{
	int e = 0;

	r->pipe = xcalloc(r->set->n_pipe + 1, sizeof(*r->pipe));
	r->begun = xcalloc(r->set->n_pipe + 1, sizeof(*r->begun));
	for (size_t i = 0; i < r->set->n_pipe; i++)
		r->pipe[i][0] = r->pipe[i][1] = -1;

	for (size_t i = 0; i < r->set->n_pipe && !e; i++)
		e = make_one(r, i, err);
	return e;
}

/* The first description of an end is the end itself. */
static bool is_first(const struct fds_restored *r, const Fds__File *f)
{
	unsigned mode = f->flags & O_ACCMODE;
	bool *begun = &r->begun[f->pipe->pipe][mode != O_RDONLY];
	bool first = mode != O_RDWR && !*begun;

	*begun |= first;
	return first;
}

static int pipe_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	unsigned mode = f->flags & O_ACCMODE;
	bool fifo = r->set->pipe[f->pipe->pipe]->fifo;
	int end = r->pipe[f->pipe->pipe][!fifo && mode != O_RDONLY], fd;

	if (!fifo && is_first(r, f)) {
		fd = fcntl(end, F_DUPFD_CLOEXEC, r->base);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = fdkit_reopen(end, mode | O_NONBLOCK);
	}
	return fd < 0 ? error_sys(err, fd, "pipe") : fd;
}

static void pipe_drop(struct fds_restored *r)
{
	for (size_t i = 0; r->pipe && i < r->set->n_pipe; i++) {
		io_close(&r->pipe[i][0]);
		io_close(&r->pipe[i][1]);
	}
	free(r->pipe);
	free(r->begun);
	r->pipe = NULL;
	r->begun = NULL;
}

const struct fd_kind fd_kind_pipe = {
	.message = FDS__FILE__KIND_PIPE,
	.is = pipe_is,
	.capture = pipe_capture,
	.capture_all = pipe_capture_all,
	.size = fdpipe_size,
	.tell = pipe_tell,
	.check = pipe_check,
	.check_all = pipe_check_all,
	.make_first = pipe_make_first,
	.make = pipe_make,
	.drop = pipe_drop,
	.flags = O_DIRECT,
};
