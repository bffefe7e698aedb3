/*
 * backfill.c - backfilling with any number of reservations
 *
 * depth < 0: everybody has one (conservative); 0: nobody; 1: the head alone,
 * which is EASY; n: the first n of the queue.
 *
 * A job with a reservation keeps it or gets a better one; never a worse one
 * while the estimates hold.  What is planned is a profile of free processors
 * over time, from which running jobs (until their estimated ends) and
 * reservations are taken:
 *
 *	procs |RRRRRRR111111
 *	      |RRRRR222222        R running, 1 and 2 reserved
 *	      +--------------> time
 *
 * When a job ends before its estimate, the queue is gone through once, in
 * order, and each job moves to the earliest start there is with the others
 * where they are.
 *
 * Cost of a pass over n waiting jobs and k steps of the profile: O(k/64 + 64)
 * for each job that arrives or starts; after an early end, at most that for
 * each reservation, but jobs larger than anything that has become free are
 * passed over in O(log n).
 */
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/xalloc.h"
#include "policy/ends.h"
#include "policy/fitset.h"
#include "policy/policy.h"
#include "policy/profile.h"

struct backfill {
	struct policy base;
	int64_t depth;		/* reservations; < 0: no limit */
	struct fitset reserved; /* jobs with a reservation, by submit */
	struct fitset open;	/* those without */
	struct heap starts;	/* ix of reserved jobs, by start */
	usec_t *start;		/* by ix */
	size_t nr_start;
	struct ends ends; /* running jobs, by what is believed of their ends */
	struct profile profile;
	usec_t freed; /* processors came free since the last look between then
			 and here; 0: none */
	bool given;   /* a job ended early: look */
	bool rebuild; /* the profile does not hold any more */
	usec_t wake;  /* a timer is set for then */
};

static const struct reason its_turn = {
	"its reservation has come: %n processors, %n free"
};
static const struct reason fills = {
	"it fits %n free processors now without delaying any of %n reservations"
};
static const struct reason reserved_for = {
	"its %n processors are reserved for it from %t on; %n are free now"
};
static const struct reason would_delay = {
	"starting it now on %n processors would delay one of %n jobs with "
	"reservations; %n are free"
};
static const struct reason next_start = { "the next reservation begins" };

static const char *const orders[] = { "pass", "pyss", "each", NULL };

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
	ORDER_PARAM,
	{ .name = NULL },
};

static const struct param conservative_params[] = {
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

	b->base.order = order[params_choice(setup->params, "order")];
	b->depth = depth;
	b->wake = USEC_MAX;
	b->rebuild = true;
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

	fitset_clear(&b->reserved);
	fitset_clear(&b->open);
	heap_clear(&b->starts);
	ends_clear(&b->ends);
	profile_clear(&b->profile);
	free(b->start);
	free(b);
}

static usec_t add_time(usec_t a, usec_t b)
{
	return b > USEC_MAX - a ? USEC_MAX : a + b;
}

static usec_t length_of(const struct job *job)
{
	return job->estimate ? job->estimate : USEC_MAX;
}

static void set_start(struct backfill *b, const struct job *job, usec_t at)
{
	if (job->ix >= b->nr_start) {
		b->nr_start = 2 * (size_t)job->ix + 64;
		b->start =
			xreallocarray(b->start, b->nr_start, sizeof(*b->start));
	}
	b->start[job->ix] = at;
	heap_set(&b->starts, job->ix, at);
}

static void note_freed(struct backfill *b, usec_t until)
{
	if (until > b->freed)
		b->freed = until;
}

/* Give job, which is open, the earliest reservation there is. */
static void reserve(struct backfill *b, const struct view *view,
		    const struct job *job)
{
	usec_t at = profile_earliest(&b->profile, view->now, USEC_MAX,
				     length_of(job), job->size);

	fitset_remove(&b->open, job);
	fitset_insert(&b->reserved, job, job->submit);
	set_start(b, job, at);
	if (at != USEC_MAX)
		profile_add(&b->profile, at, add_time(at, length_of(job)),
			    -(int64_t)job->size);
}

static void forget_reservation(struct backfill *b, const struct job *job)
{
	fitset_remove(&b->reserved, job);
	heap_remove(&b->starts, job->ix);
}

