/*
 * made.h - the destination's side of tree.h, in its parts
 *
 * Nothing else writes to the tree meanwhile, so these records match the file
 * system.  Paths are relative to the tree's root, and all their components are
 * directories made here.
 */
#ifndef MOVE_TREE_MADE_H
#define MOVE_TREE_MADE_H

#include <limits.h>
#include <uthash.h>

#include "move/tree/tree.h"
#include "move/wire/tree.pb-c.h"

struct made {
	UT_hash_handle hh;
	uint64_t ino; /* at the source */
	uint32_t mode, gid;
	int64_t atime, mtime;
	char *anchor;	  /* existed before, at this path, and stays */
	struct made *dir; /* NULL: no name yet, see made_path() */
	char *name;
	bool touched; /* attributes are to be set at the end */
	bool wanted;  /* it has one of the names just told */
};

struct made_link {
	struct made *dir, *node;
	char *name;
	bool kept; /* it was there before */
};

struct made_tree {
	char *path;
	int fd; /* while a change is being made */
	struct made *node;
	struct made_link *link; /* sorted by directory and name */
	size_t nr_links;
	bool numbered; /* inodes get numbers in turn */
};

/* made.c: the node with that inode number at the source, or NULL. */
struct made *made_find(const struct made_tree *t, uint64_t ino);
/* Its present path, or -ENAMETOOLONG. */
int made_path(const struct made *m, char ret[PATH_MAX],
	      struct error *err) must_check;
int made_error(const struct made_tree *t, const char *what, const char *path,
	       int code, struct error *err);

/* name.c: make the tree have exactly these names. */
int made_rename(struct made_tree *t, const Tree__Change *c,
		struct error *err) must_check;
void made_clear_links(struct made_link *link, size_t n);
/* Forget m, which has no names any more. */
void made_forget(struct made_tree *t, struct made *m);

#endif
