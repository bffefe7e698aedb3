/* ranked.c - passes over a queue ordered by score, see ranked.h */
#include "policy/ranked.h"

#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/shadow.h"

const char *const ranked_fits[] = { "block", "skip", "easy", NULL };

static const struct reason by_score = {
	"it has the highest score (%f) of those that fit and needs %n of %n "
	"free processors"
};
static const struct reason in_gap = {
	"it fits %n free processors and does not delay job %j, whose score is "
	"higher, beyond %t"
};
static const struct reason waits = {
	"it needs %n processors of which %n are free, and %n jobs have a "
	"higher score"
};

void ranked_init(struct ranked *r, enum ranked_fit fit)
{
	*r = (struct ranked){ .fit = fit, .blocks_from = INFINITY };
}

void ranked_clear(struct ranked *r)
{
	ends_clear(&r->ends);
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
	if (r->nr)
		qsort(r->entry, r->nr, sizeof(*r->entry), by_rank);
}

static bool start(struct ranked *r, const struct view *view, struct plan *plan,
		  const struct job *job, const struct reason *why, int64_t a,
		  int64_t b, int64_t c)
{
	if (!plan_start(plan, job, job->size, why, a, b, c))
		return false;
	ends_insert(&r->ends, job->ix, shadow_end(view, job), job->size);
	return true;
}

/* Behind head, who ends before it can start or fits beside it. */
static void backfill(struct ranked *r, const struct view *view,
		     struct plan *plan, size_t next, const struct job *head)
{
	struct shadow s = shadow_of(&r->ends, view, head, plan_free(plan));

	for (; next < r->nr && plan_free(plan) > 0; next++) {
		const struct job *job = r->entry[next].job;
		bool in_time = shadow_end(view, job) <= s.at;

		if (job->size <= plan_free(plan) &&
		    (in_time || job->size <= s.spare) &&
		    start(r, view, plan, job, &in_gap, plan_free(plan),
			  head->id, s.at) &&
		    !in_time)
			s.spare -= job->size;
	}
}

void ranked_decide(struct ranked *r, const struct view *view, struct plan *plan,
		   ranked_score *score, const void *ctx)
{
	rank(r, view, score, ctx);
	for (size_t i = 0; i < r->nr && plan_free(plan) > 0; i++) {
		const struct ranked_entry *e = &r->entry[i];

		if (e->job->size <= plan_free(plan) &&
		    start(r, view, plan, e->job, &by_score,
			  (int64_t)(fmin(e->score, 1e12) * 1000), e->job->size,
			  plan_free(plan)))
			continue;
		if (r->fit == RANKED_EASY)
			backfill(r, view, plan, i + 1, e->job);
		if (r->fit != RANKED_SKIP || e->score >= r->blocks_from)
			break;
	}
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
	plan_defer(plan, job, &waits, job->size, view->nr_free, before);
}
