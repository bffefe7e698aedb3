/*
 * owners_touched.h - what owners.c knows of each host, and which of them jobs have
 * changed since it looked last
 */
#ifndef SIM_ENGINE_OWNERS_TOUCHED_H
#define SIM_ENGINE_OWNERS_TOUCHED_H

#include "core/heap.h"
#include "model/activity.h"
#include "model/contract.h"
#include "sim/engine/owners.h"

/* Of a host.  What was fed last holds since then, for what owners bear. */
struct owner {
	struct activity_host state;
	struct contract contract;
	usec_t away;   /* since then, if it is not here */
	usec_t since;  /* sums are complete up to then */
	uint32_t most; /* disturbances in a day */
	usec_t waits;  /* here, and for running guests to go, since; -1 */
	bool touched;  /* jobs have changed it since it was fed */
};

struct owners {
	const struct activity *activity;
	const struct owner_terms *terms; /* NULL: nobody keeps any */
	size_t next;			 /* change of the script */
	uint32_t nr;
	uint32_t *host_of;   /* by the script's index */
	struct owner *owner; /* by the machine's */
	struct heap due;     /* hosts by contract_next() */
	uint32_t *dirty;
	size_t nr_dirty;
	usec_t last; /* something else than time and owners changed something */
	bool telling; /* what owners do */
	struct sim_owners sum;
};

/* An event is about to be applied: look again at those of which it may change what
 * is there. */
void owners_note(struct owners *o, const struct event *e);

#endif
