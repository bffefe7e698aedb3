/* ranked.c - passes over a queue ordered by score, see ranked.h */
#include "policy/kit/ranked.h"

#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/kit/shadow.h"

const char *const ranked_fits[] = { "block", "skip", "easy", NULL };

REASON(by_score,
       "it has the highest score ({score:thousandths}) of those that fit "
       "and needs {size} of {free} free {free:processor|processors}",
       score, size, free);
REASON(in_gap,
       "it fits {free} free {free:processor|processors} and does not delay "
       "job {job}, whose score is higher, beyond {shadow:time}",
       free, job, shadow);
REASON(waits,
       "it needs {size} {size:processor|processors} of which {free} "
       "{free:is|are} free, and {before} {before:job has|jobs have} a "
       "higher score",
       size, free, before);

void ranked_init(struct ranked *r, enum ranked_fit fit)
{
	*r = (struct ranked){ .fit = fit };
}

void ranked_clear(struct ranked *r)
{
	ends_clear(&r->ends);
	fitset_clear(&r->queue);
	free(r->entry);
}

void ranked_event(struct ranked *r, const struct event *event)
{
	switch (event->type) {
	case EVENT_START:
		ends_insert(&r->ends, event->job->ix, event->job->est_end,
			    event->n);
		break;
	case EVENT_END:
	case EVENT_REQUEUE:
		ends_remove(&r->ends, event->job->ix);
		break;
	default:
		break;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct ranked_entry *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return job_before(x->job, y->job) ? -1 : 1;
}

static void swap(struct ranked_entry *a, struct ranked_entry *b)
{
	struct ranked_entry was = *a;

	*a = *b;
	*b = was;
}

/*
 * entry[0..nr) is a heap with the first in order at its top, except that i may be out
 * of place: move it down.
 */
static void sift_down(struct ranked *r, size_t i)
{
	struct ranked_entry *e = r->entry;

	for (size_t c = 2 * i + 1; c < r->nr; i = c, c = 2 * i + 1) {
		if (c + 1 < r->nr && by_rank(&e[c + 1], &e[c]) < 0)
			c++;
		if (by_rank(&e[i], &e[c]) <= 0)
			break;
		swap(&e[i], &e[c]);
	}
}

/* Put all waiting jobs into a heap, because only few of them are taken out. */
static void rank(struct ranked *r, const struct view *view, ranked_score *score,
		 const void *ctx)
{
	const struct job *job;

	r->nr = 0;
	for_each_waiting(job, view)
	{
		array_room(r->entry, r->nr, &r->cap);
		r->entry[r->nr++] =
			(struct ranked_entry){ job, score(ctx, view, job) };
	}
	for (size_t i = r->nr / 2; i-- > 0;)
		sift_down(r, i);
}

static void pop(struct ranked *r)
{
	r->entry[0] = r->entry[--r->nr];
	sift_down(r, 0);
}

static bool start_job(struct ranked *r, const struct view *view,
		      struct plan *plan, const struct job *job,
		      struct because why)
{
	if (!plan_start(plan, job, job->size, why))
		return false;
	ends_insert(&r->ends, job->ix, shadow_end(view, job), job->size);
	return true;
}

/* Start e if it fits. */
static bool start_first(struct ranked *r, const struct view *view,
			struct plan *plan, const struct ranked_entry *e)
{
	return e->job->size <= plan_free(plan) &&
	       start_job(
		       r, view, plan, e->job,
		       BECAUSE(by_score,
			       .score = (int64_t)(fmin(e->score, 1e12) * 1000),
			       .size = e->job->size, .free = plan_free(plan)));
}

/* May the job start now so that head can still start at its shadow time? */
static bool fits_behind(const struct view *view, const struct plan *plan,
			const struct shadow *s, const struct job *job)
{
	return job->size <= plan_free(plan) &&
	       (job->size <= s->spare || shadow_end(view, job) <= s->at);
}

static bool start_behind(struct ranked *r, const struct view *view,
			 struct plan *plan, struct shadow *s,
			 const struct job *head, const struct job *job)
{
	if (!fits_behind(view, plan, s, job) ||
	    !start_job(r, view, plan, job,
		       BECAUSE(in_gap, .free = plan_free(plan), .job = head->id,
			       .shadow = s->at)))
		return false;
	if (shadow_end(view, job) > s->at)
		s->spare -= job->size;
	return true;
}

/*
 * Only jobs that fit are put in order: one that does not fit now will not fit later in
 * this pass.
 */
static void backfill(struct ranked *r, const struct view *view,
		     struct plan *plan)
{
	const struct job *head = r->entry[0].job;
	struct shadow s = shadow_of(&r->ends, view, head, plan_free(plan));
	size_t nr = 0;

	for (size_t i = 1; i < r->nr; i++)
		if (fits_behind(view, plan, &s, r->entry[i].job))
			r->entry[nr++] = r->entry[i];
	if (nr)
		qsort(r->entry, nr, sizeof(*r->entry), by_rank);
	for (size_t i = 0; i < nr && plan_free(plan) > 0; i++)
		start_behind(r, view, plan, &s, head, r->entry[i].job);
}

static void skip(struct ranked *r, const struct view *view, struct plan *plan)
{
	size_t nr = 0;

	for (size_t i = 1; i < r->nr; i++)
		if (r->entry[i].job->size <= plan_free(plan))
			r->entry[nr++] = r->entry[i];
	if (nr)
		qsort(r->entry, nr, sizeof(*r->entry), by_rank);
	for (size_t i = 0; i < nr && plan_free(plan) > 0; i++)
		start_first(r, view, plan, &r->entry[i]);
}

void ranked_decide(struct ranked *r, const struct view *view, struct plan *plan,
		   ranked_score *score, const void *ctx)
{
	if (plan_free(plan) <= 0)
		return;
	rank(r, view, score, ctx);
	while (r->nr && start_first(r, view, plan, &r->entry[0]))
		pop(r);
	if (r->nr < 2 || plan_free(plan) <= 0)
		return;
	if (r->fit == RANKED_EASY)
		backfill(r, view, plan);
	else if (r->fit == RANKED_SKIP)
		skip(r, view, plan);
}

/* ---- orders that time does not change ---- */

void ranked_init_fixed(struct ranked *r, enum ranked_fit fit)
{
	ranked_init(r, fit);
	r->queue = (struct fitset)FITSET_BY_SIZE_INIT;
}

void ranked_event_fixed(struct ranked *r, const struct event *event,
			int64_t key)
{
	if (event->type == EVENT_ARRIVE || event->type == EVENT_REQUEUE)
		fitset_insert(&r->queue, event->job, key);
	else if (event->type == EVENT_START || event->type == EVENT_END)
		fitset_remove(&r->queue, event->job);
	ranked_event(r, event);
}

/*
 * Start jobs from the head of the queue while they fit; returns the first that does
 * not.
 */
static const struct job *start_heads(struct ranked *r, const struct view *view,
				     struct plan *plan, ranked_score *score,
				     const void *ctx)
{
	const struct job *job;

	while ((job = fitset_first(&r->queue))) {
		struct ranked_entry e = { job, score(ctx, view, job) };

		if (!start_first(r, view, plan, &e))
			return job;
		fitset_remove(&r->queue, job);
	}
	return NULL;
}

static void skip_fixed(struct ranked *r, const struct view *view,
		       struct plan *plan, ranked_score *score, const void *ctx)
{
	const struct job *job, *passed = NULL;

	while ((job = fitset_fit(&r->queue, passed, plan_free(plan)))) {
		struct ranked_entry e = { job, score(ctx, view, job) };

		if (start_first(r, view, plan, &e))
			fitset_remove(&r->queue, job);
		else
			passed = job;
	}
}

static void backfill_fixed(struct ranked *r, const struct view *view,
			   struct plan *plan, const struct job *head)
{
	struct shadow s = shadow_of(&r->ends, view, head, plan_free(plan));
	const struct job *job, *passed = NULL;

	while ((job = fitset_backfill(&r->queue, passed, plan_free(plan),
				      s.spare, s.at - view->now)))
		if (job != head && start_behind(r, view, plan, &s, head, job))
			fitset_remove(&r->queue, job);
		else
			passed = job;
}

void ranked_decide_fixed(struct ranked *r, const struct view *view,
			 struct plan *plan, ranked_score *score,
			 const void *ctx)
{
	const struct job *head;

	if (plan_free(plan) <= 0)
		return;
	head = start_heads(r, view, plan, score, ctx);
	if (!head || plan_free(plan) <= 0)
		return;
	if (r->fit == RANKED_EASY)
		backfill_fixed(r, view, plan, head);
	else if (r->fit == RANKED_SKIP)
		skip_fixed(r, view, plan, score, ctx);
}

void ranked_explain(const struct view *view, const struct job *job,
		    struct plan *plan, ranked_score *score, const void *ctx)
{
	struct ranked_entry me = { job, score(ctx, view, job) };
	const struct job *other;
	int64_t before = 0;

	for_each_waiting(other, view)
	{
		struct ranked_entry e = { other, score(ctx, view, other) };

		before += other != job && by_rank(&e, &me) < 0;
	}
	plan_defer(plan, job,
		   BECAUSE(waits, .size = job->size, .free = view->nr_free,
			   .before = before));
}
