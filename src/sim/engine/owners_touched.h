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
	usec_t away;  /* since then, if it is not here */
	usec_t since; /* sums are complete up to then */
	usec_t waits; /* here, and for running guests to go, since; -1 */
	double taken; /* bytes, the most that guests had since it went away */
	/* Since it was fed: */
	bool touched; /* look again what is there; */
	bool changed; /* ... also at what else the policy is told of it */
	struct sim_owners bore;
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
	bool telling;  /* what owners do */
	double refill; /* seconds until a byte is back in memory */
};

/*
 * An event is about to be applied: look again at those of which it may change what
 * is there.  Where jobs take turns, most of them have a guest that runs before and after.
 */
void owners_note(struct owners *o, const struct event *e);

/* ---- what an owner bears (owners_bear.c) ---- */

/* Sum up what has lasted since the last time. */
void owners_bear(struct owner *w, const struct host *h, usec_t now);
/* The contract has noted a return; and the last guest that ran has gone. */
void owners_came_back(const struct owners *o, struct owner *w, usec_t now);
void owners_given_back(struct owner *w, usec_t now);
/* It is away, and guests have memory there. */
void owners_note_memory(const struct engine *g, struct owner *w,
			const struct host *h);
double owners_refill_rate(const struct engine *g);

/* All but what is of single owners, which the second knows. */
void owners_add(struct sim_owners *to, const struct sim_owners *one);
void owners_worst(const struct owners *o, struct sim_owners *ret);

#endif
