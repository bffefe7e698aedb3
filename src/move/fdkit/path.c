/*
 * path.c - is a file at the destination the file that was open here?
 *
 * Two hosts that share a file system show the same inode number and birth
 * time; that is asked of what will be written to.  What is only read may as
 * well be a copy, such as a library or an input file installed on both, known
 * by its size and time of change.
 */
#include "move/fdkit/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/wire/append.h"

static int stat_fd(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME,
		     ret) < 0
		       ? -errno
		       : 0;
}

static int64_t nsec(const struct statx_timestamp *t)
{
	return t->tv_sec * NSEC_PER_SEC + t->tv_nsec;
}

/* Links of d_path() are resolved already, so any symlink is a change. */
static int open_below(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static bool is_synthetic(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == CGROUP_SUPER_MAGIC ||
	       fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* mem(4), null(4), zero, full, random(4), urandom: all stateless. */
static bool is_movable_device(uint64_t rdev)
{
	return major(rdev) == 1 &&
	       (minor(rdev) == 3 || minor(rdev) == 5 || minor(rdev) == 7 ||
		minor(rdev) == 8 || minor(rdev) == 9);
}

static int check_type(mode_t mode, uint64_t rdev, const char *what,
		      const char *path, struct error *err)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFIFO:
		return 0;
	case S_IFCHR:
		if (is_movable_device(rdev))
			return 0;
		return error_set(err, -ENOTSUP, "%s: device %s", what, path);
	case S_IFBLK:
		return error_set(err, -ENOTSUP, "%s: device %s", what, path);
	default:
		return error_set(
			err, -ENOTSUP,
			"%s: %s is not a file, directory, pipe or device", what,
			path);
	}
}

/* Does path still lead to what fd has open? */
static int check_reachable(int root, const char *path, const struct statx *st,
			   const char *what, struct error *err)
{
	struct statx there;
	fd_auto fd = -1;
	int r;

	if (!st->stx_nlink)
		return error_set(err, -ENOTSUP, "%s: deleted file %s", what,
				 path);
	fd = open_below(root, path);
	if (fd < 0)
		return error_set(err, -ENOTSUP, "%s: %s cannot be reached: %s",
				 what, path, strerror(-fd));
	r = stat_fd(fd, &there);
	if (r < 0)
		return error_sys(err, r, "%s: %s", what, path);
	if (there.stx_ino != st->stx_ino ||
	    there.stx_dev_major != st->stx_dev_major ||
	    there.stx_dev_minor != st->stx_dev_minor)
		return error_set(err, -ENOTSUP,
				 "%s: %s was replaced by another file", what,
				 path);
	return 0;
}

int fdpath_capture(int root, int fd, const char *path, bool writable,
		   const char *what, Fds__Path **ret, struct error *err)
{
	struct statx st;
	uint64_t rdev;
	Fds__Path *p;
	int r = stat_fd(fd, &st);

	if (r < 0)
		return error_sys(err, r, "%s: %s", what, path);
	rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor);
	r = check_type(st.stx_mode, rdev, what, path, err);
	if (!r)
		r = check_reachable(root, path, &st, what, err);
	if (r < 0)
		return r;
	p = append_new(&fds__path__descriptor);
	p->path = xstrdup(path);
	p->mode = st.stx_mode;
	p->ino = st.stx_ino;
	p->size = st.stx_size;
	p->mtime = nsec(&st.stx_mtime);
	p->btime = st.stx_mask & STATX_BTIME ? nsec(&st.stx_btime) : 0;
	p->rdev = rdev;
	p->writable = writable;
	p->synthetic = is_synthetic(fd);
	*ret = p;
	return 0;
}

Fds__Path *fdpath_clone(const Fds__Path *p)
{
	Fds__Path *c = xmalloc(sizeof(*c));

	*c = *p;
	c->path = xstrdup(p->path);
	return c;
}

static bool same_inode(const Fds__Path *p, const struct statx *st)
{
	int64_t btime = st->stx_mask & STATX_BTIME ? nsec(&st->stx_btime) : 0;

	return st->stx_ino == p->ino && btime == p->btime;
}

static int compare_path(const Fds__Path *p, const struct statx *st, int fd,
			struct error *err)
{
	uint64_t rdev = makedev(st->stx_rdev_major, st->stx_rdev_minor);

	if ((p->mode & S_IFMT) != (st->stx_mode & S_IFMT) || p->rdev != rdev)
		return error_set(err, -ENOTSUP,
				 "%s is of another kind at the destination",
				 p->path);
	if (S_ISCHR(p->mode))
		return is_movable_device(rdev)
			       ? 0
			       : error_set(err, -ENOTSUP, "device %s", p->path);
	if (p->synthetic)
		return is_synthetic(fd)
			       ? 0
			       : error_set(
					 err, -ENOTSUP,
					 "%s is on another kind of file system "
					 "at the destination",
					 p->path);
	/* the file has just been made again by the move */
	if (same_inode(p, st) ||
	    (p->carried && (!S_ISREG(p->mode) || st->stx_size == p->size)))
		return 0;
	if (S_ISDIR(p->mode) && !p->pos)
		return 0;
	if (S_ISREG(p->mode) && !p->writable && st->stx_size == p->size &&
	    nsec(&st->stx_mtime) == p->mtime)
		return 0;
	return error_set(err, -ENOTSUP,
			 "%s is another file at the destination%s", p->path,
			 p->writable ? "; what is open for writing must be on "
				       "a file system that both hosts share"
				     : "");
}

int fdpath_find(int root, const Fds__Path *p, int *ret, struct error *err)
{
	fd_auto fd = -1;
	struct statx st;
	int r;

	r = check_type(p->mode, p->rdev, "file", p->path, err);
	if (r < 0)
		return r;
	fd = open_below(root, p->path);
	if (fd < 0)
		return error_set(err, -ENOTSUP,
				 "%s cannot be opened at the destination: %s",
				 p->path, strerror(-fd));
	r = stat_fd(fd, &st);
	if (r < 0)
		return error_sys(err, r, "%s", p->path);
	r = compare_path(p, &st, fd, err);
	if (r < 0)
		return r;
	*ret = fd;
	fd = -1;
	return 0;
}

bool fdpath_is(int fd, const Fds__Path *p)
{
	struct statx st;
	struct error err;

	return stat_fd(fd, &st) == 0 && compare_path(p, &st, fd, &err) == 0;
}
