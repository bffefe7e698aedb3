/*
 * host.h - a machine, as a policy sees it
 *
 * Numbers only, whatever their source: an agent measures them in the live
 * cluster, the simulator generates them.  The driver fills in and updates the
 * upper part through EVENT_HOST; the lower part follows from the events of
 * jobs.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/units.h"
#include "model/contract.h"

enum { HOST_OWNERS = 8 };

struct host {
	uint32_t ix;	  /* its index in view->hosts, for good; breaks ties */
	const char *name; /* the driver's; outlives the view */

	/* Told by the driver. */
	double speed;	 /* alpha: run time here / run time on the fastest; 1 is
			    fastest, larger is slower */
	uint32_t cores;	 /* ranks that run side by side at full speed */
	uint32_t slots;	 /* ranks it may hold at most (time-shared: > cores) */
	uint64_t memory; /* bytes, physical; 0: not known */
	uint64_t memory_free; /* bytes available to guests now */
	double load;	   /* external: runnable processes that are not ours */
	uint32_t users;	   /* interactive users */
	bool owner_active; /* guests are to get out: its owner uses it, or its
			      terms say so */
	uint8_t closed;	   /* enum closed: why it takes no guests now */
	usec_t leave_by;   /* guests should have left by then; 0: no matter */
	usec_t freeze_until; /* owner_active: they stand still till then rather
				than leave; 0: they leave */
	usec_t freeze_most;  /* who finds no place stands still for no longer */
	usec_t idle_since; /* no keyboard, no load since then; USEC_MAX: busy */
	double link;	   /* bytes a second of its uplink, nominal; 0: not
			      known */
	usec_t open_until; /* nothing that ends later should start here; 0: no
			      matter */
	bool up;	   /* agent and host answer */
	bool drain;	   /* accepts no new ranks; running ones should leave */
	uint32_t booked;   /* cores held for a reservation: no job's */
	uint32_t nr_owners; /* of owner[]: users whose own host it is; their
			       ranks are no guests here (job_is_home()) */
	int32_t owner[HOST_OWNERS];
	double faults; /* page faults a second that its disk serves now as memory
			  is short: live, pages read again that were evicted */

	/* Follows from the events of jobs. */
	uint32_t nr_ranks;  /* ranks placed here, suspended ones included */
	uint32_t nr_active; /* ranks placed here of jobs that run */
	uint32_t reserved;  /* held back by EVENT_RESERVE, counted */
};

/* Does it run ranks, whatever its owner says? */
static inline bool host_serves(const struct host *h)
{
	return h->up && !h->drain && h->booked < h->cores;
}

/* May a rank be placed here at all?  (Not: is there room.) */
static inline bool host_usable(const struct host *h)
{
	return !h->closed && host_serves(h);
}

/* Must guests that are there get out?  Not where nobody keeps its owner's terms. */
static inline bool host_wanted(const struct host *h)
{
	return h->owner_active && h->closed;
}

/* Cores available to jobs. */
static inline uint32_t host_cores(const struct host *h)
{
	return host_usable(h) ? h->cores - h->booked : 0;
}

/* Of more than HOST_OWNERS the first count. */
void host_set_owners(struct host *h, const int32_t *users, uint32_t n);
bool host_same_owners(const struct host *a, const struct host *b);

/*
 * The delay of a compute-bound process here beside `load` other runnable ones:
 * delay = alpha * max(1, (1 + load) / cores)    (Schnor 1997 section 4.1; one
 * core there).
 */
static inline double host_delay(const struct host *h, double load)
{
	uint32_t cores = h->cores ? h->cores : 1;

	return 1 + load > cores ? h->speed * ((1 + load) / cores) : h->speed;
}

#endif
