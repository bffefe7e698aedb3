/*
 * dynamic_sed.h - Dynamic-SED's state, shared by its files: dynamic_sed.c (the policy)
 * over dynamic_start.c (who starts) over dynamic_when the next look is.c (who moves,
 * and where to)
 */
#ifndef POLICY_MIGRATE_DYNAMIC_SED_H
#define POLICY_MIGRATE_DYNAMIC_SED_H

#include "policy/hosts/sed_state.h"
#include "policy/kit/policy.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/leave.h"

#define DYNAMIC_CLOSED \
	1e9 /* stands for the external load of a host that takes nothing new */

/* What is remembered of a running job, by its ix. */
struct dynamic_mind {
	int64_t id; /* 0: none */
	int class;  /* the delay class that it was promised */
	uint32_t n;
	/* for each of n processes: at how many looks it was a candidate */
	uint32_t *count;
};

struct dynamic {
	struct policy base;
	struct flights flights;
	struct targets targets;
	/* rebuilt in each pass; jobs in the order of view->running */
	struct sed sed;
	struct dynamic_mind *mind;
	size_t nr_minds;
	double *alpha;
	bool ended;  /* has a job ended since the last pass? */
	usec_t next; /* look */
	/* Parameters, named as in the paper. */
	double load_reserv, d_max, share;
	uint64_t mem_min, mem_reserv;
	uint32_t users, c1_max, c2_max;
	usec_t every, longest;
};

/* What is remembered of a job; made when first asked for. */
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
/*
 * Start waiting jobs; jobs that are left alone on their hosts are promised a better
 * class.
 */
void dynamic_start(struct dynamic *d, const struct view *view,
		   struct plan *plan);
/*
 * How many nodes the slowest class has when all hosts are idle, bounded by their slots.
 */
int64_t dynamic_nodes(const struct dynamic *d, const struct view *view);

#endif
