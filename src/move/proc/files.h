/*
 * files.h - compare the files that a process maps at source and destination
 *
 * Private mappings are made again from the file, and only pages that differ
 * from it travel, so the file must hold the same bytes.  It is the same if it
 * is the very same inode, unchanged; or if a hash agrees: of all of it up to
 * FILES_WHOLE bytes, of its ends above that.  Files in a tree that moves along
 * (tree/tree.h) are not compared, as they come later.
 *
 * While the process runs, a mapping may vanish a moment after it was read, and
 * its name may then lead to another file.  So a difference found before the
 * freeze is not refused at once: the destination reports it to the source,
 * which looks again.
 */
#ifndef MOVE_PROC_FILES_H
#define MOVE_PROC_FILES_H

#include "core/error.h"
#include "move/proc/proc.h"
#include "move/wire/state.pb-c.h"

#define FILES_WHOLE (32u << 20)

/* ---- source: h->file holds what was described so far ---- */

/* Open the root directory of that process. */
int files_root(pid_t pid, struct error *err) must_check;

/*
 * Describe each file of maps and exe once, looked up in the process's root; h
 * already names the trees.  maps contains movable mappings only.  A file that
 * has been deleted since maps was read is left out.
 */
int files_describe(pid_t pid, const struct vma_list *maps, const char *exe,
		   Move__Hello *h, struct error *err) must_check;

/*
 * Fill in f, of which path and shared are set; a file described before is not
 * read again.  -ENOENT: it has been deleted since maps was read.
 */
int files_describe_new(int root, Move__Hello *h, Move__File *f,
		       struct error *err) must_check;

/*
 * Forget the files that have changed since they were described: deleted,
 * replaced, or written to by other means than shared mappings. Returns how
 * many.
 */
size_t files_forget_changed(int root, Move__Hello *h);
/* Is it described? */
bool files_known(const Move__Hello *h, const char *path, bool shared);

/* ---- destination ---- */

/* Is it the same under root, an open directory? */
int files_check_new(int root, const Move__File *f,
		    struct error *err) must_check;
/* The same for all files of HELLO; *ret is the first one that differs. */
int files_check(int root, const Move__Hello *h, const Move__File **ret,
		struct error *err) must_check;

#endif