/* Give processors back; whoever is still to start may have them. */
static void give(struct backfill *b, usec_t from, usec_t to, uint32_t n)
{
	profile_add(&b->profile, from, to, n);
	note_freed(b, to);
	b->given = true;
}

static void job_ended(struct backfill *b, const struct view *view,
		      const struct job *job)
{
	usec_t start;

	if (fitset_has(&b->reserved, job)) { /* cancelled */
		start = b->start[job->ix];
		forget_reservation(b, job);
		if (start != USEC_MAX)
			give(b, start, add_time(start, length_of(job)),
			     job->size);
	} else if (fitset_has(&b->open, job)) {
		fitset_remove(&b->open, job);
	} else {
		usec_t end = ends_at(&b->ends, job->ix);

		ends_remove(&b->ends, job->ix);
		if (end > view->now)
			give(b, view->now, end, job->n);
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
	case EVENT_START: /* adopted, or resumed from a record */
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

/*
 * Jobs that outran their estimates: believe that each goes on for as long
 * again as it has run (at least a second).
 */
static void extend_estimates(struct backfill *b, const struct view *view)
{
	uint32_t ix;

	while ((ix = ends_first(&b->ends)) != UINT32_MAX &&
	       ends_at(&b->ends, ix) < view->now) {
		const struct job *job = view_job(view, ix);
		usec_t more = view->now - job->start;

		if (more < USEC_PER_SEC)
			more = USEC_PER_SEC;
		ends_insert(&b->ends, ix, add_time(view->now, more), job->n);
		b->rebuild = true;
	}
}

/* The profile of running jobs and bookings, without reservations. */
static void refill_profile(struct backfill *b, const struct view *view)
{
	const struct job *j;

	profile_init(&b->profile, view->now, view->nr_procs);
	for_each_running(j, view) if (j->state == JOB_RUNNING)
		profile_add(&b->profile, view->now, ends_at(&b->ends, j->ix),
			    -(int64_t)j->n);
	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		profile_add(&b->profile, r->from, r->to, -(int64_t)r->procs);
	}
}

/* Plan everything anew, in the order of the queue. */
static void plan_anew(struct backfill *b, const struct view *view)
{
	const struct job *j;

	refill_profile(b, view);
	for (j = fitset_first(&b->reserved); j;
	     j = fitset_next(&b->reserved, j)) {
		usec_t at = profile_earliest(&b->profile, view->now, USEC_MAX,
					     length_of(j), j->size);

		set_start(b, j, at);
		if (at != USEC_MAX)
			profile_add(&b->profile, at, add_time(at, length_of(j)),
				    -(int64_t)j->size);
	}
	b->rebuild = b->given = false;
	b->freed = 0;
}

static void move_reservation(struct backfill *b, const struct job *job,
			     usec_t to)
{
	usec_t from = b->start[job->ix], length = length_of(job);

	if (from != USEC_MAX)
		profile_add(&b->profile, from, add_time(from, length),
			    job->size);
	profile_add(&b->profile, to, add_time(to, length), -(int64_t)job->size);
	set_start(b, job, to);
}

/*
 * Once through the queue: who can start earlier does.  A better start has to
 * lie before what was freed ends, for nothing else has changed since the last
 * time; and it needs as many processors free as the job has.
 */
static void improve(struct backfill *b, const struct view *view)
{
	usec_t freed = b->freed, moved = 0;
	int64_t most = profile_max(&b->profile, view->now, freed);
	const struct job *j = NULL;

	while ((j = fitset_fit(&b->reserved, j, most))) {
		usec_t old = b->start[j->ix], at;

		if (old <= view->now)
			continue;
		at = profile_earliest(&b->profile, view->now, old, length_of(j),
				      j->size);
		if (at >= old)
			continue;
		move_reservation(b, j, at);
		old = add_time(old, length_of(j));
		if (old > moved)
			moved = old;
		if (old > freed)
			freed = old;
		most = profile_max(&b->profile, view->now, freed);
	}
	b->freed = moved;
	b->given = false;
}

static void start_job(struct backfill *b, const struct view *view,
		      struct plan *plan, const struct job *job,
		      const struct reason *why, int64_t a, int64_t c)
{
	plan_start(plan, job, job->size, NULL, why, a, c, 0);
	ends_insert(&b->ends, job->ix, add_time(view->now, length_of(job)),
		    job->size);
}

/* Start those whose reservation has come. */
static void start_due(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	while (heap_first_key(&b->starts) <= view->now) {
		const struct job *j = view_job(view, heap_pop(&b->starts));

		if (j->size > plan_free(plan)) {
			/* Processors that are lost, not late: plan anew. */
			heap_set(&b->starts, j->ix, b->start[j->ix]);
			b->rebuild = true;
			break;
		}
		start_job(b, view, plan, j, &its_turn, j->size,
			  plan_free(plan));
		forget_reservation(b, j);
	}
}

static bool may_reserve(const struct backfill *b)
{
	return b->depth < 0 || b->reserved.nr < b->depth;
}

/* The queue moves up: reservations for those who have none. */
static void reserve_more(struct backfill *b, const struct view *view,
			 struct plan *plan)
{
	const struct job *j;

	while (may_reserve(b) && (j = fitset_first(&b->open))) {
		reserve(b, view, j);
		start_due(b, view, plan);
		if (b->rebuild)
			break;
	}
}

static usec_t time_for(const struct backfill *b, const struct view *view,
		       uint32_t n)
{
	usec_t until = profile_until(&b->profile, view->now, n);

	return until == USEC_MAX ? USEC_MAX : until - view->now;
}

/*
 * Those without a reservation start if they delay none: if their processors
 * stay free for as long as they take.  Looked at are only those that fit for
 * ever, or as long as any processor stays free.
 */
static void fill(struct backfill *b, const struct view *view, struct plan *plan)
{
	const struct job *j = NULL, *next;
	int64_t spare = profile_min(&b->profile, view->now, USEC_MAX);
	usec_t within = time_for(b, view, 1);

	j = fitset_backfill(&b->open, NULL, plan_free(plan), spare, within);
	for (; j; j = next) {
		bool fits = j->size <= plan_free(plan) &&
			    length_of(j) <= time_for(b, view, j->size);

		if (fits) {
			profile_add(&b->profile, view->now,
				    add_time(view->now, length_of(j)),
				    -(int64_t)j->size);
			spare = profile_min(&b->profile, view->now, USEC_MAX);
			within = time_for(b, view, 1);
			start_job(b, view, plan, j, &fills, plan_free(plan),
				  b->reserved.nr);
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
	if (next < b->wake && next > view->now) {
		plan_wake(plan, next, &next_start, 0, 0, 0);
		b->wake = next;
	}
}

static void backfill_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct backfill *b = (struct backfill *)policy;

	if (!view->nr_waiting && !b->rebuild) {
		b->given = false;
		b->freed = 0;
		return;
	}
	profile_trim(&b->profile, view->now);
	extend_estimates(b, view);
	if (b->rebuild)
		plan_anew(b, view);
	else if (b->given)
		improve(b, view);
	start_due(b, view, plan);
	reserve_more(b, view, plan);
	if (b->open.nr && plan_free(plan) > 0)
		fill(b, view, plan);
	set_timer(b, view, plan);
}

static void backfill_explain(const struct policy *policy,
			     const struct view *view, const struct job *job,
			     struct plan *plan)
{
	const struct backfill *b = (const struct backfill *)policy;

	if (fitset_has(&b->reserved, job))
		plan_defer(plan, job, &reserved_for, job->size,
			   b->start[job->ix], view->nr_free);
	else
		plan_defer(plan, job, &would_delay, job->size, b->reserved.nr,
			   view->nr_free);
}

#define DETAILS                                                                \
	"A job that ends before its estimate lets every reservation, once "    \
	"in the order of the queue, move to the earliest start there is with " \
	"the others where they are; none gets worse.  A job that outruns its " \
	"estimate is believed to go on for as long again, and all is planned " \
	"anew.  A job without an estimate counts as one that never ends.  "    \
	"With n waiting jobs and k steps in the profile of free processors, "  \
	"an arrival or start costs O(k/64 + log n), an early end up to that "  \
	"for each reservation that is small enough for what came free."

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
	.destroy = backfill_destroy,
};
