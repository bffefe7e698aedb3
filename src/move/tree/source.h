/*
 * source.h - the source's side of tree.h, in its parts
 */
#ifndef MOVE_TREE_SOURCE_H
#define MOVE_TREE_SOURCE_H

#include <sys/stat.h>
#include <uthash.h>

#include "move/tree/tree.h"
#include "move/wire/tree.pb-c.h"

/* Content is compared and sent in such pieces. */
#define TREE_BLOCK ((size_t)64 << 10)

struct tree_node {
	UT_hash_handle hh;
	uint64_t ino;
	struct stat st;	 /* as last seen */
	unsigned pass;	 /* in which that was */
	bool told;	 /* the destination knows of it */
	bool changed;	 /* since it was told */
	bool unsure;	 /* it may have changed although st is the same */
	char *path;	 /* in the tree, at its last change */
	bool anchor;	 /* a directory with a mount in it */
	uint64_t *block; /* hashes of what the destination has; 0: a hole */
	size_t nr_blocks;
};

struct tree_name {
	char *name;
	uint64_t dir, ino;
};

struct tree {
	const char *path;
	int root;
	dev_t dev;
	struct tree_node *node;
	unsigned pass;
	int64_t began; /* the pass, CLOCK_REALTIME, ns */
	uint64_t bytes;
	struct tree_name *name; /* of this pass */
	size_t nr_names, cap_names;
	uint64_t names_told; /* hash of those */
};

struct tree_set {
	struct tree *tree;
	size_t nr;
	uint64_t bytes, bytes_sent;
	char *buffer;
};

struct tree_node *tree_find(const struct tree *t, uint64_t ino);
void tree_forget(struct tree *t, struct tree_node *n);

/* walk.c: read all nodes and names; forget deleted ones. */
int tree_walk(struct tree *t, struct error *err) must_check;

/* send.c: send the changes to the destination. */
int tree_send(struct tree_set *set, struct tree *t, tree_emit *emit, void *ctx,
	      struct error *err) must_check;

#endif
