/*
 * halt.h - let the process stand still for the rest of the rounds
 *
 * Where it has to leave by a deadline, as soon as it would else not; where this host's owner
 * is there, for what is copied soon.  Both go by the rate of the link, which
 * the first round has measured once the peer has enough bytes of it.
 */
#ifndef MOVE_SEND_HALT_H
#define MOVE_SEND_HALT_H

#include "move/send/send.h"

/* Before round nr has sent anything; pages: what was sent so far. */
void halt_round_begins(struct sending *s);
void halt_round_ends(struct sending *s);
/*
 * Between two frames; sent: pages, of all rounds.
 */
void halt_tick(struct sending *s, uint64_t sent);

/* Stop the process if sending what is left takes until the deadline. */
void halt_if_late(struct sending *s, usec_t rest);
/*
 * While this host's owner is there (core/claim.h) all of a move is in the way, not its pause
 * alone, and the process runs only when nobody else does.  So it stands still after
 * the first round, as what it writes would have to be sent again; and before that ends, for a rest that
 * takes `rest`, if that is little.
 */
void halt_for_owner(struct sending *s, usec_t rest);

/* Bytes a microsecond, limited to what the owners of both hosts allow for moves. */
double halt_allowed(const struct sending *s, double bytes_per_us);

#endif
