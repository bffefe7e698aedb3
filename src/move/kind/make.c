/*
 * make.c - making files and memfds again
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kinds.h"
#include "move/kind/make.h"
#include "move/sock/make.h"

/* Its threads come after its descriptors, and what these are even later. */
static bool is_late(const Fds__File *f)
{
	int n = 0;

	return f->kind_case == FDS__FILE__KIND_PATH && f->path->own &&
	       sscanf(f->path->path, "/proc/%*d/%n", &n) == 0 && n &&
	       (!strncmp(f->path->path + n, "task/", 5) ||
		!strncmp(f->path->path + n, "fdinfo/", 7));
}

/* fd, or an error, and it is closed. */
static int set_pos(int fd, const Fds__File *f, struct error *err)
{
	int r;

	if (!f->path->pos || (f->flags & O_PATH) ||
	    lseek(fd, (off_t)f->path->pos, SEEK_SET) >= 0)
		return fd;
	r = -errno;
	close(fd);
	return error_sys(err, r, "%s: cannot seek", f->path->path);
}

static int open_path(const Fds__File *f, struct error *err)
{
	fd_auto found = -1;
	fd_auto root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd, r;

	if (root < 0)
		return error_sys(err, -errno, "/");
	r = fdpath_find(root, f->path, &found, err);
	if (r < 0)
		return r;
	fd = fdrst_reopen(found, f->flags);
	return fd < 0 ? error_sys(err, fd, "%s", f->path->path)
		      : set_pos(fd, f, err);
}

/* What is late has something else in its place until fdmake_late(). */
static int make_path(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	int fd = fdearly_take(r->ops->early, (uint32_t)r->first[i], f);

	if (fd >= 0)
		return set_pos(fd, f, err);
	if (!is_late(f))
		return open_path(f, err);
	r->nr_late++;
	fd = open("/", O_PATH | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "/") : fd;
}

int fdmake_late(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (size_t i = 0; i < r->set->n_number && e >= 0; i++) {
		const Fds__Number *n = r->set->number[i];
		const Fds__File *f = r->set->file[n->file];
		int first = r->at[n->file];
		fd_auto fd = -1;

		if (!is_late(f))
			continue;
		if (first == (int)n->number) /* the others are copies of it */
			e = fd = open_path(f, err);
		if (e >= 0 && dup3(fd >= 0 ? fd : first, (int)n->number,
				   n->cloexec ? O_CLOEXEC : 0) < 0)
			e = error_sys(err, -errno, "fd %u", n->number);
	}
	return e < 0 ? e : 0;
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
	/* O_TMPFILE, under which it may have been opened, contains it. */
	return fdrst_reopen(r->memfd[i], f->flags & ~(unsigned)O_DIRECTORY);
}

static int make_memfd_ref(struct fds_restored *r, const Fds__File *f,
			  struct error *err)
{
	int fd = open_ref(r, f);

	if (fd >= 0 && lseek(fd, (off_t)f->memfd->pos, SEEK_SET) < 0) {
		int e = -errno;

		close(fd);
		fd = e;
	}
	return fd < 0 ? error_sys(err, fd, "memfd") : fd;
}

int fdmake_file(struct fds_restored *r, size_t i, int *ret, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	int fd, e;

	switch (f->kind_case) {
	case FDS__FILE__KIND_PATH:
		fd = make_path(r, i, err);
		break;
	case FDS__FILE__KIND_PIPE:
		e = fdmkpipe_end(r, i, &fd, err);
		fd = e < 0 ? e : fd;
		break;
	case FDS__FILE__KIND_MEMFD:
		fd = make_memfd_ref(r, f, err);
		break;
	case FDS__FILE__KIND_EXTERNAL:
		e = fdmkext_end(r, i, &fd, err);
		fd = e < 0 ? e : fd;
		break;
	case FDS__FILE__KIND_SOCKET:
		e = sockmake_socket(r, i, &fd, err);
		fd = e < 0 ? e : fd;
		break;
	default:
		fd = fdkinds_find(f->kind_case)->make(r, i, err);
	}
	if (fd < 0)
		return fd;
	fd = fdrst_lift(r, fd);
	if (fd < 0)
		return error_sys(err, fd, "cannot place");
	*ret = fd;
	return 0;
}

/* What open() and friends did not set.  O_ASYNC comes with the owner. */
int fdmake_flags(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const Fds__File *f = r->set->file[i];
		const struct fd_kind *k = fdkinds_find(f->kind_case);
		unsigned settable = O_APPEND | O_NONBLOCK | O_NOATIME;

		if (f->kind_case == FDS__FILE__KIND_PATH || (k && k->opened))
			continue;
		if (f->kind_case == FDS__FILE__KIND_PIPE)
			settable |= O_DIRECT;
		if (fcntl(r->at[i], F_SETFL, (int)(f->flags & settable)) < 0)
			return error_sys(err, -errno, "F_SETFL");
	}
	return 0;
}

/* ---- memfds ---- */

/* Last, as all else changes these; but the time of that cannot be set. */
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

/* One that is mapped already loses what it holds, but no mapping. */
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

int fdmake_memfds(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_memfd; i++) {
		const Fds__Memfd *m = r->set->memfd[i];
		int fd = *m->dir ? make_deleted(m) : open_memfd(r, m), e;

		if (fd < 0)
			return error_sys(err, -errno, "%s %s",
					 *m->dir ? m->dir : "memfd", m->name);
		fd = r->memfd[i] = fdrst_lift(r, fd);
		if (fd < 0)
			return error_sys(err, fd, "memfd %s", m->name);
		e = fill_memfd(fd, m);
		if (e < 0)
			return error_sys(err, e, "memfd %s", m->name);
	}
	return 0;
}

/* Last, as a seal may forbid what making it takes. */
int fdmake_seal(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_memfd; i++) {
		const Fds__Memfd *m = r->set->memfd[i];

		if (m->seals && fcntl(r->memfd[i], F_ADD_SEALS, m->seals) < 0)
			return error_sys(err, -errno, "memfd %s: seals",
					 m->name);
	}
	return 0;
}
