/*
 * lack.h - what the destination could not make as the source told it
 *
 * Before the freeze the source tells what it saw a moment ago, and a file that
 * was mapped then may have gone, or be another one, when the destination opens
 * it.  That is no error yet: the destination notes the addresses and the
 * reason, leaves them unmapped, and says so before it answers the next SYNC.
 * The source then forgets that it has told them, so that what is still there in
 * the next round is told again.  What is lacking when the state comes ends the
 * move.  Files that are just open have no addresses: 0 to 0.
 */
#ifndef MOVE_WIRE_LACK_H
#define MOVE_WIRE_LACK_H

#include "move/wire/frame.h"

struct lacks {
	struct lack {
		struct frame_range range;
		struct error why;
	} * v;
	size_t nr, cap;
};

/* Note it; why is copied.  Neighbours become one and keep the first's reason.
 */
void lacks_add(struct lacks *l, uint64_t start, uint64_t end,
	       const struct error *why);
/* Tell all of it, and forget it. */
int lacks_send(struct lacks *l, struct channel *ch,
	       struct error *err) must_check;
void lacks_clear(struct lacks *l);

/*
 * What a LACK frame tells: -ENOTSUP with the reason in *why, the range in *ret.
 */
int lack_of_frame(const struct frame *f, struct frame_range *ret,
		  struct error *why);

#endif
