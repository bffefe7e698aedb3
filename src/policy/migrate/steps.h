/*
 * steps.h - moves of one job tried one after another, and what they gain together
 *
 * A job runs at the rate of its slowest rank, which is delayed by its host and by
 * waiting for partners on other hosts.  So a single move often gains nothing where two
 * together do.  Moves ("steps") are tried on a model of the hosts: how many ranks each
 * will have, and by how much it will delay them.  They are undone or adopted before the
 * next job is looked at.
 */
#ifndef POLICY_MIGRATE_STEPS_H
#define POLICY_MIGRATE_STEPS_H

#include <stdint.h>

#include "model/plan.h"
#include "model/view.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/targets.h"

enum { STEPS = 64 }; /* the most moves of one job that are tried together */

struct step {
	uint32_t rank, from, to; /* from, to: hosts, by ix */
};

struct steps {
	double gain; /* the factor by which a move must lower a delay */
	/*
	 * During a pass, by host: how many ranks will be there, and the delay
	 * of each.
	 */
	uint32_t *guests;
	double *delay;
	bool *shunned; /* a move there has just failed */
	/* For the job in question. */
	struct targets tried;
	struct step step[STEPS];
	uint32_t nr;
	uint32_t *place; /* where each rank is, or is tried */
	/*
	 * for each rank: the factor by which its partners slow it
	 * (model/talk.h)
	 */
	double *talk;
	size_t cap_place;
};

/* What the first `steps` moves of those that were tried gain. */
struct prospect {
	uint32_t steps;
	double before,
		after; /* greatest delay; the caller sets `before`, ... */
	double cost;   /* ... and this: seconds, of one move */
	double saved;  /* seconds, all in all */
};

void steps_init(struct steps *s, uint32_t nr_hosts, double gain);
void steps_clear(struct steps *s);

/*
 * Begin a pass: take the hosts as the plan leaves them, ranks under way at their
 * destinations.  No step leads to a host to which a move has just failed.
 */
void steps_survey(struct steps *s, const struct flights *flights,
		  const struct view *view, const struct plan *plan);

/* Begin with a job; returns the greatest delay of its ranks where they are now. */
double steps_look(struct steps *s, const struct view *view,
		  const struct job *job);

/*
 * For the job of steps_look(): move the most delayed rank to the best of the targets,
 * or to one where a partner of it is, and so on, as long as that helps a rank.  *best
 * says after how many steps the job as a whole gains most, if it gains at all.  left:
 * seconds in which moves can pay off.
 */
void steps_try(struct steps *s, const struct targets *targets,
	       const struct view *view, const struct job *job, double left,
	       struct prospect *best);

/* Undo all steps but the first `keep`. */
void steps_undo(struct steps *s, const struct view *view, uint32_t keep);

/*
 * Keep the first `steps`: for the jobs that follow, hosts and targets are as after
 * these.
 */
void steps_adopt(struct steps *s, const struct view *view,
		 const struct job *job, uint32_t steps,
		 struct targets *targets);

#endif
