/*
 * tree.h - private directories, which move with the process
 *
 * A capsule has its own /tmp and /dev/shm, which nothing outside sees. The
 * source's engine reads such a tree through /proc/PID/root, in passes: each
 * sends the destination what has changed since the previous one.  The first
 * passes run during pre-copy, the last one while the process is frozen.  At the
 * destination F creates the same tree in the new capsule; if the move fails, it
 * disappears with the capsule.
 *
 * Moved are: directories, files (holes stay holes), symbolic links, named
 * pipes, sockets' names; names and hard links, permissions, group, times of
 * access and change, and on a tmpfs the inode numbers, by which SQLite
 * recognizes its file.  Mounts in a tree are not moved: the creator of the
 * destination's capsule makes them there.  Refused are devices, extended
 * attributes, more than TREE_BYTES or TREE_NODES.
 *
 * A file is read again when its size or time of change differs, when that time
 * is so close to the last pass that a change may have been missed, and when the
 * process maps it shared for writing, as such writes do not set the time.
 * Blocks whose hash has changed are sent.
 *
 * See doc/design/22-trees.md.
 */
#ifndef MOVE_TREE_TREE_H
#define MOVE_TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/proc/proc.h"

#define TREE_BYTES	((uint64_t)1 << 30) /* in all trees together */
#define TREE_NODES	16384		    /* in one tree */
/* Most bytes of files that may be left to read while the process is frozen. */
#define TREE_LAST_BYTES ((uint64_t)64 << 20)
/* Inode numbers above this are not preserved. */
#define TREE_INO_MOST	((uint64_t)4 << 20)

/* ---- source ---- */

struct tree_set;

/*
 * paths: NULL-ended, absolute in the process's root, and the caller's; NULL or
 * empty: no trees.  A path that does not exist counts as no tree.
 */
int tree_open(pid_t pid, const char *const *paths, struct tree_set **ret,
	      struct error *err) must_check;
void tree_close(struct tree_set *set); /* NULL is allowed */

/*
 * Examine all trees without sending: their size in bytes, or -ENOTSUP with the
 * reason why they cannot move.
 */
int tree_measure(struct tree_set *set, uint64_t *ret_bytes,
		 struct error *err) must_check;

/* Is this the device of a tree, so that files on it move with it? */
bool tree_holds(const struct tree_set *set, dev_t dev);
/* As of the last pass. */
bool tree_has(const struct tree_set *set, dev_t dev, uint64_t ino);
size_t tree_count(const struct tree_set *set);
const char *tree_path(const struct tree_set *set, size_t i, dev_t *ret_dev);

/* A tree's path, and a packed Tree__Change for tree_made_apply(). */
typedef int tree_emit(void *ctx, const char *path, const void *p, size_t n,
		      struct error *err);

/*
 * One pass over all trees.  maps: those of the process now.  last: the process
 * is frozen; -EAGAIN when more than TREE_LAST_BYTES would have to be read.
 */
int tree_pass(struct tree_set *set, const struct vma_list *maps, bool last,
	      tree_emit *emit, void *ctx, struct error *err) must_check;
/* Bytes of content sent, in all passes. */
uint64_t tree_bytes_sent(const struct tree_set *set);

/* ---- destination ---- */

struct tree_made;

struct tree_made *tree_made_create(void);
void tree_made_destroy(struct tree_made *made); /* NULL is allowed */

/*
 * Apply one change to the tree at path, an existing directory.  The bytes are
 * not trusted: nothing outside of the file system mounted there is touched.
 * After an error no more changes are accepted.
 */
int tree_made_apply(struct tree_made *made, const char *path, const void *p,
		    size_t n, struct error *err) must_check;

#endif
