/*
 * track.h - follow what the process does to its memory, and send it
 *
 * With a userfaultfd in asynchronous write-protect mode (Linux 6.7) the
 * kernel notes written pages by itself: the process takes one short fault for
 * each page it writes between two passes and never waits for us.  Older
 * kernels may have soft-dirty bits, for which it is stopped in each pass for
 * as long as reading them takes.  Without either, one pass over the frozen
 * process sends all.  STINT_TRACK=async, softdirty or none in the environment
 * forbids what comes before it in this list, for tests.
 *
 * A pass is: track_layout(), then track_send().  The last one, with all
 * threads stopped, also looks for memory that has vanished without a trace.
 */
#ifndef MOVE_TRACK_H
#define MOVE_TRACK_H

#include "move/send.h"

/*
 * The leader is stopped and the landing area is there.  Sets s->method and
 * s->scan.  0 although nothing can track it here: TRACK_NONE, with the reason
 * in why.
 */
int track_start(struct sending *s, struct error *why,
		struct error *err) must_check;
void track_stop(struct sending *s);

/* How does the layout differ from what the destination has?  Tell it. */
int track_layout(struct sending *s, bool last, struct error *err) must_check;

/* The trees alone, for what is not tracked; track_layout() does so, too. */
int track_trees(struct sending *s, struct error *err) must_check;

/* Send what was written since the last pass. */
int track_send(struct sending *s, bool last, struct error *err) must_check;

/* ---- between track.c and track_soft.c ---- */

/* The destination has these pages, and the process no longer does. */
int track_zap(void *sending, uint64_t start, uint64_t end,
	      struct error *err) must_check;
/* Note the guard pages there, in the last pass. */
int track_guards(struct sending *s, uint64_t start, uint64_t end,
		 struct error *err) must_check;
int track_send_soft(struct sending *s, bool last, struct error *err) must_check;

#endif
