/*
 * share.h - who else has a process's shared memory
 */
#ifndef MOVE_PROC_SHARE_H
#define MOVE_PROC_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/proc/proc.h"

/* Has the process a descriptor of the object that v shows? */
bool share_has_descriptor(pid_t pid, const struct vma *v);

/*
 * How does what a shared mapping shows travel?  A memfd that has a descriptor
 * goes with that, at the freeze: it can be written to without any page table
 * noticing, and reading through the mapping would fill its holes.
 */
enum share_how {
	SHARE_PAGES,	  /* as the pages that are written */
	SHARE_WHOLE,	  /* all of it: the descriptor has been closed since */
	SHARE_DESCRIPTOR, /* with its descriptor */
};

/* The objects that were left to their descriptors in some pass. */
struct share_left {
	struct share_object {
		uint64_t dev, ino;
	} * object;
	size_t nr, cap;
};

enum share_how share_how(pid_t pid, const struct vma *v,
			 struct share_left *left);

/*
 * -ENOTSUP if some other process, as far as we may look at it, maps one of
 * the objects in maps or has it open.
 */
int share_check(pid_t pid, const struct vma_list *maps,
		struct error *err) must_check;

#endif
