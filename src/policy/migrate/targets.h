/*
 * targets.h - the hosts to which a rank could move, the least delayed first
 */
#ifndef POLICY_MIGRATE_TARGETS_H
#define POLICY_MIGRATE_TARGETS_H

#include <stdbool.h>

#include "model/plan.h"
#include "policy/migrate/flights.h"

struct target {
	const struct host *host;
	double delay; /* of one more rank there */
	/* ranks there, including those that are planned or under way to it */
	uint32_t ranks;
	uint32_t room;	 /* slots left */
	uint64_t memory; /* bytes free, counting those; UINT64_MAX: not known */
};

/* Made from a plan when first asked for; zero-filled before. */
struct targets {
	struct target *target; /* by delay, ranks, index of the host */
	size_t nr;
	usec_t now;
	bool made;
};

/*
 * Make them: hosts with plan_room() whose owners are away.  The memory of ranks that are
 * under way to them is taken, and that of ranks that the plan starts there; of moves of
 * the plan only that of those which are noted in f.  O(hosts log hosts).
 */
void targets_make(struct targets *t, const struct view *view,
		  const struct plan *plan, const struct flights *f);
/*
 * Make them of those hosts alone, by index, that have no rank, with room for one each;
 * NULL: as above.
 */
void targets_make_among(struct targets *t, const struct view *view,
			const struct plan *plan, const struct flights *f,
			const bool *among);
void targets_clear(struct targets *t); /* frees, and leaves them empty */

/*
 * The best target for a rank of the job, other than host `not`; or NULL. gentle: only
 * hosts on which no other rank is slowed by it.
 */
struct target *targets_best(const struct targets *t, const struct job *job,
			    uint32_t not, bool gentle);
/* The next best after one of these. */
struct target *targets_next(const struct targets *t, const struct target *after,
			    const struct job *job, uint32_t not, bool gentle);

/* The target that is this host, on the same conditions; or NULL. */
struct target *targets_at(const struct targets *t, const struct job *job,
			  uint32_t host, bool gentle);

/*
 * Note that a rank of the job will go there. Pointers into t are invalid afterwards.
 */
void targets_take(struct targets *t, struct target *one, const struct job *job);

/*
 * Will all ranks there have a core of their own with one more rank, beside the owner's
 * load?
 */
bool target_gentle(const struct target *one);

#endif
