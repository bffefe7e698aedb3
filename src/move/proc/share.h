/*
 * share.h - other users of a process's shared memory
 */
#ifndef MOVE_PROC_SHARE_H
#define MOVE_PROC_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/proc/proc.h"

/* Has the process a descriptor of the object that v maps? */
bool share_has_descriptor(pid_t pid, const struct vma *v);

/*
 * How is the object of a shared mapping moved?  A memfd with an open descriptor
 * moves with the descriptor, at the freeze: write() to it leaves no trace in
 * page tables, and reading it through the mapping would fill its holes.
 */
enum share_how {
	SHARE_PAGES,	  /* by tracked pages, as private memory */
	SHARE_WHOLE,	  /* as a whole: its descriptor is closed */
	SHARE_DESCRIPTOR, /* with its descriptor */
};

/* Objects that an earlier pass has left to their descriptors. */
struct share_left {
	struct share_object {
		uint64_t dev, ino;
	} * object;
	size_t nr, cap;
};

enum share_how share_how(pid_t pid, const struct vma *v,
			 struct share_left *left);

/*
 * -ENOTSUP if another process that we may inspect maps one of the objects in
 * maps or has it open.
 */
int share_check(pid_t pid, const struct vma_list *maps,
		struct error *err) must_check;

#endif
