/*
 * track.h - find out what the process does to its memory, and send that
 *
 * With a userfaultfd in asynchronous write-protect mode (Linux 6.7) the kernel notes
 * written pages by itself: the process takes one short fault for each page it writes
 * between two passes and never waits for the engine.  Older kernels may have soft-dirty
 * bits; with those, the process is stopped in each pass for as long as reading them
 * takes.  Without either, a single pass over the frozen process sends all of its
 * memory.  STINT_TRACK=async, softdirty or none in the environment forbids what comes
 * before it in this list, for tests.
 *
 * A pass is: track_layout(), then track_send().  The last one, with all
 * threads stopped, also looks for memory that has vanished without a trace.
 *
 * Each process has one; what it tells the destination of files, trees and shared
 * objects it notes in struct common.
 */
#ifndef MOVE_SEND_TRACK_H
#define MOVE_SEND_TRACK_H

#include "core/units.h"
#include "move/send/common.h"
#include "move/send/process.h"

struct track;

/* All of them outlive it. */
struct track *track_create(const struct send_process *p, struct common *c,
			   struct channel *ch);
/* Stop tracking the process.  NULL is allowed. */
void track_destroy(struct track *t);

/*
 * Begin tracking; the leader is stopped and the landing area is there.  Also 0 if no
 * method works here, or if the process does direct I/O (fds_reads_direct()): then the
 * reason is in *why, and track_follows() is false.
 */
int track_start(struct track *t, bool direct, struct error *why,
		struct error *err) must_check;
bool track_follows(const struct track *t);
/*
 * From now on reading page tables counts as progress for that watch; NULL: it does not.
 */
void track_beat(struct track *t, struct watch *w); /* t may be NULL */

/* Tell the destination how the mappings differ from those that it has. */
int track_layout(struct track *t, bool last, struct error *err) must_check;
/* How long the last track_layout() stopped the process, to track new mappings. */
usec_t track_paused(const struct track *t);
/* Did the last track_layout() tell the destination of files? */
bool track_told_files(const struct track *t);
/*
 * Have the next track_layout() read the mappings' advice again, although that is slow.
 */
void track_ask_advice(struct track *t);

/*
 * Send the directory trees alone, for a process that is not tracked; track_layout()
 * does that, too.
 */
int track_trees(struct track *t, struct error *err) must_check;

/* The destination has nothing in that range, or not what it should: send it again. */
void track_forget(struct track *t, uint64_t start, uint64_t end);

/* Send what was written since the last pass. */
int track_send(struct track *t, bool last, struct error *err) must_check;

/* After the last pass: put mappings and guard pages into STATE's message. */
void track_describe(const struct track *t, Move__State *m);

#endif
