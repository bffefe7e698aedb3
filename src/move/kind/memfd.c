/*
 * memfd.c - memfds and deleted files, which move with their content
 *
 * Only descriptors lead to them, so the process usually has all there are; a deleted
 * file may have been opened by another process before, which is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

/* Content is sent during the downtime, because pre-copy cannot track it. */
#define CONTENT_MAX ((off_t)64 << 20)

static int read_extent(int fd, off_t at, off_t end, Fds__Memfd *m)
{
	Fds__Extent *e = append_new(&fds__extent__descriptor);
	ssize_t r;

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

/* Through a description of our own, because SEEK_DATA moves the offset. */
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

/*
 * Does the file belong to another user? A file that is made at the destination
 * gets the process's ids.
 */
static bool is_others(const struct fdscan *sc, const struct stat *st)
{
	struct stat own;

	return fstat(sc->s->proc, &own) == 0 &&
	       (own.st_uid != st->st_uid || own.st_gid != st->st_gid);
}

static Fds__Memfd *append(const struct fdscan *sc, const struct stat *st,
			  const char *name, const char *dir)
{
	Fds__Memfd *m = append_new(&fds__memfd__descriptor);
	Fds__Set *set = sc->set;

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

/* Its index in set->memfd, if another description of it was captured; or n_memfd. */
static size_t find_memory(const struct fdscan *sc, const struct fdscan_file *f)
{
	for (size_t i = fdscan_first_of_inode(sc, f);
	     i < sc->nr_file && fdscan_same_inode(&sc->file[i], f); i++) {
		const Fds__File *m = sc->file[i].msg;

		if (m->kind_case == FDS__FILE__KIND_MEMFD && m->memfd)
			return m->memfd->memfd;
	}
	return sc->set->n_memfd;
}

static bool is_memfd(const char *link)
{
	return !strncmp(link, "/memfd:", strlen("/memfd:"));
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
static bool memfd_is(const struct fdscan *sc, const struct fdscan_file *f,
		     const char *link)
{
	return link && (is_memfd(link) ||
			(S_ISREG(f->st.st_mode) && !f->st.st_nlink &&
			 link[0] == '/' && !(f->info.flags & O_PATH)));
}

static int memfd_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			 struct error *err)
{
	char *name = without_tail(link);
	size_t i = find_memory(sc, f);
	int r = 0;

	if (i == sc->set->n_memfd) {
		r = is_memfd(link)
			    ? add_memfd(sc, f, name + strlen("/memfd:"), err)
			    : add_deleted(sc, f, name, err);
		if (!r)
			r = read_content(sc, f, sc->set->memfd[i], err);
	}
	free(name);
	if (r < 0)
		return r;
	f->msg->memfd = append_new(&fds__memfd_ref__descriptor);
	f->msg->memfd->memfd = (uint32_t)i;
	f->msg->memfd->pos = f->info.pos;
	return 0;
}

static size_t memfd_size(const struct fdscan_file *f)
{
	return (size_t)f->st.st_size;
}

/* Where a deleted file is to be made again; any directory will do. */
static void memfd_tell(struct fds_source *s, const struct fdscan *sc, size_t i)
{
	const Fds__Memfd *m = sc->set->memfd[sc->set->file[i]->memfd->memfd];
	Fds__Path p = FDS__PATH__INIT;

	p.path = m->dir;
	p.mode = S_IFDIR;
	if (*m->dir && !tree_holds(s->trees, m->dev))
		fdtold_path(s, &p);
}

static int memfd_check(const Fds__Set *set, size_t i, struct error *err)
{
	return set->file[i]->memfd->memfd < set->n_memfd
		       ? 0
		       : fdkind_bad(err, "no memfd");
}

static int memfd_check_all(const Fds__Set *set, struct error *err)
{
	for (size_t i = 0; i < set->n_memfd; i++) {
		const Fds__Memfd *m = set->memfd[i];

		if (m->size > (uint64_t)CONTENT_MAX || (m->mode & ~07777u) ||
		    strlen(m->name) > NAME_MAX)
			return fdkind_bad(err, "memfd out of range");
		if (m->dir[0] && (m->dir[0] != '/' || m->seals))
			return fdkind_bad(err, "deleted file out of range");
		for (size_t k = 0; k < m->n_extent; k++) {
			const Fds__Extent *e = m->extent[k];

			if (e->offset > m->size ||
			    e->data.len > m->size - e->offset)
				return fdkind_bad(err,
						  "memfd extent out of range");
		}
	}
	return 0;
}

/*
 * Set the times last, as everything else changes them; the time of change
 * itself (ctime) cannot be set.
 */
static int date_memfd(int fd, const Fds__Memfd *m)
{
	const struct timespec times[] = { clock_timespec(m->atime),
					  clock_timespec(m->mtime) };

	return futimens(fd, times) < 0 ? -errno : 0;
}

static int fill_memfd(int fd, const Fds__Memfd *m)
{
	if (ftruncate(fd, (off_t)m->size) < 0 ||
	    (m->owned && fchown(fd, m->uid, m->gid) < 0) ||
	    fchmod(fd, m->mode) < 0)
		return -errno;
	for (size_t i = 0; i < m->n_extent; i++) {
		const Fds__Extent *e = m->extent[i];
		size_t done = 0;

		while (done < e->data.len) {
			ssize_t n = pwrite(fd, e->data.data + done,
					   e->data.len - done,
					   (off_t)(e->offset + done));

			if (n <= 0)
				return n ? -errno : -EIO;
			done += (size_t)n;
		}
	}
	return date_memfd(fd, m);
}

/* If it is mapped already it loses its content, but no mapping. */
static int open_memfd(const struct fds_restored *r, const Fds__Memfd *m)
{
	int mapped = r->ops->object ? r->ops->object(r->ctx, m->dev, m->ino)
				    : -ENOENT;
	struct stat st;

	if (mapped < 0)
		return memfd_create(m->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fstat(mapped, &st) < 0 ||
	    (st.st_size &&
	     fallocate(mapped, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		       st.st_size) < 0))
		return -1;
	return fcntl(mapped, F_DUPFD_CLOEXEC, r->base);
}

/* Not every file system has O_TMPFILE. */
static int make_deleted(const Fds__Memfd *m)
{
	int fd = open(m->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	path = xasprintf("%s/.stint-XXXXXX", m->dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static int memfd_make_first(struct fds_restored *r, struct error *err)
{
	r->memfd = xcalloc(r->set->n_memfd + 1, sizeof(*r->memfd));
	r->given = xcalloc(r->set->n_memfd + 1, sizeof(*r->given));
	for (size_t i = 0; i < r->set->n_memfd; i++)
		r->memfd[i] = -1;
	for (size_t i = 0; i < r->set->n_memfd; i++) {
		const Fds__Memfd *m = r->set->memfd[i];
		int fd = *m->dir ? make_deleted(m) : open_memfd(r, m), e;

		if (fd < 0)
			return error_sys(err, -errno, "%s %s",
					 *m->dir ? m->dir : "memfd", m->name);
		fd = r->memfd[i] = fdkit_lift(r, fd);
		if (fd < 0)
			return error_sys(err, fd, "memfd %s", m->name);
		e = fill_memfd(fd, m);
		if (e < 0)
			return error_sys(err, e, "memfd %s", m->name);
	}
	return 0;
}

/*
 * A memfd's first description does not count as open for writing, which keeps
 * nobody from executing it; any other does (ETXTBSY).
 */
static int open_ref(struct fds_restored *r, const Fds__File *f)
{
	uint32_t i = f->memfd->memfd;

	if (!*r->set->memfd[i]->dir && !r->given[i] &&
	    (f->flags & O_ACCMODE) == O_RDWR) {
		int fd = fcntl(r->memfd[i], F_DUPFD_CLOEXEC, r->base);

		r->given[i] = fd >= 0;
		return fd < 0 ? -errno : fd;
	}
	/* O_TMPFILE, which it may have been opened with, contains this flag. */
	return fdkit_reopen(r->memfd[i], f->flags & ~(unsigned)O_DIRECTORY);
}

static int memfd_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	int fd = open_ref(r, f);

	if (fd >= 0 && lseek(fd, (off_t)f->memfd->pos, SEEK_SET) < 0) {
		int e = -errno;

		close(fd);
		fd = e;
	}
	return fd < 0 ? error_sys(err, fd, "memfd") : fd;
}

/* Last, because a seal may forbid something that making it needs. */
static int memfd_make_last(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_memfd; i++) {
		const Fds__Memfd *m = r->set->memfd[i];

		if (m->seals && fcntl(r->memfd[i], F_ADD_SEALS, m->seals) < 0)
			return error_sys(err, -errno, "memfd %s: seals",
					 m->name);
	}
	return 0;
}

static void memfd_drop(struct fds_restored *r)
{
	for (size_t i = 0; r->memfd && i < r->set->n_memfd; i++)
		io_close(&r->memfd[i]);
	free(r->memfd);
	free(r->given);
	r->memfd = NULL;
	r->given = NULL;
}

const struct fd_kind fd_kind_memfd = {
	.message = FDS__FILE__KIND_MEMFD,
	.is = memfd_is,
	.capture = memfd_capture,
	.size = memfd_size,
	.tell = memfd_tell,
	.check = memfd_check,
	.check_all = memfd_check_all,
	.make_first = memfd_make_first,
	.make = memfd_make,
	.make_last = memfd_make_last,
	.drop = memfd_drop,
};
