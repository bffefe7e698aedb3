/*
 * easy.c - EASY backfilling: one reservation, for the head of the queue
 *
 * A pass costs O(log n) for each job it starts and for the head's shadow time;
 * it does not walk the queue of n jobs.  Two shortcuts make the most common passes
 * cheap:
 * - a job that arrives is put into the sets only if the pass leaves it waiting;
 * - while the head waits and nothing came but arrivals, the gap it leaves to
 *   others has only shrunk since the last pass.  A job that did not fit into it then
 *   does not fit now, so only a job that has arrived is tried.
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/kit/ends.h"
#include "policy/kit/fitset.h"
#include "policy/kit/policy.h"
#include "policy/kit/shadow.h"

enum { SORT_FCFS, SORT_SJF, SORT_SMALLEST, SORT_LARGEST };

/* What the head leaves to other jobs. */
struct gap {
	const struct job *head;
	struct shadow shadow;
};

struct easy {
	struct policy base;
	/* jobs that arrived since the last pass, in no set yet */
	const struct job **fresh;
	size_t nr_fresh, cap_fresh;
	/* that of the last pass; without a head it means nothing */
	struct gap gap;
	struct fitset queue; /* by submission */
	/* the order of backfilling, if it is another one */
	struct fitset fill;
	struct ends ends; /* running jobs, by their estimated ends */
	unsigned sort;
};

static const char *const orders[] = { "pass", "pyss", "each", NULL };
static const char *const sorts[] = { "fcfs", "sjf", "smallest", "largest",
				     NULL };

static const struct param params[] = {
	{ "order", PARAM_CHOICE, 0, 0, 0, orders,
	  "events of one instant: ends, then arrivals, then one pass; or, as "
	  "pyss does, a pass after each, arrivals first; or after each, ends "
	  "first" },
	{ "fill", PARAM_CHOICE, 0, 0, 0, sorts,
	  "order in which jobs behind the head are tried" },
	{ .name = NULL },
};

REASON(first,
       "it is first in the queue and needs {size} of {free} free "
       "{free:processor|processors}",
       size, free);
REASON(ends_before,
       "it fits {free} free {free:processor|processors} and ends by its "
       "estimate at {end:time}, before job {head}, the first in the queue, "
       "can start",
       free, end, head);
REASON(in_spare,
       "it fits {free} free {free:processor|processors}, of which {spare} "
       "will be left over when job {head}, the first in the queue, starts",
       free, spare, head);
REASON(head_waits,
       "it is first in the queue, needs {size} {size:processor|processors} "
       "of which {free} {free:is|are} free, and can start at {at:time} if "
       "running jobs keep to their estimates",
       size, free, at);
REASON(too_large,
       "it needs {size} {size:processor|processors} of which {free} "
       "{free:is|are} free, and job {head} is first in the queue",
       size, free, head);
REASON(would_delay,
       "on its {size} {size:processor|processors} it would still run at "
       "{at:time}, when job {head}, the first in the queue, is to start",
       size, at, head);

static int easy_create(const struct policy_setup *setup, struct policy **ret,
		       struct error *err)
{
	static const enum policy_order order[] = {
		ORDER_ENDS_ARRIVALS_PASS,
		ORDER_ARRIVALS_FIRST_PASS_EACH,
		ORDER_ENDS_FIRST_PASS_EACH,
	};
	struct easy *e = xcalloc(1, sizeof(*e));

	e->queue = e->fill = (struct fitset)FITSET_BY_SIZE_INIT;
	e->base.order = order[params_choice(setup->params, "order")];
	e->sort = params_choice(setup->params, "fill");
	*ret = &e->base;
	return 0;
}

static void easy_destroy(struct policy *policy)
{
	struct easy *e = (struct easy *)policy;

	free(e->fresh);
	fitset_clear(&e->queue);
	fitset_clear(&e->fill);
	ends_clear(&e->ends);
	free(e);
}

static int64_t fill_key(const struct easy *e, const struct job *job)
{
	switch (e->sort) {
	case SORT_SJF:
		return job_length(job);
	case SORT_SMALLEST:
		return job->size;
	default:
		return -(int64_t)job->size;
	}
}

static void enqueue(struct easy *e, const struct job *job)
{
	fitset_insert(&e->queue, job, job->submit);
	if (e->sort != SORT_FCFS)
		fitset_insert(&e->fill, job, fill_key(e, job));
}

static void dequeue(struct easy *e, const struct job *job)
{
	fitset_remove(&e->queue, job);
	if (e->sort != SORT_FCFS)
		fitset_remove(&e->fill, job);
}

static void forget_fresh(struct easy *e, const struct job *job)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nr_fresh; i++)
		if (e->fresh[i] != job)
			e->fresh[n++] = e->fresh[i];
	e->nr_fresh = n;
}

static void easy_event(struct policy *policy, const struct view *view,
		       const struct event *event)
{
	struct easy *e = (struct easy *)policy;

	if (event->type == EVENT_ARRIVE) {
		array_room(e->fresh, e->nr_fresh, &e->cap_fresh);
		e->fresh[e->nr_fresh++] = event->job;
		return;
	}
	e->gap.head = NULL;
	switch (event->type) {
	case EVENT_REQUEUE:
		ends_remove(&e->ends, event->job->ix);
		enqueue(e, event->job);
		break;
	case EVENT_START:
		forget_fresh(e, event->job);
		dequeue(e, event->job);
		ends_insert(&e->ends, event->job->ix, event->job->est_end,
			    event->n);
		break;
	case EVENT_END:
		forget_fresh(e, event->job);
		dequeue(e, event->job);
		ends_remove(&e->ends, event->job->ix);
		break;
	default:
		break;
	}
}

