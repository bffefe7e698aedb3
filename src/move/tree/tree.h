/*
 * tree.h - directories that are the process's alone, and so move with it
 *
 * A capsule has its own /tmp and /dev/shm, of which nobody else sees anything.
 * The source's engine looks at such a tree from outside, through
 * /proc/PID/root, in passes: each tells the destination what has changed since
 * the one before.  The first come with pre-copy, the last when the process
 * stands still.  At the destination F makes the same in the new capsule, which
 * takes it away with itself should the move fail.
 *
 * What travels: directories, files (holes stay holes), symbolic links, named
 * pipes, sockets' names; names and hard links, permissions, group, times of
 * access and change, and on a tmpfs the inode numbers, as SQLite knows its file
 * by that.  Mounts in a tree do not: whoever makes the destination's capsule
 * puts them there.  Refused are devices, extended attributes, more than
 * TREE_BYTES or TREE_NODES.
 *
 * A file is looked at again when size or time of change differ, when that time
 * is so close to the last pass that a change may have been missed, and when the
 * process maps it shared for writing, as the kernel notes no time then.  Of it
 * the blocks travel whose hash is another one.
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
/* Files that have to be read while the process stands still, in all. */
#define TREE_LAST_BYTES ((uint64_t)64 << 20)
/* Higher inode numbers than this are not made again. */
#define TREE_INO_MOST	((uint64_t)4 << 20)

/* ---- source ---- */

struct tree_set;

/*
 * paths: NULL-ended, absolute in the process's root, and the caller's; NULL or
 * empty: no trees.  One that is not there is none.
 */
int tree_open(pid_t pid, const char *const *paths, struct tree_set **ret,
	      struct error *err) must_check;
void tree_close(struct tree_set *set); /* NULL is allowed */

/*
 * Look at all of it, and tell nothing: bytes of memory that it takes, or why it
 * cannot move (-ENOTSUP).
 */
int tree_measure(struct tree_set *set, uint64_t *ret_bytes,
		 struct error *err) must_check;

/* Is this the device of a tree, and what lies on it so moved with it? */
bool tree_holds(const struct tree_set *set, dev_t dev);
/* As of the last pass. */
bool tree_has(const struct tree_set *set, dev_t dev, uint64_t ino);
size_t tree_count(const struct tree_set *set);
const char *tree_path(const struct tree_set *set, size_t i, dev_t *ret_dev);

/* A tree's path, and a packed Tree__Change for tree_made_apply(). */
typedef int tree_emit(void *ctx, const char *path, const void *p, size_t n,
		      struct error *err);

/*
 * One pass over all trees.  maps: those of the process now.  last: it stands
 * still; -EAGAIN when more than TREE_LAST_BYTES would have to be read.
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
 * Do what one change says to the tree at path, a directory that is there.  The
 * bytes are not trusted: nothing outside of the file system mounted there is
 * reached.  After an error no more changes are taken.
 */
int tree_made_apply(struct tree_made *made, const char *path, const void *p,
		    size_t n, struct error *err) must_check;

#endif
