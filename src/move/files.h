/*
 * files.h - are the files that a process maps the same at both ends?
 *
 * Private mappings are made again from the file, and only pages that differ
 * from it travel, so the file must hold the same bytes.  It is the same if it
 * is the very same inode, unchanged; or if a hash agrees: of all of it up to
 * FILES_WHOLE bytes, of its ends above that.  Files in a tree that moves along
 * (tree.h) are not compared, as they come later.
 */
#ifndef MOVE_FILES_H
#define MOVE_FILES_H

#include "core/error.h"
#include "move/proc.h"
#include "move/state.pb-c.h"

#define FILES_WHOLE (32u << 20)

/*
 * Describe each file of maps and exe once, as the process's root shows it; h
 * names the trees already.  Only what may be moved is in maps, but a file may
 * have gone since they were read; it is left out.
 */
int files_describe(pid_t pid, const struct vma_list *maps, const char *exe,
		   Move__Hello *h, struct error *err) must_check;

/*
 * A file that is mapped only now: unless h describes it already, describe it
 * there and in f, of which path and shared are set.  -ENOENT: it has gone
 * since maps was read.
 */
int files_describe_new(pid_t pid, Move__Hello *h, Move__File *f,
		       struct error *err) must_check;
/* Is it the same under root, "/" if NULL?  Yes, if it is not described. */
int files_check_new(const char *root, const Move__File *f,
		    struct error *err) must_check;

/* The same files under root?  An open directory. */
int files_check(int root, const Move__Hello *h, struct error *err) must_check;

#endif
