/*
 * backfill.c - backfilling with any number of reservations
 *
 * depth < 0: every job has one (conservative); 0: none has; 1: the head alone,
 * which is EASY; n: the first n of the queue.
 *
 * A job with a reservation keeps it or gets a better one, never a worse one
 * while the estimates hold.  What is planned is a profile of free processors
 * over time, from which running jobs (until their estimated ends) and
 * reservations are taken:
 *
 *	procs |RRRRRRR111111
 *	      |RRRRR222222        R running, 1 and 2 reserved
 *	      +--------------> time
 *
 * When a job ends before its estimate, the jobs are gone through once in the order of
 * the queue, and each takes the earliest start that is possible with the others where
 * they are (Mu'alem and Feitelson 2001): so no job's start becomes later.  Only those
 * are looked at that what came free since the last look may have made room for.
 *
 * With slots=kinds, jobs of the same size and estimate are interchangeable and have
 * their slots in common (alike.h), and the kinds are gone through in the order of their
 * first jobs.  Jobs of a kind keep their order.  Otherwise each row of equal jobs is a
 * kind (alike.h).
 *
 * Cost of a pass, with k steps in the profile: O(k/64 + 64) for each job that
 * arrives or starts; after an early end, that for each slot that what came free may let
 * move, and a few comparisons for each row (or kind).
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/queue/backfill.h"

REASON(its_turn,
       "its reservation begins: it needs {size} of {free} free "
       "{free:processor|processors}",
       size, free);
REASON(fills,
       "it fits {free} free {free:processor|processors} now without "
       "delaying any of {reservations} "
       "{reservations:reservation|reservations}",
       free, reservations);
REASON(reserved_for,
       "its {size} {size:processor is|processors are} reserved for it from "
       "{at:time} on; {free} {free:is|are} free now",
       size, at, free);
REASON(would_delay,
       "starting it now on {size} {size:processor|processors} would delay "
       "one of {reservations} {reservations:job|jobs} with reservations; "
       "{free} {free:is|are} free",
       size, reservations, free);
REASON(next_start, "the next reservation begins");

static const char *const orders[] = { "pass", "pyss", "each", NULL };

static const char *const holders[] = { "jobs", "kinds", NULL };

#define SLOTS_PARAM                                                         \
	{                                                                   \
		"slots", PARAM_CHOICE, 0, 0, 0, holders,                    \
			"each job has its own reservation; or jobs of one " \
			"size and estimate have theirs in common"           \
	}

#define REPLAN_PARAM                                                        \
	{                                                                   \
		"replan", PARAM_TIME, 0, 0, 1e6, NULL,                      \
			"least time between two looks for better "          \
			"reservations after early ends (0: at every one); " \
			"what can start now does so at every one"           \
	}

#define ORDER_PARAM                                                          \
	{                                                                    \
		"order", PARAM_CHOICE, 0, 0, 0, orders,                      \
			"events of one instant: ends, arrivals, then one "   \
			"pass; or a pass after each, arrivals first (pyss) " \
			"or ends first (each)"                               \
	}

static const struct param depth_params[] = {
	{ "depth", PARAM_INT, 1, -1, 1e9, NULL,
	  "reservations: -1 for every job, 0 none, 1 EASY, n" },
	SLOTS_PARAM,
	REPLAN_PARAM,
	ORDER_PARAM,
	{ .name = NULL },
};

static const struct param conservative_params[] = {
	SLOTS_PARAM,
	REPLAN_PARAM,
	ORDER_PARAM,
	{ .name = NULL },
};

static int create(const struct policy_setup *setup, struct policy **ret,
		  int64_t depth)
{
	static const enum policy_order order[] = {
		ORDER_ENDS_ARRIVALS_PASS,
		ORDER_ARRIVALS_FIRST_PASS_EACH,
		ORDER_ENDS_FIRST_PASS_EACH,
	};
	struct backfill *b = xcalloc(1, sizeof(*b));

	b->open = (struct fitset)FITSET_BY_SIZE_INIT;
	b->base.order = order[params_choice(setup->params, "order")];
	b->depth = depth;
	b->kinds.each = !params_choice(setup->params, "slots");
	b->interval = params_usec(setup->params, "replan");
	b->wake = USEC_MAX;
	b->rebuild = true;
	backfill_forget_freed(b);
	profile_init(&b->profile, setup->view->now, setup->view->nr_procs);
	*ret = &b->base;
	return 0;
}

static int backfill_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	return create(setup, ret, params_int(setup->params, "depth"));
}

static int conservative_create(const struct policy_setup *setup,
			       struct policy **ret, struct error *err)
{
	return create(setup, ret, -1);
}

static void backfill_destroy(struct policy *policy)
{
	struct backfill *b = (struct backfill *)policy;

	alikes_clear(&b->kinds);
	fitset_clear(&b->heads);
	fitset_clear(&b->open);
	heap_clear(&b->starts);
	free(b->reserved);
	ends_clear(&b->ends);
	profile_clear(&b->profile);
	free(b);
}

static void job_ended(struct backfill *b, const struct view *view,
		      const struct job *job)
{
	usec_t end;

	if (is_reserved(b, job)) { /* it was cancelled */
		backfill_drop(b, job);
	} else if (fitset_has(&b->open, job)) {
		fitset_remove(&b->open, job);
	} else {
		end = ends_at(&b->ends, job->ix);
		ends_remove(&b->ends, job->ix);
		if (end > view->now)
			backfill_give(b, view->now, end, job->n);
	}
}

