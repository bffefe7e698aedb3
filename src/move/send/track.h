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
 *
 * There is one for each process; what it tells of files, trees and shared
 * objects it notes in what is common to all.
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
/* The process is not followed any more.  NULL is allowed. */
void track_destroy(struct track *t);

/*
 * The leader is stopped and the landing area is there.  0 although nothing can
 * follow it here, or it reads by direct I/O (fds_reads_direct()), with the
 * reason in why: then not track_follows().
 */
int track_start(struct track *t, bool direct, struct error *why,
		struct error *err) must_check;
bool track_follows(const struct track *t);
/* Reading page tables is getting on, for that watch; NULL: it is not. */
void track_beat(struct track *t, struct watch *w); /* t may be NULL */

/* How does the layout differ from what the destination has?  Tell it. */
int track_layout(struct track *t, bool last, struct error *err) must_check;
/* For how long did it stand still in that, for mappings that are new? */
usec_t track_paused(const struct track *t);
/* Was the destination told of files in that? */
bool track_told_files(const struct track *t);
/* The next one asks anew for advice, although that is slow. */
void track_ask_advice(struct track *t);

/* The trees alone, for what is not tracked; track_layout() does so, too. */
int track_trees(struct track *t, struct error *err) must_check;

/* The destination has nothing there, or not what it should: tell it again. */
void track_forget(struct track *t, uint64_t start, uint64_t end);

/* Send what was written since the last pass. */
int track_send(struct track *t, bool last, struct error *err) must_check;

/* After the last: mappings and guard pages, as STATE tells them. */
void track_describe(const struct track *t, Move__State *m);

#endif
