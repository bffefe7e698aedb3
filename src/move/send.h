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
#include "move/sent.h"

struct sending {
	const struct move_source *src;
	struct channel *ch;
	struct move_report *report;
	struct tracee *tracee;
	struct scan *scan, *scan_private;
	struct page_sender *pages;
	struct sent *sent;    /* private pages that the destination has */
	struct vma_list maps; /* as the destination knows them */
	uint64_t vdso;
	bool read_advice; /* in the next pass, although it is slow */
	struct frame_range *zap;
	size_t nr_zap;
	Move__State *state;
	struct frame frame;
	int pidfd, uffd; /* uffd < 0: not tracked */
	bool unplugged, held, recorded;
	usec_t started, frozen;
	usec_t scan_time;    /* of the last pass, finding pages */
	double bytes_per_us; /* of the last long pass */
};

/* Microseconds that only grow. */
usec_t send_now(void);

/* One line to whoever watches. */
void send_progress(struct sending *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* precopy.c: rounds while it runs, until it may be frozen. */
int precopy_run(struct sending *s, struct error *err) must_check;

/* freeze.c: everything with all threads stopped, up to STATE. */
int freeze_send(struct sending *s, struct error *err) must_check;

#endif
