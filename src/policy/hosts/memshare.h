/* memshare.h - what memshare.c and memshare_move.c share */
#ifndef POLICY_HOSTS_MEMSHARE_H
#define POLICY_HOSTS_MEMSHARE_H

#include "policy/kit/policy.h"

enum until { UNTIL_EMPTY, UNTIL_FITS };

/* A host's state as to being held back. */
struct held {
	usec_t since; /* 0: it is not held back */
	bool used;    /* has a process moved there? */
};

/* What a host has left, during a pass. */
struct spare {
	int64_t slots;	 /* how many more processes it may get */
	uint64_t memory; /* bytes that are idle; UINT64_MAX: not known */
};

/* A process and where it runs. */
struct process {
	const struct job *job;
	uint32_t rank;
	uint32_t next; /* on the same host, in the order of view->running */
};

/* Those that run and need memory, host by host, as they are during a pass. */
struct processes {
	struct process *all;
	size_t nr, cap;
	uint32_t *first, *last; /* by host; UINT32_MAX: none */
};

struct memshare {
	struct policy base;
	enum until until;
	int64_t slots; /* most processes per core */
	double faults; /* more page faults per second are too many */
	usec_t settle; /* a process that has come stays for so long */
	/* a host that is not ready after so long is not held back any more */
	usec_t patience;
	bool reconfigures;
	uint32_t nr_hosts;
	struct held *held;
	struct spare *spare;
	struct processes on;
};

/* memshare_move.c */

/* Are there too many page faults on the host? */
bool memshare_overloaded(const struct memshare *s, const struct host *h);
/* How many more processes the host may have now. */
int64_t memshare_slots(const struct memshare *s, const struct host *h);
/*
 * Whether the host can take a process of so many bytes; the best host for one; note
 * that it goes there.
 */
bool memshare_takes(const struct memshare *s, const struct host *h,
		    uint64_t bytes);
const struct host *memshare_place(const struct memshare *s,
				  const struct view *view, uint64_t bytes);
void memshare_give(struct memshare *s, uint32_t host, uint64_t bytes);

/*
 * Move a process off every host with too many page faults; true if one of them has none
 * that could move.  *wake: made earlier if a process that may not move yet may by then.
 */
bool memshare_relieve(struct memshare *s, const struct view *view, usec_t *wake,
		      struct plan *plan);
/*
 * Stop holding hosts back whose work is done, or that are not needed.  *wake: made
 * earlier if another one should be ready by then.
 */
void memshare_let_go(struct memshare *s, const struct view *view, bool blocked,
		     usec_t *wake, struct plan *plan);

#endif
