/*
 * common.h - what processes that move together have in common, at the source
 *
 * The destination is told of each once, whichever process it was found in.
 */
#ifndef MOVE_SEND_COMMON_H
#define MOVE_SEND_COMMON_H

#include <stdbool.h>

#include "move/proc/clocks.h"
#include "move/proc/share.h"
#include "move/tree/tree.h"
#include "move/wire/state.pb-c.h"

struct common {
	Move__Hello *hello;	/* as told last, and the files mapped since */
	struct tree_set *trees; /* directories that move along */
	struct fds_source *fds; /* descriptors, and what they lead to */
	struct share_left left; /* objects that travel with a descriptor */
	bool new_objects;	/* shared memory, mapped since the last check */
	struct clocks clocks;	/* offsets for the destination */
};

#endif