static void backfill_event(struct policy *policy, const struct view *view,
			   const struct event *event)
{
	struct backfill *b = (struct backfill *)policy;
	const struct job *job = event->job;

	switch (event->type) {
	case EVENT_ARRIVE:
		fitset_insert(&b->open, job, job->submit);
		break;
	case EVENT_START: /* it was adopted, or resumed from a record */
		fitset_remove(&b->open, job);
		ends_insert(&b->ends, job->ix, job->est_end, event->n);
		b->rebuild = true;
		break;
	case EVENT_REQUEUE:
		ends_remove(&b->ends, job->ix);
		fitset_insert(&b->open, job, job->submit);
		b->rebuild = true;
		break;
	case EVENT_END:
		job_ended(b, view, job);
		break;
	case EVENT_PROCS:
	case EVENT_HOST:
	case EVENT_BOOKED:
		b->rebuild = true;
		break;
	default:
		break;
	}
}

static bool start_job(struct backfill *b, const struct view *view,
		      struct plan *plan, const struct job *job,
		      struct because why)
{
	if (!plan_start(plan, job, job->size, why))
		return false;
	ends_insert(&b->ends, job->ix, usec_add(view->now, job_length(job)),
		    job->size);
	return true;
}

/* Start jobs the time of whose reservation has come. */
static void start_due(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	while (heap_first_key(&b->starts) <= view->now) {
		struct alike *k = b->kinds.kind[heap_pop(&b->starts)];
		const struct job *j = k->head;

		if (k->size > plan_free(plan) ||
		    !start_job(b, view, plan, j,
			       BECAUSE(its_turn, .size = j->size,
				       .free = plan_free(plan)))) {
			/* Its processors are lost, not only late: plan all anew. */
			backfill_note_first(b, k);
			b->rebuild = true;
			break;
		}
		backfill_leave(b, j);
		backfill_take_slot(b, k, 0);
	}
}

static bool may_reserve(const struct backfill *b)
{
	return b->depth < 0 || b->nr_reserved < b->depth;
}

/* The queue has moved up: give reservations to the jobs that get one now. */
static void reserve_more(struct backfill *b, const struct view *view,
			 struct plan *plan)
{
	const struct job *j;

	while (may_reserve(b) && (j = fitset_first(&b->open))) {
		backfill_reserve(b, view, j);
		start_due(b, view, plan);
		if (b->rebuild)
			break;
	}
}

static usec_t time_for(const struct backfill *b, const struct view *view,
		       int64_t n)
{
	usec_t until = profile_until(&b->profile, view->now, n);

	return until == USEC_MAX ? USEC_MAX : until - view->now;
}

/* For how long more processors stay free than the spare ones. */
static usec_t time_for_more(const struct backfill *b, const struct view *view,
			    int64_t spare)
{
	return time_for(b, view, spare > 0 ? spare + 1 : 1);
}

/*
 * Start jobs without a reservation that delay none, that is, if their processors stay
 * free for as long as they run.  Only those are tried that fit the processors that stay
 * free for ever (spare), or that end before others are taken.
 */
static void fill_gaps(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	const struct job *j = NULL, *next;
	int64_t spare = profile_min(&b->profile, view->now, USEC_MAX);
	usec_t within = time_for_more(b, view, spare);

	j = fitset_backfill(&b->open, NULL, plan_free(plan), spare, within);
	for (; j; j = next) {
		bool fits = j->size <= plan_free(plan) &&
			    job_length(j) <= time_for(b, view, j->size) &&
			    start_job(b, view, plan, j,
				      BECAUSE(fills, .free = plan_free(plan),
					      .reservations = b->nr_reserved));

		if (fits) {
			profile_add(&b->profile, view->now,
				    usec_add(view->now, job_length(j)),
				    -(int64_t)j->size);
			spare = profile_min(&b->profile, view->now, USEC_MAX);
			within = time_for_more(b, view, spare);
		}
		next = fitset_backfill(&b->open, j, plan_free(plan), spare,
				       within);
		if (fits)
			fitset_remove(&b->open, j);
	}
}

