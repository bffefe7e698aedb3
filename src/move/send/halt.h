/*
 * halt.h - let the process stand still for the rest of the rounds
 *
 * Where it has to leave by a deadline, as soon as it would else be late; where this host's owner
 * is there, for what is copied soon.  Both go by the rate of the link, which the first round
 * measures by what the peer has got.
 */
#ifndef MOVE_SEND_HALT_H
#define MOVE_SEND_HALT_H

#include "move/send/send.h"

/* A round, of which the first one is measured. */
void halt_round_begins(struct sending *s);
void halt_round_ends(struct sending *s);
/* Between two frames.  sent: pages, in all rounds. */
void halt_tick(struct sending *s, uint64_t sent);

/* Stop the process if sending what is left takes until the deadline. */
void halt_if_late(struct sending *s, usec_t rest);
/*
 * While this host's owner is there (core/claim.h) all of a move is in the way, not its pause
 * alone, and the process runs only when nobody else does.  So it stands still from the end of
 * the first round on (rest: 0), as what it writes would have to be sent again; and before, as
 * soon as the rest of that round takes little.
 */
void halt_for_owner(struct sending *s, usec_t rest);

/* Bytes a microsecond, limited to what the owners of both hosts allow for moves. */
double halt_allowed(const struct sending *s, double bytes_per_us);

#endif
