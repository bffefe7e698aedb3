/*
 * lack.h - what the destination could not create as the source described it
 *
 * Before the freeze the source describes what it saw a moment ago; a mapped
 * file may have been deleted or replaced when the destination opens it.  That
 * is not an error yet: the destination notes the addresses and the reason,
 * leaves them unmapped, and reports them (LACK) before it answers the next
 * SYNC. The source then marks them as not sent, so that what still exists is
 * sent again in the next round.  A lack that remains when STATE comes ends the
 * move.  Files that are only open, not mapped, have no addresses: 0 to 0.
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

/* Add a lack; why is copied.  Adjacent ones are merged and keep the first
 * reason.
 */
void lacks_add(struct lacks *l, uint64_t start, uint64_t end,
	       const struct error *why);
/* Send all of them, and clear the list. */
int lacks_send(struct lacks *l, struct channel *ch,
	       struct error *err) must_check;
void lacks_clear(struct lacks *l);

/*
 * Decode a LACK frame: -ENOTSUP with the reason in *why, the range in *ret.
 */
int lack_of_frame(const struct frame *f, struct frame_range *ret,
		  struct error *why);

#endif
