/*
 * process.h - what belongs to one of the processes that move, at the source
 *
 * How it is stopped, how its memory is read and tracked, what of its state has been
 * captured.  What the processes of one move share is in common.h.
 */
#ifndef MOVE_SEND_PROCESS_H
#define MOVE_SEND_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/memory/pages.h"
#include "move/move.h"
#include "move/proc/proc.h"
#include "move/proc/watch.h"
#include "move/tracee/tracee.h"
#include "move/wire/state.pb-c.h"

struct send_process {
	pid_t pid; /* in this process's pid namespace */
	int pidfd; /* or -1 */
	struct tracee *tracee;
	struct page_sender *pages;
	struct vma_list seen; /* mappings at the last full check */
	struct track *track;  /* which of its memory was written */
	Move__State *state;   /* what has been captured of it so far */
	/* read once all of its threads stand still */
	struct proc_status stopped;
	/* signals that were pending when its leader was first stopped */
	size_t queued;
	/* the handover of its locks, once that has begun; or NULL */
	struct handover *handover;
};

/* Open the pidfd and what else is needed to read it. pid is set. */
int send_process_open(struct send_process *p, const struct move_source *src,
		      struct watch *w, struct channel *ch,
		      struct error *err) must_check;
/*
 * Kill it, because its copy runs.  Its threads leave the real-time class first: freeing
 * their memory takes long, and would take seconds where that class gets only a few
 * milliseconds of each second.
 */
void send_process_end(struct send_process *p);
/*
 * leave: its threads stay stopped until this process exits, because something else
 * holds the process, or it waits for its locks.
 */
void send_process_clear(struct send_process *p, bool leave);

#endif
