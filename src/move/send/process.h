/*
 * process.h - one process that moves, at the source: what is its own
 *
 * How it is stopped, how its memory is read and followed, what of its state has
 * been captured.  What processes that move together share is the move's
 * (send.h).
 */
#ifndef MOVE_SEND_PROCESS_H
#define MOVE_SEND_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/memory/pages.h"
#include "move/proc/proc.h"
#include "move/proc/watch.h"
#include "move/tracee/tracee.h"
#include "move/wire/state.pb-c.h"

struct send_process {
	pid_t pid; /* as seen from here */
	int pidfd; /* or -1 */
	struct tracee *tracee;
	struct page_sender *pages;
	struct vma_list seen;	    /* when it was last looked at as a whole */
	struct track *track;	    /* its memory, followed */
	Move__State *state;	    /* as far as it has been captured */
	struct proc_status stopped; /* once all of its threads stand still */
	size_t queued; /* signals that waited when its leader first stood still */
	struct handover *handover; /* of its locks, once that has begun */
};

/* Open what names it, and what reads it.  pid is set. */
int send_process_open(struct send_process *p, struct watch *w,
		      struct channel *ch, struct error *err) must_check;
/*
 * Kill it, for it runs elsewhere.  Freeing its memory is no work for the real-time
 * class in which its threads stood still: it is long, and lasts for seconds where
 * that class has a few milliseconds of each.
 */
void send_process_end(struct send_process *p);
/*
 * With leave its threads stay as they are until we exit: something else holds
 * it, or it waits for its locks.
 */
void send_process_clear(struct send_process *p, bool leave);

#endif
