/*
 * fake_time.h - time, the scheduler and the wait of idle.c's tests
 *
 * What is defined in fake_time.c comes before the C library's.
 */
#ifndef PMI_PRELOAD_FAKE_TIME_H
#define PMI_PRELOAD_FAKE_TIME_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { POLL_NS = 300, START = 1000000000 };

struct fake_time {
	int64_t now, yield; /* how long others run when offered the core */
	int waits, ready;   /* ppoll() calls; what the next one answers */
	int clock_reads, yields;
	int64_t last_wait;    /* time of the last ppoll() */
	struct pollfd fds[4]; /* that it was given */
	nfds_t nr_fds;
};
extern struct fake_time t;

/* For cmocka. */
int set_up(void **state);

/* One call of the progress function, in which one descriptor is looked at. */
void call(bool progressed);
void calls(int n); /* idle ones */

/* What a rank knows that has had a core of its own for long. */
void forget_sharing(void);

/* A row of idle calls that ends in a block, for so long. */
int64_t wait_of_a_row(int ready);

#endif
