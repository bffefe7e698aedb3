/*
 * steps.h - moves of one job tried one after another, and what they gain together
 *
 * A job runs at the rate of its slowest rank, delayed by its host and by waiting for
 * partners on others, so one move often gains nothing where two
 * together do.  Steps are tried on a picture of the hosts: how many ranks each will have,
 * and how much it will delay them.  What is tried is undone or adopted before the next job.
 */
#ifndef POLICY_MIGRATE_STEPS_H
#define POLICY_MIGRATE_STEPS_H

#include <stdint.h>

#include "model/plan.h"
#include "model/view.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/targets.h"

enum {
	STEPS = 64
}; /* moves of one job that are weighed against each other at most */

struct step {
	uint32_t rank, from, to; /* from, to: hosts, by ix */
};

struct steps {
	double gain; /* by this factor a move must lower a delay */
	/* Of one pass, by host: how many ranks will be there, and the delay of each. */
	uint32_t *guests;
	double *delay;
	/* Of the job that is looked at. */
	struct targets tried;
	struct step step[STEPS];
	uint32_t nr;
	uint32_t *place; /* of each rank */
	double *talk; /* by what factor its partners slow it (model/talk.h) */
	size_t cap_place;
};

/* What the first `steps` of those that were tried gain. */
struct prospect {
	uint32_t steps;
	double before,
		after; /* greatest delay; the caller sets `before`, ... */
	double cost;   /* ... and this: seconds, of one move */
	double saved;  /* seconds, all in all */
};

void steps_init(struct steps *s, uint32_t nr_hosts, double gain);
void steps_clear(struct steps *s);

/* Begin a pass: hosts as the plan leaves them, ranks under way where they go. */
void steps_survey(struct steps *s, const struct flights *flights,
		  const struct view *view, const struct plan *plan);

/* Look at a job: the greatest delay of its ranks where they are. */
double steps_look(struct steps *s, const struct view *view,
		  const struct job *job);

/*
 * Of the job that was looked at: move the most delayed rank to the best of the targets,
 * or to one where a partner of it is, and again, as long as that helps
 * a rank; *best tells after how many steps the job as a whole gains most, if it gains.
 * left: seconds in which moves can pay.
 */
void steps_try(struct steps *s, const struct targets *targets,
	       const struct view *view, const struct job *job, double left,
	       struct prospect *best);

/* Take back all but the first `keep`. */
void steps_undo(struct steps *s, const struct view *view, uint32_t keep);

/* Keep the first `steps`: all other jobs find hosts and targets as they are with them. */
void steps_adopt(struct steps *s, const struct view *view,
		 const struct job *job, uint32_t steps,
		 struct targets *targets);

#endif
