/* memshare.h - what the files of memory-aware load sharing share, see memshare.c */
#ifndef POLICY_HOSTS_MEMSHARE_H
#define POLICY_HOSTS_MEMSHARE_H

#include "policy/kit/policy.h"

enum until { UNTIL_EMPTY, UNTIL_FITS };

/* Of a host that we hold back. */
struct held {
	usec_t since; /* 0: it is not held */
	bool used;    /* a process moved there */
};

/* Of a host, within a pass. */
struct spare {
	int64_t slots;	 /* processes it may get */
	uint64_t memory; /* bytes that are idle; UINT64_MAX: nobody knows */
};

struct memshare {
	struct policy base;
	enum until until;
	int64_t slots;	 /* most processes a core */
	double faults;	 /* more in a second are too many */
	usec_t settle;	 /* a process that came stays so long */
	usec_t patience; /* a host that is not ready by then is let go */
	bool reconfigures;
	uint32_t nr_hosts;
	struct held *held;
	struct spare *spare;
};

/* memshare_move.c */

/* Do too many pages fault there? */
bool memshare_overloaded(const struct memshare *s, const struct host *h);
/* How many more processes the host may have now. */
int64_t memshare_slots(const struct memshare *s, const struct host *h);
/* Does the host take a process of so many bytes; where is it best; it goes there. */
bool memshare_takes(const struct memshare *s, const struct host *h,
		    uint64_t bytes);
const struct host *memshare_place(const struct memshare *s,
				  const struct view *view, uint64_t bytes);
void memshare_give(struct memshare *s, uint32_t host, uint64_t bytes);

/*
 * Help every host on which pages fault; true if one of them could not be
 * helped.  *wake: when a process that may not move yet may, if sooner.
 */
bool memshare_relieve(struct memshare *s, const struct view *view, usec_t *wake,
		      struct plan *plan);
/* Let go of hosts that are held back whose work is done, and of those that nobody
 * needs.  *wake: when another one should be ready, if sooner. */
void memshare_let_go(struct memshare *s, const struct view *view, bool blocked,
		     usec_t *wake, struct plan *plan);

#endif
