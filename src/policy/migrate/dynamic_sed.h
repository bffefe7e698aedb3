/*
 * dynamic_sed.h - Dynamic-SED's state, for the files that it is made of:
 * dynamic_sed.c (the policy) over dynamic_start.c (who starts) over
 * dynamic_look.c (who moves, and where to)
 */
#ifndef POLICY_MIGRATE_DYNAMIC_SED_H
#define POLICY_MIGRATE_DYNAMIC_SED_H

#include "policy/hosts/sed_state.h"
#include "policy/kit/policy.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/leave.h"

#define DYNAMIC_CLOSED \
	1e9 /* the external load of a host that takes nothing new */

/* Of a job that runs, by its ix. */
struct dynamic_mind {
	int64_t id; /* 0: none */
	int class;  /* what it was promised */
	uint32_t n;
	uint32_t *count; /* n: looks at which a process was a candidate */
};

struct dynamic {
	struct policy base;
	struct flights flights;
	struct targets targets;
	struct sed sed; /* of a pass; jobs in the order of view->running */
	struct dynamic_mind *mind;
	size_t nr_minds;
	double *alpha;
	bool ended;  /* a job has, since the last pass */
	usec_t next; /* look */
	/* Parameters, named as in the paper. */
	double load_reserv, d_max, share;
	uint64_t mem_min, mem_reserv;
	uint32_t users, c1_max, c2_max;
	usec_t every, longest;
};

/* Of a job; made when first asked for. */
struct dynamic_mind *dynamic_mind(struct dynamic *d, const struct job *job);

static inline uint64_t dynamic_memory(const struct host *h)
{
	return h->memory ? h->memory_free : UINT64_MAX;
}

static inline bool dynamic_crowded(const struct dynamic *d,
				   const struct host *h)
{
	return h->users > d->users;
}

/* Look at all processes when it is time, and ask to be woken for the next look. */
void dynamic_look(struct dynamic *d, const struct view *view,
		  struct plan *plan);
/* Start what waits; who is left alone on his hosts is promised more. */
void dynamic_start(struct dynamic *d, const struct view *view,
		   struct plan *plan);
/* Nodes of the slowest class when all is idle, bounded by slots. */
int64_t dynamic_nodes(const struct dynamic *d, const struct view *view);

#endif
