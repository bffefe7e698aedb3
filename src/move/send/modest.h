/*
 * modest.h - an engine that leaves some of the processors to others
 *
 * Where the host lets all together have so much of a processor in each moment, who uses that up
 * makes the others wait (struct move_source, share).
 */
#ifndef MOVE_SEND_MODEST_H
#define MOVE_SEND_MODEST_H

#include "move/send/send.h"

/* Between two frames of a round: wait, if it has had its share, unless time is short. */
void modest_tick(struct sending *s);

/*
 * The process, which may have been held from before the move on, runs: it is to be stopped by
 * other means, or ...
 */
void modest_let_go(struct sending *s);
/* ... what is in the way passes as it runs.  Wait for that for a moment. */
void modest_pause(struct sending *s);

/* How long to wait: it has computed for `ran` of the last `time`. */
usec_t modest_wait(double share, usec_t ran, usec_t time);

#endif
