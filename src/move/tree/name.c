/*
 * name.c - the names in a tree, made what they are at the source
 *
 * Old and new names are compared.  A node that loses a name and has another
 * coming lies in the root meanwhile, under a name of ours, so that no order of
 * renames can stand in the way of another.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/tree/made.h"

static int compare_links(const void *a, const void *b)
{
	const struct made_link *x = a, *y = b;

	if (x->dir->ino != y->dir->ino)
		return x->dir->ino < y->dir->ino ? -1 : 1;
	return strcmp(x->name, y->name);
}

void made_clear_links(struct made_link *link, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(link[i].name);
	free(link);
}

static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..") && strlen(name) <= NAME_MAX;
}

static int bad(struct error *err)
{
	return error_set(err, -EPROTO, "odd names in a tree");
}

/* The new names, sorted; fresh. */
static int read_names(struct made_tree *t, const Tree__Change *c,
		      struct made_link **ret, struct error *err)
{
	struct made_link *link = xcalloc(c->n_name + 1, sizeof(*link));
	size_t n = 0;

	for (; n < c->n_name; n++) {
		struct made_link *l = &link[n];

		l->dir = made_find(t, c->name[n]->dir);
		l->node = made_find(t, c->name[n]->ino);
		if (!l->dir || !l->node || !S_ISDIR(l->dir->mode) ||
		    !is_name(c->name[n]->name))
			break;
		l->name = xstrdup(c->name[n]->name);
	}
	if (n < c->n_name) {
		made_clear_links(link, n);
		return bad(err);
	}
	qsort(link, n, sizeof(*link), compare_links);
	*ret = link;
	return 0;
}

/* One name for each, but one node for several: not a directory, though. */
static int check_names(struct made_tree *t, const struct made_link *link,
		       size_t n, struct error *err)
{
	for (struct made *m = t->node; m; m = m->hh.next)
		m->wanted = false;
	for (size_t i = 0; i < n; i++) {
		if ((i && !compare_links(&link[i - 1], &link[i])) ||
		    (S_ISDIR(link[i].node->mode) && link[i].node->wanted) ||
		    (link[i].node->anchor &&
		     !strcmp(link[i].node->anchor, ".")))
			return bad(err);
		link[i].node->wanted = true;
	}
	return 0;
}

static int path_of(const struct made_link *l, char ret[PATH_MAX],
		   struct error *err)
{
	struct made at = { .dir = l->dir, .name = l->name };

	return made_path(&at, ret, err);
}

static void set_place(struct made *m, struct made *dir, const char *name)
{
	free(m->name);
	m->dir = dir;
	m->name = name ? xstrdup(name) : NULL;
	if (dir)
		dir->touched = true;
}

static bool is_place(const struct made_link *l)
{
	return l->node->dir == l->dir && !strcmp(l->node->name, l->name);
}

/* ---- names that go ---- */

/* Put a node aside that gets another name later, or has one. */
static int put_aside(struct made_tree *t, const struct made_link *l,
		     struct error *err)
{
	char from[PATH_MAX], to[PATH_MAX];
	int r = path_of(l, from, err);

	if (!r && l->node->anchor)
		return error_set(err, -ENOTSUP,
				 "%s/%s, which holds a mount, was renamed",
				 t->path, from);
	if (r < 0)
		return r;
	if (!is_place(l))
		return unlinkat(t->fd, from, 0) < 0
			       ? made_error(t, "removing", from, -errno, err)
			       : 0;
	set_place(l->node, NULL, NULL);
	r = made_path(l->node, to, err);
	if (!r && renameat(t->fd, from, t->fd, to) < 0)
		r = made_error(t, "renaming", from, -errno, err);
	return r;
}

static int drop_file(const struct made_tree *t, const struct made_link *l,
		     struct error *err)
{
	char path[PATH_MAX];
	int r = path_of(l, path, err);

	if (!r && unlinkat(t->fd, path, 0) < 0)
		r = made_error(t, "removing", path, -errno, err);
	return r;
}

/*
 * Is there such a name in the sorted list, of the same node?  Then it stays.
 */
static bool stays(const struct made_link *l, const struct made_link *in,
		  size_t n)
{
	const struct made_link *found =
		n ? bsearch(l, in, n, sizeof(*in), compare_links) : NULL;

	return found && found->node == l->node;
}

