/*
 * test_bed.h - a move in the world of test_rounds.h, for tests of when rounds end and when the
 * process stands still
 */
#ifndef MOVE_SEND_TEST_BED_H
#define MOVE_SEND_TEST_BED_H

#include <stddef.h>

#include "move/send/send.h"
#include "move/send/test_rounds.h"

#define MUCH 20000 /* pages: 80 ms, enough to measure the link by */

/* The one of every move. */
extern struct throttle {
	unsigned begun, ended, ticks;
	usec_t budget;
} throttle;

struct bed {
	struct move_report report;
	struct move_source src;
	struct tracee tracee;
	struct error err;
	struct sending s;
};

/* written: pages, before each of the n rounds. */
void bed_init(struct bed *b, usec_t budget, const unsigned *written, size_t n);
void bed_clear(struct bed *b);

#define BED(b, budget, ...)                                    \
	bed_init(b, budget, (const unsigned[]){ __VA_ARGS__ }, \
		 sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

#endif