static void set_timer(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	usec_t next = heap_first_key(&b->starts);

	if (b->wake <= view->now)
		b->wake = USEC_MAX;
	if (b->unset && b->wake != USEC_MAX)
		plan_wake(plan, b->wake, BECAUSE(next_start));
	b->unset = false;
	if (next < b->wake && next > view->now) {
		plan_wake(plan, next, BECAUSE(next_start));
		b->wake = next;
	}
}

static void backfill_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct backfill *b = (struct backfill *)policy;

	if (!view->nr_waiting && !b->rebuild) {
		b->given = false;
		backfill_forget_freed(b);
		return;
	}
	profile_trim(&b->profile, view->now);
	backfill_extend_estimates(b, view);
	if (b->rebuild)
		backfill_plan_anew(b, view);
	else if (b->given && view->now - b->looked >= b->interval)
		backfill_improve(b, view);
	else if (b->given)
		backfill_improve_now(b, view);
	b->given = false;
	start_due(b, view, plan);
	reserve_more(b, view, plan);
	if (b->open.nr && plan_free(plan) > 0)
		fill_gaps(b, view, plan);
	set_timer(b, view, plan);
}

/* The slot of a job of kind k: jobs and slots of a kind are in the same order. */
static usec_t slot_in(const struct backfill *b, const struct alike *k,
		      const struct job *job)
{
	const struct job *j = k->head;
	size_t i = 0;

	for (; j && j != job; i++)
		j = alikes_next(&b->kinds, j);
	return j && i < k->nr ? k->slot[k->first + i] : USEC_MAX;
}

static usec_t slot_of(const struct backfill *b, const struct job *job)
{
	usec_t slot = USEC_MAX;

	for (size_t n = 0; n < b->kinds.nr && slot == USEC_MAX; n++)
		if (b->kinds.kind[n]->size == job->size &&
		    b->kinds.kind[n]->length == job_length(job))
			slot = slot_in(b, b->kinds.kind[n], job);
	return slot;
}

static void backfill_explain(const struct policy *policy,
			     const struct view *view, const struct job *job,
			     struct plan *plan)
{
	const struct backfill *b = (const struct backfill *)policy;

	if (is_reserved(b, job))
		plan_defer(plan, job,
			   BECAUSE(reserved_for, .size = job->size,
				   .at = slot_of(b, job),
				   .free = view->nr_free));
	else
		plan_defer(plan, job,
			   BECAUSE(would_delay, .size = job->size,
				   .reservations = b->nr_reserved,
				   .free = view->nr_free));
}

#define DETAILS                                                              \
	"When a job ends before its estimate, jobs with reservations move, " \
	"in the order of the queue, to the earliest start that is possible " \
	"with the others where they are; no job gets a later one. With "     \
	"slots=kinds, jobs of the same size and estimate are "               \
	"interchangeable: they have their reservations in common, the "      \
	"earliest for the first job in the queue. Then, kind by kind, each " \
	"gap is taken by the latest reservation that gets earlier by it, "   \
	"which is much quicker if the queue is long. A job that outruns "    \
	"its estimate is assumed to go on for as long again, and all is "    \
	"planned anew. A job without an estimate counts as one that never "  \
	"ends. With k steps in the profile of free processors an arrival "   \
	"or start costs O(k/64 + log n), and an early end up to that for "   \
	"each job, or kind, that is small enough for what came free."

const struct policy_ops policy_backfill = {
	.name = "backfill",
	.summary = "reservations for the first n; others start if none is late",
	.source = "Lifka 1995; Mu'alem and Feitelson 2001",
	.details = DETAILS,
	.params = depth_params,
	.flags = POLICY_ESTIMATES,
	.create = backfill_create,
	.event = backfill_event,
	.decide = backfill_decide,
	.explain = backfill_explain,
	.save = backfill_save,
	.load = backfill_load,
	.destroy = backfill_destroy,
};

const struct policy_ops policy_conservative = {
	.name = "conservative",
	.summary = "every job has a reservation, which only ever gets better",
	.source = "Mu'alem and Feitelson 2001",
	.details = DETAILS,
	.params = conservative_params,
	.flags = POLICY_ESTIMATES,
	.create = conservative_create,
	.event = backfill_event,
	.decide = backfill_decide,
	.explain = backfill_explain,
	.save = backfill_save,
	.load = backfill_load,
	.destroy = backfill_destroy,
};
