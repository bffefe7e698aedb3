/*
 * track.h - follow what the process does to its memory, and send it
 *
 * With a userfaultfd in asynchronous write-protect mode the kernel notes
 * written pages by itself: the process takes one short fault for each page it
 * writes between two passes and never waits for us.  Without it
 * (track_start() says -EOPNOTSUPP), one pass over the frozen process sends
 * all.
 *
 * A pass is: track_layout(), then track_send().  The last one, with all
 * threads stopped, also looks for memory that has vanished without a trace.
 */
#ifndef MOVE_TRACK_H
#define MOVE_TRACK_H

#include "move/send.h"

/* The leader is stopped and the landing area is there. */
int track_start(struct sending *s, struct error *err) must_check;
void track_stop(struct sending *s);

/* How does the layout differ from what the destination has?  Tell it. */
int track_layout(struct sending *s, bool last, struct error *err) must_check;

/* Send what was written since the last pass. */
int track_send(struct sending *s, bool last, struct error *err) must_check;

#endif
