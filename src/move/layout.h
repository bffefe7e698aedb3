/*
 * layout.h - the mappings of the process, as the source tells them
 */
#ifndef MOVE_LAYOUT_H
#define MOVE_LAYOUT_H

#include "core/error.h"
#include "move/proc.h"
#include "move/state.pb-c.h"

/* Is it to be moved, or does the kernel or Stint bring its own? */
bool layout_moves(const struct vma *v, uint64_t area, size_t area_size);

/* Fresh; its file has path and shared, no more. */
Move__Vma *layout_vma(const struct vma *v);

#endif
