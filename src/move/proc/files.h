/*
 * files.h - are the files that a process maps the same at both ends?
 *
 * Private mappings are made again from the file, and only pages that differ
 * from it travel, so the file must hold the same bytes.  It is the same if it
 * is the very same inode, unchanged; or if a hash agrees: of all of it up to
 * FILES_WHOLE bytes, of its ends above that.  Files in a tree that moves along
 * (tree/tree.h) are not compared, as they come later.
 *
 * What the process has mapped when it is looked at may be gone a moment later,
 * and the name lead to another file.  So nothing that is found out before the
 * freeze is a refusal at once: what is missing or differs at the destination
 * is told to the source, which looks again.
 */
#ifndef MOVE_PROC_FILES_H
#define MOVE_PROC_FILES_H

#include "core/error.h"
#include "move/proc/proc.h"
#include "move/wire/state.pb-c.h"

#define FILES_WHOLE (32u << 20)

/* ---- source: h->file holds what was described so far ---- */

/* An open directory: the root that process sees. */
int files_root(pid_t pid, struct error *err) must_check;

/*
 * Describe each file of maps and exe once, as the process's root shows it; h
 * names the trees already.  Only what may be moved is in maps, but a file may
 * have gone since they were read; it is left out.
 */
int files_describe(pid_t pid, const struct vma_list *maps, const char *exe,
		   Move__Hello *h, struct error *err) must_check;

/*
 * Fill in f, of which path and shared are set; what is known already is not
 * read again.  -ENOENT: it has gone since maps was read.
 */
int files_describe_new(int root, Move__Hello *h, Move__File *f,
		       struct error *err) must_check;

/*
 * Forget what is no longer as it was described: it has gone, another file is
 * in its place, or it was written to by other means than shared mappings.
 * Returns how many.
 */
size_t files_forget_changed(int root, Move__Hello *h);
/* Is it described? */
bool files_known(const Move__Hello *h, const char *path, bool shared);

/* ---- destination ---- */

/* Is it the same under root, an open directory? */
int files_check_new(int root, const Move__File *f,
		    struct error *err) must_check;
/* Are all of HELLO's?  If not, *ret is the first that is not. */
int files_check(int root, const Move__Hello *h, const Move__File **ret,
		struct error *err) must_check;

#endif
