/*
 * layout.h - the mappings of the process, as the source tells them
 */
#ifndef MOVE_PROC_LAYOUT_H
#define MOVE_PROC_LAYOUT_H

#include "move/proc/proc.h"
#include "move/wire/state.pb-c.h"

/* Drop what is not moved: the kernel's own mappings and the landing area. */
void layout_keep_moving(struct vma_list *l, uint64_t area, size_t area_size);

/*
 * Append to *fixed the mappings whose writes need no tracking here: those that
 * the kernel made, those that the process can never write to (as far as their
 * advice is known), and shared memory, which is tracked by other means.
 */
void layout_find_fixed(const struct vma_list *l, struct vma_list *fixed);

/*
 * Compute what has to be unmapped (gone: ranges) and mapped (fresh: mappings or parts
 * of them) to turn one layout into the other. Protections and advice do not count. Both
 * results are appended in order of address.
 */
void layout_diff(const struct vma_list *from, const struct vma_list *to,
		 struct vma_list *gone, struct vma_list *fresh);

/* Remove the range [start, end). */
void layout_cut(struct vma_list *l, uint64_t start, uint64_t end);

/*
 * Copy the advice of mappings that are also in `from`; false if some mapping of
 * `to` is not there.
 */
bool layout_copy_advice(const struct vma_list *from, struct vma_list *to);

/*
 * The mappings of pid as they are now, and their advice: taken over from known
 * if all of them were there, otherwise read, which is slow: the kernel looks at
 * every page (20 ms a GiB).
 */
int layout_read(pid_t pid, const struct vma_list *known, struct vma_list *ret,
		struct error *err) must_check;

/* Allocated; of its file only path and shared are set. */
Move__Vma *layout_vma(const struct vma *v);
/* The same of a mapping that the destination has: not what it shows. */
Move__Vma *layout_settings(const struct vma *v);

#endif
