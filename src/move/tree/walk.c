/*
 * walk.c - what is in a tree, as of now
 *
 * The program may change it meanwhile, to harm even: nothing is followed, and
 * what is gone by the time it is looked at is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/tree/source.h"

#define DEPTH_MOST 64

struct walk {
	struct tree *t;
	char path[PATH_MAX]; /* of the directory, in the tree; "" the root */
	size_t nr_nodes;
	unsigned depth;
};

static int refuse_node(const struct walk *w, const char *name, const char *why,
		       struct error *err)
{
	return error_set(err, -ENOTSUP, "%s/%s%s%s %s", w->t->path, w->path,
			 *w->path ? "/" : "", name, why);
}

static void set_path(struct tree_node *n, const struct walk *w,
		     const char *name)
{
	free(n->path);
	n->path = *w->path ? xasprintf("%s/%s", w->path, name) : xstrdup(name);
}

static bool differs(const struct stat *a, const struct stat *b)
{
	return a->st_ctim.tv_sec != b->st_ctim.tv_sec ||
	       a->st_ctim.tv_nsec != b->st_ctim.tv_nsec ||
	       a->st_size != b->st_size || a->st_mode != b->st_mode;
}

/*
 * Security labels are set by the host; any other extended attribute would be
 * lost.
 */
static int check_attributes(const struct walk *w, int dir, const char *name,
			    struct error *err)
{
	char path[PATH_MAX], list[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	n = llistxattr(path, list, sizeof(list));
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(list + i) + 1)
		if (strncmp(list + i, "security.", 9))
			return refuse_node(
				w, name,
				"has extended attributes, which do not move",
				err);
	return n < 0 && errno == ERANGE
		       ? refuse_node(w, name, "has many extended attributes",
				     err)
		       : 0;
}

static int check_kind(const struct walk *w, const char *name,
		      const struct stat *st, struct error *err)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFLNK:
	case S_IFIFO:
	case S_IFSOCK:
		return 0;
	}
	return refuse_node(w, name, "is a device, which does not move", err);
}

/* Note what is under that name; *ret is its node. */
static int note_node(struct walk *w, int dir, const char *name,
		     const struct stat *st, struct tree_node **ret,
		     struct error *err)
{
	struct tree *t = w->t;
	struct tree_node *n = tree_find(t, st->st_ino);
	int r = check_kind(w, name, st, err);

	if (r < 0)
		return r;
	if (!n) {
		n = xcalloc(1, sizeof(*n));
		n->ino = st->st_ino;
		HASH_ADD(hh, t->node, ino, sizeof(n->ino), n);
	}
	*ret = n;
	if (n->pass == t->pass) /* by another name */
		return 0;
	if (++w->nr_nodes > TREE_NODES)
		return error_set(
			err, -ENOTSUP,
			"%s has more than %d files, which would all have to move",
			t->path, TREE_NODES);
	n->pass = t->pass;
	if (S_ISREG(st->st_mode))
		t->bytes += (uint64_t)st->st_blocks * 512;
	if (n->told && !n->unsure && !n->changed && !differs(&n->st, st)) {
		n->st = *st;
		return 0;
	}
	if (!n->told || differs(&n->st, st))
		r = check_attributes(w, dir, name, err);
	n->st = *st;
	n->changed = true;
	n->unsure = false;
	n->anchor = false;
	set_path(n, w, name);
	return r;
}

static void note_name(struct tree *t, uint64_t dir, const char *name,
		      uint64_t ino)
{
	array_room(t->name, t->nr_names, &t->cap_names);
	t->name[t->nr_names++] = (struct tree_name){ xstrdup(name), dir, ino };
}

static int walk_dir(struct walk *w, int fd, struct tree_node *dir,
		    struct error *err);

static int walk_below(struct walk *w, int fd, const char *name,
		      struct tree_node *n, struct error *err)
{
	int sub = openat(fd, name,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	size_t len = strlen(w->path), more = strlen(name);
	struct stat st;
	int r;

	if (sub < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? 0
			       : refuse_node(w, name, "cannot be read", err);
	if (fstat(sub, &st) < 0 || st.st_ino != n->ino) {
		close(sub);
		return 0; /* the entry was replaced; the next pass sees it */
	}
	if (len + more + 2 > sizeof(w->path) || w->depth == DEPTH_MOST) {
		close(sub);
		return refuse_node(w, name, "is too deep a directory to move",
				   err);
	}
	snprintf(w->path + len, sizeof(w->path) - len, "%s%s", len ? "/" : "",
		 name);
	w->depth++;
	r = walk_dir(w, sub, n, err);
	w->depth--;
	w->path[len] = '\0';
	return r;
}

/* All directories on the way to a mount are there at the destination, too. */
static void note_mount(const struct walk *w, struct tree_node *dir)
{
	struct tree *t = w->t;

	dir->anchor = true;
	if (!dir->path)
		dir->path = xstrdup(w->path);
	for (size_t i = 0; i < t->nr_names; i++)
		if (t->name[i].ino == dir->ino &&
		    !tree_find(t, t->name[i].dir)->anchor)
			note_mount(w, tree_find(t, t->name[i].dir));
}

static int walk_entry(struct walk *w, int fd, const char *name,
		      struct tree_node *dir, struct error *err)
{
	struct tree_node *n;
	struct stat st;
	int r;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : refuse_node(w, name, "is odd", err);
	if (st.st_dev != w->t->dev) {
		note_mount(w, dir);
		return 0;
	}
	r = note_node(w, fd, name, &st, &n, err);
	if (r < 0)
		return r;
	note_name(w->t, dir->ino, name, n->ino);
	return S_ISDIR(st.st_mode) ? walk_below(w, fd, name, n, err) : 0;
}

/* Owns fd. */
static int walk_dir(struct walk *w, int fd, struct tree_node *dir,
		    struct error *err)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!d) {
		r = error_sys(err, -errno, "%s", w->t->path);
		close(fd);
		return r;
	}
	while (!r && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			r = walk_entry(w, fd, e->d_name, dir, err);
	closedir(d);
	return r;
}

static void forget_gone(struct tree *t)
{
	struct tree_node *n, *next;

	HASH_ITER (hh, t->node, n, next) {
		if (n->pass != t->pass)
			tree_forget(t, n);
	}
}

int tree_walk(struct tree *t, struct error *err)
{
	struct walk w = { .t = t };
	int fd = openat(t->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	struct tree_node *root;
	struct stat st;

	for (size_t i = 0; i < t->nr_names; i++)
		free(t->name[i].name);
	t->nr_names = 0;
	t->bytes = 0;
	t->pass++;
	if (fd < 0 || fstat(fd, &st) < 0) {
		r = error_sys(err, -errno, "%s", t->path);
		io_close(&fd);
		return r;
	}
	r = note_node(&w, fd, ".", &st, &root, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	root->anchor = true;
	r = walk_dir(&w, fd, root, err);
	if (!r)
		forget_gone(t);
	return r;
}
