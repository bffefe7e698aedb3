/*
 * targets.h - the hosts to which a rank could move, the least delayed first
 */
#ifndef POLICY_MIGRATE_TARGETS_H
#define POLICY_MIGRATE_TARGETS_H

#include <stdbool.h>

#include "model/plan.h"

struct target {
	const struct host *host;
	double delay;	 /* of one rank more */
	uint32_t ranks;	 /* there, with those that are planned and under way */
	uint32_t room;	 /* slots left */
	uint64_t memory; /* free, with those; UINT64_MAX: not known */
};

/* Made of a plan when first asked for; all zero before. */
struct targets {
	struct target *target; /* by delay, ranks, index of the host */
	size_t nr;
	usec_t now;
	bool made;
};

/* Hosts with plan_room() whose owners are away.  O(hosts log hosts). */
void targets_make(struct targets *t, const struct view *view,
		  const struct plan *plan);
/* Among these alone, by index, that have no rank, for one each; NULL: as above. */
void targets_make_among(struct targets *t, const struct view *view,
			const struct plan *plan, const bool *among);
void targets_clear(struct targets *t); /* and empty */

/*
 * The best for a rank of job other than host `not`, or NULL.  gentle: one where
 * nobody's guest is slowed by it.
 */
struct target *targets_best(const struct targets *t, const struct job *job,
			    uint32_t not, bool gentle);
/* The next best after one of these, likewise. */
struct target *targets_next(const struct targets *t, const struct target *after,
			    const struct job *job, uint32_t not, bool gentle);

/* The one that is host, on the same conditions, or NULL. */
struct target *targets_at(const struct targets *t, const struct job *job,
			  uint32_t host, bool gentle);

/* A rank of job will go there; later ones are told so.  Pointers into t are no
 * longer good. */
void targets_take(struct targets *t, struct target *one, const struct job *job);

/* Do all ranks there have a core, with one more and the owner's load? */
bool target_gentle(const struct target *one);

#endif