static bool start_job(struct easy *e, const struct view *view,
		      struct plan *plan, const struct job *job,
		      struct because why)
{
	if (!plan_start(plan, job, job->size, why))
		return false;
	dequeue(e, job);
	ends_insert(&e->ends, job->ix, shadow_end(view, job), job->size);
	return true;
}

/* Does job fit g?  Start it if so. */
static bool try(struct easy *e, const struct view *view, struct plan *plan,
		struct gap *g, const struct job *job)
{
	struct shadow *s = &g->shadow;
	usec_t end = shadow_end(view, job);

	if (job->size > plan_free(plan))
		return false;
	if (end <= s->at)
		return start_job(e, view, plan, job,
				 BECAUSE(ends_before, .free = plan_free(plan),
					 .end = end, .head = g->head->id));
	if (job->size > s->spare ||
	    !start_job(e, view, plan, job,
		       BECAUSE(in_spare, .free = plan_free(plan),
			       .spare = s->spare, .head = g->head->id)))
		return false;
	s->spare -= job->size;
	return true;
}

static void backfill(struct easy *e, const struct view *view, struct plan *plan,
		     struct gap *g)
{
	const struct fitset *from = e->sort == SORT_FCFS ? &e->queue : &e->fill;
	const struct job *j, *passed = NULL;

	/*
	 * A job that did not fit before does not fit now, so each search starts
	 * from the beginning. Exceptions are the head, if it fits and may not
	 * start, and jobs that would run into a reservation: the search starts
	 * behind these.
	 */
	while ((j = fitset_backfill(from, passed, plan_free(plan),
				    g->shadow.spare, g->shadow.at - view->now)))
		if (j == g->head || !try(e, view, plan, g, j))
			passed = j;
}

/* Put the jobs that the pass left waiting into the sets; head is before all of them. */
static void enqueue_fresh(struct easy *e, const struct job *head)
{
	for (size_t i = 0; i < e->nr_fresh; i++)
		if (!job_before(e->fresh[i], head))
			enqueue(e, e->fresh[i]);
	e->nr_fresh = 0;
}

/* Start jobs from the head while they fit; returns the new head. */
static const struct job *start_heads(struct easy *e, const struct view *view,
				     struct plan *plan)
{
	const struct job *head = TAILQ_FIRST(&view->waiting);

	for (; head && head->size <= plan_free(plan) &&
	       start_job(e, view, plan, head,
			 BECAUSE(first, .size = head->size,
					.free = plan_free(plan)));
	     head = TAILQ_NEXT(head, link))
		e->gap.head = NULL;
	return head;
}

static void easy_decide(struct policy *policy, const struct view *view,
			struct plan *plan)
{
	struct easy *e = (struct easy *)policy;
	const struct job *head = start_heads(e, view, plan);

	if (head && e->nr_fresh == 1 && e->gap.head == head &&
	    e->gap.shadow.at >= view->now) {
		if (!try(e, view, plan, &e->gap, e->fresh[0]))
			enqueue(e, e->fresh[0]);
		e->nr_fresh = 0;
		return;
	}
	e->gap.head = NULL;
	if (head)
		enqueue_fresh(e, head);
	e->nr_fresh = 0;
	if (!head || e->queue.nr < 2 || plan_free(plan) <= 0)
		return;
	e->gap = (struct gap){ head, shadow_of(&e->ends, view, head,
					       plan_free(plan)) };
	backfill(e, view, plan, &e->gap);
}

static void easy_explain(const struct policy *policy, const struct view *view,
			 const struct job *job, struct plan *plan)
{
	const struct easy *e = (const struct easy *)policy;
	const struct job *head = TAILQ_FIRST(&view->waiting);
	struct shadow s = shadow_of(&e->ends, view, head, view->nr_free);

	if (head == job)
		plan_defer(plan, job,
			   BECAUSE(head_waits, .size = job->size,
				   .free = view->nr_free, .at = s.at));
	else if (job->size > view->nr_free)
		plan_defer(plan, job,
			   BECAUSE(too_large, .size = job->size,
				   .free = view->nr_free, .head = head->id));
	else
		plan_defer(plan, job,
			   BECAUSE(would_delay, .size = job->size, .at = s.at,
				   .head = head->id));
}

const struct policy_ops policy_easy = {
	.name = "easy",
	.summary = "EASY: others may start early if the first is not delayed",
	.source = "Lifka 1995; event order of the golden schedules",
	.details =
		"Jobs start from the head of the queue while they fit.  The "
		"head's shadow time is the earliest instant at which, by the "
		"running jobs' estimated ends, it can start; what is free then "
		"beyond its need is spare.  Going down the queue, a job starts "
		"if it fits now and ends by its estimate before the shadow time "
		"or fits the spare processors, which it uses up.  A job without "
		"an estimate counts as one that never ends.  A pass costs "
		"O(log n) for each job it starts, and once more.",
	.params = params,
	.flags = POLICY_ESTIMATES,
	.create = easy_create,
	.event = easy_event,
	.decide = easy_decide,
	.explain = easy_explain,
	.destroy = easy_destroy,
};
