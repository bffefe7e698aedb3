/* made.c - the nodes of a tree at the destination; see made.h */
#include "move/tree/made.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void free_node(struct made *m)
{
	free(m->anchor);
	free(m->name);
	free(m);
}

void made_forget(struct made_tree *t, struct made *m)
{
	HASH_DEL(t->node, m);
	free_node(m);
}

struct made *made_find(const struct made_tree *t, uint64_t ino)
{
	struct made *m;

	HASH_FIND(hh, t->node, &ino, sizeof(ino), m);
	return m;
}

int made_error(const struct made_tree *t, const char *what, const char *path,
	       int code, struct error *err)
{
	return error_sys(err, code, "%s %s/%s at the destination", what,
			 t->path, path);
}

/* What has no name yet, or none for the moment, lies in the root by this. */
static int staging_path(const struct made *m, char *ret, size_t n)
{
	return snprintf(ret, n, ".stint-move-%llu", (unsigned long long)m->ino);
}

static int append_path(const struct made *m, char *ret, size_t n, unsigned deep)
{
	int at = 0, more;

	if (m->anchor)
		at = snprintf(ret, n, "%s", m->anchor);
	else if (!m->dir)
		at = staging_path(m, ret, n);
	else if (deep > PATH_MAX / 2)
		return -1;
	else
		at = append_path(m->dir, ret, n, deep + 1);
	if (m->anchor || !m->dir || at < 0 || (size_t)at >= n)
		return at;
	more = snprintf(ret + at, n - (size_t)at, "/%s", m->name);
	return at + more;
}

int made_path(const struct made *m, char ret[PATH_MAX], struct error *err)
{
	int n = append_path(m, ret, PATH_MAX, 0);

	return n < 0 || n >= PATH_MAX
		       ? error_set(err, -ENAMETOOLONG,
				   "a path in a tree that moves is too long")
		       : 0;
}
