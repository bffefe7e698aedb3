/*
 * easy.c - EASY backfilling: one reservation, for the head of the queue
 *
 * A pass costs O(log n) for each job it starts and for the head's shadow time;
 * it does not walk the queue of n jobs.
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/ends.h"
#include "policy/fitset.h"
#include "policy/policy.h"

enum { SORT_FCFS, SORT_SJF, SORT_SMALLEST, SORT_LARGEST };

struct easy {
	struct policy base;
	struct fitset queue; /* by submit: who is next */
	struct fitset fill;  /* another order of backfilling, if any */
	struct ends ends;    /* of running jobs, by their estimates */
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

static const struct reason first = {
	"it is first in the queue and needs %n of %n free processors"
};
static const struct reason ends_before = {
	"it fits %n free processors and ends by its estimate at %t, before job "
	"%j, the first in the queue, can start"
};
static const struct reason in_spare = {
	"it fits %n free processors, of which %n will be left over when job %j, "
	"the first in the queue, starts"
};
static const struct reason head_waits = {
	"it is first in the queue, needs %n processors of which %n are free, "
	"and can start at %t if running jobs keep to their estimates"
};
static const struct reason too_large = {
	"it needs %n processors of which %n are free, and job %j is first in "
	"the queue"
};
static const struct reason would_delay = {
	"on its %n processors it would still run at %t, when job %j, the first "
	"in the queue, is to start"
};

static int easy_create(const struct policy_setup *setup, struct policy **ret,
		       struct error *err)
{
	static const enum policy_order order[] = {
		ORDER_ENDS_ARRIVALS_PASS,
		ORDER_ARRIVALS_FIRST_PASS_EACH,
		ORDER_ENDS_FIRST_PASS_EACH,
	};
	struct easy *e = xcalloc(1, sizeof(*e));

	e->base.order = order[params_choice(setup->params, "order")];
	e->sort = params_choice(setup->params, "fill");
	*ret = &e->base;
	return 0;
}

static void easy_destroy(struct policy *policy)
{
	struct easy *e = (struct easy *)policy;

	fitset_clear(&e->queue);
	fitset_clear(&e->fill);
	ends_clear(&e->ends);
	free(e);
}

static int64_t fill_key(const struct easy *e, const struct job *job)
{
	switch (e->sort) {
	case SORT_SJF:
		return job->estimate ? job->estimate : USEC_MAX;
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

static usec_t add_time(usec_t a, usec_t b)
{
	return b > USEC_MAX - a ? USEC_MAX : a + b;
}

/* When job ends if it starts now. */
static usec_t would_end(const struct view *view, const struct job *job)
{
	return job->estimate ? add_time(view->now, job->estimate) : USEC_MAX;
}

static void easy_event(struct policy *policy, const struct view *view,
		       const struct event *event)
{
	struct easy *e = (struct easy *)policy;

	switch (event->type) {
	case EVENT_REQUEUE:
		ends_remove(&e->ends, event->job->ix);
		enqueue(e, event->job);
		break;
	case EVENT_ARRIVE:
		enqueue(e, event->job);
		break;
	case EVENT_START:
		dequeue(e, event->job);
		ends_insert(&e->ends, event->job->ix, event->job->est_end,
			    event->n);
		break;
	case EVENT_END:
		dequeue(e, event->job);
		ends_remove(&e->ends, event->job->ix);
		break;
	default:
		break;
	}
}

static void start(struct easy *e, const struct view *view, struct plan *plan,
		  const struct job *job, const struct reason *why, int64_t a,
		  int64_t b, int64_t c)
{
	plan_start(plan, job, job->size, NULL, why, a, b, c);
	dequeue(e, job);
	ends_insert(&e->ends, job->ix, would_end(view, job), job->size);
}

/* What the head's reservation leaves to others. */
struct gap {
	const struct job *head;
	usec_t shadow; /* when the head can start */
	int64_t spare; /* processors it then leaves over */
};

static struct gap find_gap(const struct easy *e, const struct view *view,
			   const struct job *head, int64_t free)
{
	struct gap g = { .head = head };

	g.shadow = ends_reach(&e->ends, head->size - free);
	if (g.shadow < view->now)
		g.shadow = view->now;
	g.spare = free + ends_by(&e->ends, g.shadow) - head->size;
	if (g.spare < 0)
		g.spare = 0;
	return g;
}

static void backfill(struct easy *e, const struct view *view, struct plan *plan,
		     struct gap *g)
{
	const struct fitset *from = e->sort == SORT_FCFS ? &e->queue : &e->fill;
	const struct job *j;

	/* The head itself is in the set, but does not fit; and who did not fit
	 * before does not do so now, so each search starts anew. */
	while ((j = fitset_backfill(from, NULL, plan_free(plan), g->spare,
				    g->shadow - view->now))) {
		if (would_end(view, j) <= g->shadow) {
			start(e, view, plan, j, &ends_before, plan_free(plan),
			      would_end(view, j), g->head->id);
		} else {
			start(e, view, plan, j, &in_spare, plan_free(plan),
			      g->spare, g->head->id);
			g->spare -= j->size;
		}
	}
}

static void easy_decide(struct policy *policy, const struct view *view,
			struct plan *plan)
{
	struct easy *e = (struct easy *)policy;
	const struct job *head;
	struct gap gap;

	while ((head = fitset_first(&e->queue)) &&
	       head->size <= plan_free(plan))
		start(e, view, plan, head, &first, head->size, plan_free(plan),
		      0);
	if (!head || e->queue.nr < 2 || plan_free(plan) <= 0)
		return;
	gap = find_gap(e, view, head, plan_free(plan));
	backfill(e, view, plan, &gap);
}

static void easy_explain(const struct policy *policy, const struct view *view,
			 const struct job *job, struct plan *plan)
{
	const struct easy *e = (const struct easy *)policy;
	const struct job *head = fitset_first(&e->queue);
	struct gap g = find_gap(e, view, head, view->nr_free);

	if (head == job)
		plan_defer(plan, job, &head_waits, job->size, view->nr_free,
			   g.shadow);
	else if (job->size > view->nr_free)
		plan_defer(plan, job, &too_large, job->size, view->nr_free,
			   head->id);
	else
		plan_defer(plan, job, &would_delay, job->size, g.shadow,
			   head->id);
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
