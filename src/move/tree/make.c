/*
 * make.c - making a tree again, at the destination; see tree.h
 *
 * tmpfs counts its inodes up, each file system for itself.  Nodes come in the
 * order of their numbers, so each can have the one that it had: what lies
 * between is used up by files that vanish at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/tree/made.h"

#define TREES_MOST 8

struct tree_made {
	struct made_tree tree[TREES_MOST];
	size_t nr;
	bool failed; /* what is noted and what is there may differ */
};

struct tree_made *tree_made_create(void)
{
	return xcalloc(1, sizeof(struct tree_made));
}

void tree_made_destroy(struct tree_made *made)
{
	struct made *m, *next;

	for (size_t i = 0; made && i < made->nr; i++) {
		struct made_tree *t = &made->tree[i];

		made_clear_links(t->link, t->nr_links);
		HASH_ITER (hh, t->node, m, next)
			made_forget(t, m);
		free(t->path);
	}
	free(made);
}

/* ---- nodes ---- */

static int open_tree_dir(int fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve =
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int got = (int)syscall(SYS_openat2, fd, path, &how, sizeof(how));

	return got < 0 ? -errno : got;
}

static int adopt(struct made_tree *t, const char *path, struct error *err)
{
	fd_auto fd = open_tree_dir(t->fd, path);

	return fd < 0 ? made_error(t, "finding", path, fd, err) : 0;
}

static int make_inode(const struct made_tree *t, const Tree__Node *n,
		      const char *path)
{
	int fd;

	switch (n->mode & S_IFMT) {
	case S_IFREG:
		fd = openat(t->fd, path,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
				    O_CLOEXEC,
			    0600);
		if (fd < 0)
			return -errno;
		close(fd);
		return 0;
	case S_IFDIR:
		return mkdirat(t->fd, path, 0700) < 0 ? -errno : 0;
	case S_IFLNK:
		return symlinkat(n->target, t->fd, path) < 0 ? -errno : 0;
	case S_IFIFO:
	case S_IFSOCK:
		return mknodat(t->fd, path, (n->mode & S_IFMT) | 0600, 0) < 0
			       ? -errno
			       : 0;
	}
	return -EPROTO;
}

/* Use up inode numbers. */
static int burn(const struct made_tree *t, uint64_t n, struct error *err)
{
	for (; n > 0; n--) {
		int fd = openat(t->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
				0600);

		if (fd < 0)
			return made_error(t, "counting inodes of", "", -errno,
					  err);
		close(fd);
	}
	return 0;
}

/*
 * Does the new node have the number that it had at the source? 1: its number
 * was too low, it is removed again, and the next one will.
 */
static int check_number(const struct made_tree *t, const Tree__Node *n,
			const char *path, struct error *err)
{
	struct stat st;
	int r;

	if (!t->numbered || n->ino > TREE_INO_MOST)
		return 0;
	if (fstatat(t->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return made_error(t, "looking at", path, -errno, err);
	if (st.st_ino == n->ino)
		return 0;
	if (st.st_ino > n->ino)
		return error_set(
			err, -ENOTSUP,
			"%s: inode number %llu cannot be had at the destination, whose next is %llu",
			t->path, (unsigned long long)n->ino,
			(unsigned long long)st.st_ino);
	if (unlinkat(t->fd, path, S_ISDIR(n->mode) ? AT_REMOVEDIR : 0) < 0)
		return made_error(t, "removing", path, -errno, err);
	r = burn(t, n->ino - st.st_ino - 1, err);
	return r < 0 ? r : 1;
}

/* At most two tries, as nothing else creates files here. */
static int make_numbered(const struct made_tree *t, const Tree__Node *n,
			 const char *path, struct error *err)
{
	int r = 1;

	for (int i = 0; i < 2 && r == 1; i++) {
		r = make_inode(t, n, path);
		if (r < 0)
			return made_error(t, "making", path, r, err);
		r = check_number(t, n, path, err);
	}
	return r <= 0 ? r
		      : error_set(err, -EIO,
				  "%s: inode numbers do not count up", t->path);
}

static int make_node(struct made_tree *t, struct made *m, const Tree__Node *n,
		     struct error *err)
{
	char path[PATH_MAX];
	int r;

	if (*n->anchor) {
		m->anchor = xstrdup(n->anchor);
		return S_ISDIR(n->mode) ? adopt(t, n->anchor, err)
					: error_set(err, -EPROTO, "odd anchor");
	}
	r = made_path(m, path, err);
	return r < 0 ? r : make_numbered(t, n, path, err);
}

static int open_file(const struct made_tree *t, struct made *m,
		     struct error *err)
{
	char path[PATH_MAX];
	int r = made_path(m, path, err);

	if (r < 0)
		return r;
	if (!S_ISREG(m->mode))
		return error_set(err, -EPROTO,
				 "content for a node that is not a file");
	/* whatever a change made of it, this never waits */
	r = openat(t->fd, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return r < 0 ? made_error(t, "opening", path, -errno, err) : r;
}

static int set_size(const struct made_tree *t, struct made *m, uint64_t size,
		    struct error *err)
{
	fd_auto fd = open_file(t, m, err);

	if (fd < 0)
		return fd;
	return size > INT64_MAX || ftruncate(fd, (off_t)size) < 0
		       ? made_error(t, "sizing a file of", "", -errno, err)
		       : 0;
}

static int apply_node(struct made_tree *t, const Tree__Node *n,
		      struct error *err)
{
	struct made *m = made_find(t, n->ino);
	int r = 0;

	if (m && (m->mode & S_IFMT) != (n->mode & S_IFMT))
		return error_set(err, -EPROTO, "a node of two kinds");
	if (!m) {
		m = xcalloc(1, sizeof(*m));
		m->ino = n->ino;
		HASH_ADD(hh, t->node, ino, sizeof(m->ino), m);
		r = make_node(t, m, n, err);
	}
	m->mode = n->mode;
	m->gid = n->gid;
	m->atime = n->atime;
	m->mtime = n->mtime;
	m->touched = true;
	if (!r && S_ISREG(n->mode))
		r = set_size(t, m, n->size, err);
	return r;
}

/* ---- content ---- */

static int write_at(int fd, const uint8_t *p, size_t n, off_t at)
{
	while (n) {
		ssize_t w = pwrite(fd, p, n, at);

		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
		at += w;
	}
	return 0;
}

static int punch(int fd, uint64_t at, uint64_t n)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)at, (off_t)n) < 0
		       ? -errno
		       : 0;
}

