/*
 * common.h - what the processes of one move share at the source
 *
 * The destination is told of each such thing once, whichever process it was found in.
 */
#ifndef MOVE_SEND_COMMON_H
#define MOVE_SEND_COMMON_H

#include <stdbool.h>

#include "move/proc/clocks.h"
#include "move/proc/share.h"
#include "move/tree/tree.h"
#include "move/wire/state.pb-c.h"

struct common {
	Move__Hello *hello;	/* as sent last, and files mapped since */
	struct tree_set *trees; /* directories that move along */
	struct fds_source *fds; /* open descriptors and the files behind them */
	/* shared memory whose contents travel with a descriptor */
	struct share_left left;
	/* was shared memory mapped since the last check? */
	bool new_objects;
	struct clocks clocks; /* offsets for the destination */
};

#endif
