/*
 * run_print.h - what ranks print, on its way to standard output and error
 *
 * Nobody has to read it: behind a pager, or on a terminal that is held up, it
 * waits here in the order in which it came, and the command goes on to hear
 * the controller and its signals.  How much waits the controller bounds, by
 * what it has not been acknowledged.  Lines are put together by
 * cluster/client/lines.h; what stands unfinished for a moment is shown where a person
 * sits, who may be asked something.
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

/* Has all come that the ranks have printed? */
bool run_print_reached(const struct run_print *p, const Control__JobState *end);
/* Nothing more will: unfinished lines as well. */
void run_print_finish(struct run_print *p);
bool run_print_idle(const struct run_print *p);

/* Nobody wants to see the rest. */
void run_print_drop(struct run_print *p);

/* Write what waits, however long that takes. */
void run_print_drain(struct run_print *p);

#endif
