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
#ifndef MOVE_SEND_TRACK_H
#define MOVE_SEND_TRACK_H

#include "move/send/send.h"

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

/* The destination has nothing there, or not what it should: tell it again. */
void track_forget(struct sending *s, uint64_t start, uint64_t end);

/* Send what was written since the last pass. */
int track_send(struct sending *s, bool last, struct error *err) must_check;

/* ---- between track.c, track_layout.c, track_watch.c and track_soft.c ---- */

/* The leader is stopped; -EOPNOTSUPP: this kernel cannot do it. */
int track_watch_start(struct sending *s, struct error *err) must_check;
/*
 * Register what of these mappings, as they were read just now, is not watched,
 * if all threads can be stopped; before the first pass they need not be.  It
 * is to be sent whole.
 */
int track_watch(struct sending *s, const struct vma_list *now,
		struct error *err) must_check;
/*
 * Before memory is protected that was not watched: take away marks of old
 * protections, which the kernel would take for protections.  -EPERM: it is not
 * watched now either.
 */
int track_clear_marks(struct sending *s, uint64_t start, uint64_t end,
		      struct error *err) must_check;
/*
 * track_punch.c: note what is given back of the memory that uffd, which is
 * taken over, watches.  NULL: it cannot be.
 */
struct punch_watch *punch_watch_create(pid_t pid, int uffd);
void punch_watch_destroy(struct punch_watch *w); /* NULL is allowed */
/* At the beginning of a pass, as soon as the layout is told: holes since. */
int track_punches(struct sending *s, struct error *err) must_check;
/* The destination is to forget what it has of shared memory there. */
int track_punch_whole(struct sending *s, uint64_t start, uint64_t end,
		      struct error *err) must_check;
/* This is not watched: the pass whose layout is told next sends it whole. */
void track_miss(struct sending *s, uint64_t start, uint64_t end);

/* The destination has these pages, and the process no longer does. */
int track_zap(void *sending, uint64_t start, uint64_t end,
	      struct error *err) must_check;
/* Tell it of those that were noted. */
int track_zap_flush(struct sending *s, struct error *err) must_check;
/* Note the guard pages there, in the last pass. */
int track_guards(struct sending *s, uint64_t start, uint64_t end,
		 struct error *err) must_check;
int track_send_soft(struct sending *s, bool last, struct error *err) must_check;

#endif
