/*
 * run_print.h - what ranks print, on its way to standard output and error
 *
 * If output cannot be written now (a pager, a stopped terminal), it is queued
 * here in order, and the command keeps handling the controller's messages and
 * its signals.  The controller limits the queue by what has not been
 * acknowledged.  Lines are assembled by cluster/client/lines.h; on a terminal,
 * a line that stays unfinished for a moment is shown, as it may be a prompt.
 */
#ifndef CMD_CLIENT_RUN_PRINT_H
#define CMD_CLIENT_RUN_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "cluster/conn/message.h"

struct run_print;

struct run_print_ops {
	/* That piece, and all before it, has been written or dropped. */
	void (*taken)(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq);
	/* What waited has been written: nothing waits any more. */
	void (*idle)(void *ctx);
	/* It cannot be written (-errno), and is dropped from now on. */
	void (*failed)(void *ctx, int code);
};

/* ops must outlive it; SIGPIPE must be ignored. */
struct run_print *run_print_create(sd_event *event, uint32_t nr_ranks,
				   bool label, const struct run_print_ops *ops,
				   void *ctx);
void run_print_destroy(struct run_print *p); /* NULL is allowed */

void run_print_piece(struct run_print *p, const Control__Output *o);

/* Another client has printed what comes before these. */
void run_print_join(struct run_print *p, const Control__JobState *begins);

/* Has all output of the ranks arrived? */
bool run_print_reached(struct run_print *p, const Control__JobState *end);
/* No more output will come: print unfinished lines as well. */
void run_print_finish(struct run_print *p);
bool run_print_idle(const struct run_print *p);

/* Discard what waits, and the rest as soon as it would have to wait. */
void run_print_drop(struct run_print *p);

/* Write what waits, however long that takes. */
void run_print_drain(struct run_print *p);

/* Tell on stderr why the job of the command `stint NAME` waits. */
void run_print_waiting(const char *name, uint64_t job, const char *why);

#endif