/* Pieces of one file come one after the other: it is opened once. */
static int apply_data(struct made_tree *t, const Tree__Change *c,
		      struct error *err)
{
	struct made *m = NULL;
	fd_auto fd = -1;
	int r = 0;

	for (size_t i = 0; i < c->n_data && !r; i++) {
		const Tree__Data *d = c->data[i];

		if (!m || m->ino != d->ino) {
			io_close(&fd);
			m = made_find(t, d->ino);
			fd = m ? open_file(t, m, err)
			       : error_set(err, -EPROTO,
					   "content for an unknown node");
			if (fd < 0)
				return fd;
		}
		if (d->offset > INT64_MAX - d->data.len ||
		    d->hole > INT64_MAX - d->offset)
			r = -EFBIG;
		else if (d->hole)
			r = punch(fd, d->offset, d->hole);
		else
			r = write_at(fd, d->data.data, d->data.len,
				     (off_t)d->offset);
	}
	return r < 0 ? made_error(t, "writing a file of", "", r, err) : 0;
}

/* ---- attributes ---- */

static int finish_node(const struct made_tree *t, struct made *m,
		       struct error *err)
{
	struct timespec times[2] = { clock_timespec(m->atime),
				     clock_timespec(m->mtime) };
	char path[PATH_MAX];
	struct stat st;
	int r = made_path(m, path, err);

	m->touched = false;
	if (r < 0)
		return r;
	if (fstatat(t->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (st.st_gid != m->gid && fchownat(t->fd, path, (uid_t)-1, m->gid,
					     AT_SYMLINK_NOFOLLOW) < 0) ||
	    (!S_ISLNK(m->mode) &&
	     fchmodat(t->fd, path, m->mode & 07777, 0) < 0) ||
	    utimensat(t->fd, path, times, AT_SYMLINK_NOFOLLOW) < 0)
		return made_error(t, "attributes of", path, -errno, err);
	return 0;
}

static int finish(struct made_tree *t, struct error *err)
{
	int r = 0;

	for (struct made *m = t->node; m && !r; m = m->hh.next)
		/* what lay in the root for a while has changed its times */
		if (m->touched || (m->anchor && !strcmp(m->anchor, ".")))
			r = finish_node(t, m, err);
	return r;
}

/* ---- changes ---- */

static int apply(struct made_tree *t, const Tree__Change *c, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < c->n_node && !r; i++)
		r = apply_node(t, c->node[i], err);
	if (!r)
		r = apply_data(t, c, err);
	if (!r && c->has_names)
		r = made_rename(t, c, err);
	if (!r && c->end)
		r = finish(t, err);
	return r;
}

static struct made_tree *tree_of(struct tree_made *made, const char *path)
{
	size_t i;

	for (i = 0; i < made->nr; i++)
		if (!strcmp(made->tree[i].path, path))
			return &made->tree[i];
	if (i == TREES_MOST)
		return NULL;
	made->tree[i] = (struct made_tree){ .path = xstrdup(path), .fd = -1 };
	made->nr++;
	return &made->tree[i];
}

int tree_made_apply(struct tree_made *made, const char *path, const void *p,
		    size_t n, struct error *err)
{
	struct made_tree *t = tree_of(made, path);
	Tree__Change *c;
	struct statfs fs;
	int r;

	if (!t || made->failed)
		return error_set(err, -EPROTO, "%s: no more changes", path);
	/* for the while of a change only: the table is shared with L */
	t->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->fd < 0 || fstatfs(t->fd, &fs) < 0) {
		r = error_sys(err, -errno, "%s at the destination", path);
		io_close(&t->fd);
		return r;
	}
	t->numbered = fs.f_type == TMPFS_MAGIC;
	c = tree__change__unpack(NULL, n, p);
	r = c ? apply(t, c, err)
	      : error_set(err, -EPROTO, "a change of %s cannot be parsed",
			  path);
	tree__change__free_unpacked(c, NULL);
	io_close(&t->fd);
	made->failed = r < 0;
	return r;
}