static void mark_kept(const struct made_tree *t, struct made_link *link,
		      size_t n)
{
	for (size_t i = 0; i < n; i++)
		link[i].kept = stays(&link[i], t->link, t->nr_links);
}

static int drop_names(struct made_tree *t, const struct made_link *link,
		      size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < t->nr_links && !r; i++) {
		const struct made_link *l = &t->link[i];

		if (stays(l, link, n))
			continue;
		l->dir->touched = true;
		if (l->node->wanted)
			r = put_aside(t, l, err);
		else if (!S_ISDIR(l->node->mode))
			r = drop_file(t, l, err);
	}
	return r;
}

static int remove_dir(struct made_tree *t, const struct made *m,
		      struct error *err)
{
	char path[PATH_MAX];
	int r = made_path(m, path, err);

	if (!r && unlinkat(t->fd, path, AT_REMOVEDIR) < 0)
		r = made_error(t, "removing", path, -errno, err);
	return r;
}

static unsigned depth(const struct made *m)
{
	unsigned n = 0;

	for (; m->dir && n < PATH_MAX; m = m->dir)
		n++;
	return n;
}

static int compare_depth(const void *a, const void *b)
{
	const struct made *const *x = a, *const *y = b;

	return (int)depth(*y) - (int)depth(*x);
}

/* Remove nodes that have no name any more; only directories are left. */
static int drop_nodes(struct made_tree *t, struct error *err)
{
	struct made **gone =
		xcalloc(HASH_COUNT(t->node) + 1, sizeof(struct made *));
	size_t n = 0;
	int r = 0;

	for (struct made *m = t->node; m; m = m->hh.next)
		if (!m->wanted && !(m->anchor && !strcmp(m->anchor, ".")))
			gone[n++] = m;
	qsort(gone, n, sizeof(struct made *), compare_depth);
	for (size_t i = 0; i < n && !r; i++)
		if (S_ISDIR(gone[i]->mode))
			r = remove_dir(t, gone[i], err);
	for (size_t i = 0; i < n; i++)
		made_forget(t, gone[i]);
	free(gone);
	return r;
}

/* ---- names that come ---- */

static int give_name(struct made_tree *t, const struct made_link *l,
		     struct error *err)
{
	char from[PATH_MAX], to[PATH_MAX];
	bool aside = !l->node->dir;
	int r = path_of(l, to, err);

	if (!r)
		r = made_path(l->node, from, err);
	if (r < 0)
		return r;
	if (l->node->anchor)
		return strcmp(from, to + (strncmp(to, "./", 2) ? 0 : 2))
			       ? bad(err)
			       : 0;
	if (aside ? renameat(t->fd, from, t->fd, to) < 0
		  : linkat(t->fd, from, t->fd, to, 0) < 0)
		return made_error(t, "naming", to, -errno, err);
	if (aside)
		set_place(l->node, l->dir, l->name);
	l->dir->touched = true;
	return 0;
}

static int give_names(struct made_tree *t, const struct made_link *link,
		      size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		if (!link[i].kept)
			r = give_name(t, &link[i], err);
	return r;
}

/* Put aside for a name that it had all along by another link. */
static int settle_link(struct made_tree *t, const struct made_link *link,
		       size_t n, struct error *err)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		struct made *m = link[i].node;

		if (m->dir || m->anchor)
			continue;
		r = made_path(m, path, err);
		if (!r && unlinkat(t->fd, path, 0) < 0)
			r = made_error(t, "removing", path, -errno, err);
		set_place(m, link[i].dir, link[i].name);
	}
	return r;
}

int made_rename(struct made_tree *t, const Tree__Change *c, struct error *err)
{
	struct made_link *link = NULL;
	size_t n = c->n_name;
	int r = read_names(t, c, &link, err);

	if (r < 0)
		return r;
	mark_kept(t, link, n);
	r = check_names(t, link, n, err);
	if (!r)
		r = drop_names(t, link, n, err);
	if (!r)
		r = drop_nodes(t, err);
	if (!r)
		r = give_names(t, link, n, err);
	if (!r)
		r = settle_link(t, link, n, err);
	made_clear_links(t->link, t->nr_links);
	t->link = link;
	t->nr_links = n;
	return r;
}
