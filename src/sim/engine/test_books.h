/*
 * test_books.h - what jobs did with their time and what owners bore, computed a second time
 * from the events and plans that one who watches a run sees
 *
 * A job ends when its work is done at the speed of its slowest rank; links carry one move after
 * the other; owners bear what guests that run do, at their own loads.  What does not fit
 * together fails the test.
 */
#ifndef SIM_ENGINE_TEST_BOOKS_H
#define SIM_ENGINE_TEST_BOOKS_H

#include "sim/engine/test_among.h"

enum { BOOKS_MOVES = 200 };

struct tally {
	bool here, runs; /* in the system; a RUNNING job */
	bool begun;	 /* it has been started, and not requeued */
	uint32_t n, frozen;
	uint32_t on[AMONG_RANKS];
	usec_t stall; /* it stands still until then */
	double left, rate;
	struct sim_split split;
	usec_t start, end;
	double stood;
	unsigned moves;
};

struct under_way {
	int64_t job;
	uint32_t rank, to;
	usec_t ends, still;
};

struct bearing {
	bool here;
	double load, keyboard, owner;
	uint32_t running; /* guests that do not stand still */
	double memory;	  /* of all guests */
	double taken;	  /* the most of it while the owner was away */
	usec_t waits;	  /* for guests that run, since then; -1: not */
	struct sim_owners sum;
};

extern struct books {
	const struct among *a;
	const char *policy;
	usec_t now;
	struct tally job[AMONG_JOBS + 1];
	struct bearing host[AMONG_HOSTS];
	struct under_way move[BOOKS_MOVES];
	size_t nr_moves, next_change;
	usec_t busy[AMONG_HOSTS];
	uint64_t migrations, restarts, ranks_started;
} books;

void books_begin(const struct among *a, const char *policy);
/* For struct sim_observer. */
void books_saw_event(void *data, const struct view *view,
		     const struct event *e);
void books_saw_plan(void *data, const struct view *view,
		    const struct plan *plan);
/* Nothing happens any more before that. */
void books_go_to(usec_t now);
void books_wrong(const char *what, int64_t job);

#endif
