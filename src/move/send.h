/*
 * send.h - the source's side of a move, in its parts
 */
#ifndef MOVE_SEND_H
#define MOVE_SEND_H

#include "move/capture.h"
#include "move/inject.h"
#include "move/move.h"
#include "move/pages.h"
#include "move/scan.h"

struct sending {
	const struct move_source *src;
	struct channel *ch;
	struct move_report *report;
	struct tracee *tracee;
	struct scan *scan;
	struct page_sender *pages;
	struct vma_list maps; /* as the destination knows them */
	Move__State *state;
	struct frame frame;
	int pidfd;
	bool unplugged, held, recorded;
	usec_t started, frozen;
};

/* Microseconds that only grow. */
usec_t send_now(void);

#endif
