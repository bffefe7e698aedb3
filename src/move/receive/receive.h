/*
 * receive.h - the destination's side of a move, in its parts
 *
 * Who owns what
 *   struct receiving	one move: the channel, the report, what the source has told, what
 *			lacks, how far it has got
 *   struct receive_process what is one process's own: what lands, and is to become it
 * doc/design/02 tells the order of steps.
 */
#ifndef MOVE_RECEIVE_RECEIVE_H
#define MOVE_RECEIVE_RECEIVE_H

#include <stdbool.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/land/land.h"
#include "move/move.h"
#include "move/restore/restart.h"
#include "move/restore/restore.h"
#include "move/wire/frame.h"
#include "move/wire/lack.h"
#include "move/wire/state.pb-c.h"

struct receive_process {
	struct landing *landing;	    /* NULL before the first MAP */
	struct restore_ids ids;		    /* who it is, */
	char *exe;			    /* and which program it is to run */
	bool exe_done;			    /* which it is */
	struct restore_protected protected; /* that are not to be written to */
	Move__State *state;		    /* NULL before STATE */
	struct restart *restart; /* threads that are followed until they run */
};

struct receiving {
	const struct move_dest *dst;
	struct channel *ch;
	struct frame frame; /* the last one received */
	struct move_report *report;
	struct receive_process process; /* that lands */
	int root;			/* of the capsule */
	Move__Hello *hello;		/* the source's */
	bool other_vdso;    /* hello->vdso is to take the place of ours */
	struct lacks lacks; /* since the last SYNC */
	bool done;	    /* all pages have come */
	bool ready;	    /* READY is sent: the copy is kept */
};

/* memory.c: a frame of MAP, UNMAP, ZAP, PUNCH or PAGES. */
int receive_memory(struct receiving *v, struct error *err) must_check;

#endif
