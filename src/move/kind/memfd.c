/*
 * memfd.c - capture of memfds and deleted files, which move with content
 *
 * Nothing but descriptors leads to them, so the process's are all there are;
 * for deleted files, which another process may have opened before, that is
 * looked after.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"

/* Downtime goes with it, as it is shared memory that pre-copy cannot track. */
#define CONTENT_MAX ((off_t)64 << 20)

static int read_extent(int fd, off_t at, off_t end, Fds__Memfd *m)
{
	Fds__Extent *e = xmalloc(sizeof(*e));
	ssize_t r;

	fds__extent__init(e);
	e->offset = (uint64_t)at;
	e->data.data = xmalloc((size_t)(end - at));
	m->extent =
		xreallocarray(m->extent, m->n_extent + 1, sizeof(*m->extent));
	m->extent[m->n_extent++] = e;
	while (at < end) {
		r = pread(fd, e->data.data + e->data.len, (size_t)(end - at),
			  at);
		if (r <= 0)
			return r ? -errno : -EAGAIN;
		e->data.len += (size_t)r;
		at += r;
	}
	return 0;
}

/* Through a description of our own, as SEEK_DATA moves the offset. */
static int read_extents(const struct fdscan *sc, const struct fdscan_file *f,
			Fds__Memfd *m)
{
	off_t data = 0, hole = 0;
	fd_auto fd = -1;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "fd/%d", f->number);
	fd = openat(sc->s->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((data = lseek(fd, hole, SEEK_DATA)) >= 0) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		r = read_extent(fd, data, hole, m);
		if (r < 0)
			return r;
	}
	return errno == ENXIO ? 0 : -errno;
}

static int read_content(const struct fdscan *sc, const struct fdscan_file *f,
			Fds__Memfd *m, struct error *err)
{
	int r = sc->content ? read_extents(sc, f, m) : 0;

	return r < 0 ? error_sys(err, r, "fd %d: cannot read %s", f->number,
				 m->name)
		     : 0;
}

/* What it is made by there belongs to the process. */
static bool is_others(const struct fdscan *sc, const struct stat *st)
{
	struct stat own;

	return fstat(sc->s->proc, &own) == 0 &&
	       (own.st_uid != st->st_uid || own.st_gid != st->st_gid);
}

static Fds__Memfd *append(const struct fdscan *sc, const struct stat *st,
			  const char *name, const char *dir)
{
	Fds__Memfd *m = xmalloc(sizeof(*m));
	Fds__Set *set = sc->set;

	fds__memfd__init(m);
	m->name = xstrdup(name);
	m->dir = xstrdup(dir);
	m->size = (uint64_t)st->st_size;
	m->mode = st->st_mode & 07777;
	m->dev = st->st_dev;
	m->ino = st->st_ino;
	m->atime = clock_of_timespec(&st->st_atim);
	m->mtime = clock_of_timespec(&st->st_mtim);
	m->owned = is_others(sc, st);
	m->uid = st->st_uid;
	m->gid = st->st_gid;
	set->memfd = xreallocarray(set->memfd, set->n_memfd + 1,
				   sizeof(*set->memfd));
	set->memfd[set->n_memfd++] = m;
	return m;
}

static int check_size(const struct fdscan_file *f, const char *what,
		      struct error *err)
{
	if (f->st.st_size <= CONTENT_MAX)
		return 0;
	return error_set(err, -ENOTSUP,
			 "fd %d: %s of %" PRId64 " bytes, the most is %" PRId64,
			 f->number, what, (int64_t)f->st.st_size,
			 (int64_t)CONTENT_MAX);
}

static int add_memfd(struct fdscan *sc, struct fdscan_file *f, const char *name,
		     struct error *err)
{
	int seals = fcntl(f->copy, F_GET_SEALS), r;
	struct statfs fs;
	Fds__Memfd *m;

	if (seals < 0)
		return error_sys(err, -ENOTSUP, "fd %d: memfd without seals",
				 f->number);
	if (fstatfs(f->copy, &fs) < 0 || fs.f_type == HUGETLBFS_MAGIC)
		return error_set(err, -ENOTSUP, "fd %d: hugetlb memfd",
				 f->number);
	r = check_size(f, "memfd", err);
	if (r < 0)
		return r;
	m = append(sc, &f->st, name, "");
	m->seals = (uint32_t)seals;
	return 0;
}

static int add_deleted(struct fdscan *sc, struct fdscan_file *f, char *path,
		       struct error *err)
{
	char *name = strrchr(path, '/') + 1;
	int r = check_size(f, "deleted file", err);
	pid_t other;

	if (r < 0)
		return r;
	other = fdscan_other_holder(sc, &f->st);
	if (other)
		return error_set(err, -ENOTSUP,
				 "fd %d: deleted file %s, which process %d has "
				 "open as well",
				 f->number, path, (int)other);
	name[-1] = '\0';
	append(sc, &f->st, name, *path ? path : "/");
	return 0;
}

static size_t find(const Fds__Set *set, const struct stat *st)
{
	size_t i;

	for (i = 0; i < set->n_memfd; i++) {
		if (set->memfd[i]->dev == st->st_dev &&
		    set->memfd[i]->ino == st->st_ino)
			break;
	}
	return i;
}

static char *without_tail(const char *link)
{
	static const char tail[] = " (deleted)";
	char *name = xstrdup(link);
	size_t n = strlen(name), t = strlen(tail);

	if (n >= t && !strcmp(name + n - t, tail))
		name[n - t] = '\0';
	return name;
}

/* The link is "/memfd:NAME (deleted)" or "/DIR/NAME (deleted)". */
int fdcontent_file(struct fdscan *sc, struct fdscan_file *f, const char *link,
		   struct error *err)
{
	bool memfd = !strncmp(link, "/memfd:", strlen("/memfd:"));
	char *name = without_tail(link);
	size_t i = find(sc->set, &f->st);
	int r = 0;

	if (i == sc->set->n_memfd) {
		r = memfd ? add_memfd(sc, f, name + strlen("/memfd:"), err)
			  : add_deleted(sc, f, name, err);
		if (!r)
			r = read_content(sc, f, sc->set->memfd[i], err);
	}
	free(name);
	if (r < 0)
		return r;
	f->msg->memfd = xmalloc(sizeof(*f->msg->memfd));
	fds__memfd_ref__init(f->msg->memfd);
	f->msg->memfd->memfd = (uint32_t)i;
	f->msg->memfd->pos = f->info.pos;
	f->msg->kind_case = FDS__FILE__KIND_MEMFD;
	return 0;
}
