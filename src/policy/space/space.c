/* space.c - what Ismail's space-sharing policies have in common */
#include "policy/space/space.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void *space_new(size_t size, const struct policy_setup *setup)
{
	struct space *s = xcalloc(1, size);

	s->order = (enum space_order)setup->ops->variant;
	return s;
}

int space_create(const struct policy_setup *setup, struct policy **ret,
		 struct error *err)
{
	struct space *s = space_new(sizeof(*s), setup);

	*ret = &s->policy;
	return 0;
}

void space_destroy(struct policy *policy)
{
	struct space *s = (struct space *)policy;

	if (!s)
		return;
	fitset_clear(&s->waiting);
	free(s);
}

int64_t space_key(enum space_order order, const struct job *job)
{
	int64_t demand;

	switch (order) {
	case SPACE_ARRIVAL:
		return 0;
	case SPACE_LARGEST:
		return -(int64_t)job->size;
	case SPACE_SMALLEST:
		return job->size;
	case SPACE_LEAST_DEMAND:
		return __builtin_mul_overflow(job->size, job->estimate, &demand)
			       ? INT64_MAX
			       : demand;
	case SPACE_SHORTEST:
		return job->estimate;
	case SPACE_LONGEST:
		return -job->estimate;
	}
	return 0;
}

void space_event(struct policy *policy, const struct view *view,
		 const struct event *event)
{
	struct space *s = (struct space *)policy;

	switch (event->type) {
	case EVENT_ARRIVE:
	case EVENT_REQUEUE:
		fitset_insert(&s->waiting, event->job,
			      space_key(s->order, event->job));
		break;
	case EVENT_START:
	case EVENT_END:
		fitset_remove(&s->waiting, event->job);
		break;
	default:
		break;
	}
}

uint32_t space_allows(struct plan *plan, const struct job *job)
{
	uint32_t have = job->state == JOB_WAITING ? 0 : job->n;
	int64_t more = job->size - have;

	if (more > plan_free(plan))
		more = plan_free(plan);
	if (more < 1)
		return 0;
	return plan_allows(plan, job, have + (uint32_t)more,
			   have ? have + 1 : job->min_size);
}

bool space_start(struct space *s, struct plan *plan, const struct job *job,
		 uint32_t n, struct because why)
{
	if (!plan_start(plan, job, n, why))
		return false;
	fitset_remove(&s->waiting, job);
	return true;
}

void space_first_fit(struct space *s, struct plan *plan)
{
	REASON(fits,
	       "it is the first job in the queue's order that fits: it asks "
	       "for {size} of {free} free {free:processor|processors}",
	       size, free);
	const struct job *job, *passed = NULL;

	/*
	 * A job that was too large for one search is too large for the next
	 * one, and one that would run into a reservation still would.
	 */
	while ((job = fitset_fit(&s->waiting, passed, plan_free(plan))))
		if (!space_start(s, plan, job, job->size,
				 BECAUSE(fits, .size = job->size,
					 .free = plan_free(plan))))
			passed = job;
}

int space_limit_read(const struct params *params, struct space_limit *ret,
		     struct error *err)
{
	const char *text = params_text(params, "ffmax");
	struct space_limit limit = { .kind = SPACE_F1 };
	char *end;

	if (!strcmp(text, "f2")) {
		limit.kind = SPACE_F2;
		limit.number = params_real(params, "r");
	} else if (strcmp(text, "f1") != 0) {
		limit.kind = SPACE_FIXED;
		limit.number = strtod(text, &end);
		if (end == text || *end ||
		    !(limit.number >= 1 && limit.number <= 1e9))
			return error_set(err, -EINVAL,
					 "ffmax=%s: must be f1, f2 or a "
					 "number from 1 on",
					 text);
	}
	*ret = limit;
	return 0;
}

static double mean_folding(const struct view *view)
{
	int64_t asked = 0, used = 0;
	const struct job *job;

	for_each_running(job, view)
	{
		asked += job->size;
		used += job->n;
	}
	return used ? (double)asked / (double)used : 0;
}

double space_limit_now(const struct space_limit *limit, const struct view *view)
{
	int64_t procs = view->nr_procs > 0 ? view->nr_procs : 1;
	double f = (double)((view->demand + procs - 1) / procs);

	if (limit->kind == SPACE_FIXED)
		return limit->number;
	if (limit->kind == SPACE_F2)
		f -= (1 - limit->number) * mean_folding(view);
	return f > 1 ? f : 1;
}

int64_t space_limit_size(double ffmax, int64_t free)
{
	/* Slightly more, so that 3 * (1/3 of 64) is not 63. */
	return free > 0 ? (int64_t)floor(ffmax * (double)free + 1e-9) : 0;
}

static int64_t sum_of(const struct space_share *share, size_t nr)
{
	int64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += share[i].n;
	return sum;
}

int64_t space_share_trim(struct space_share *share, size_t nr, int64_t total)
{
	int64_t left = total - sum_of(share, nr);

	for (; left < 0; left++) {
		struct space_share *most = NULL;

		for (size_t i = 0; i < nr; i++)
			if (share[i].n > share[i].low &&
			    (!most || share[i].n >= most->n))
				most = &share[i];
		if (!most)
			break;
		most->n--;
	}
	return left;
}

int64_t space_share_fill(struct space_share *share, size_t nr, int64_t left)
{
	while (left > 0) {
		/* the least that any of them can still take */
		uint32_t room = UINT32_MAX;
		int64_t hungry = 0, each;

		for (size_t i = 0; i < nr; i++)
			if (share[i].n < share[i].high) {
				hungry++;
				if (share[i].high - share[i].n < room)
					room = share[i].high - share[i].n;
			}
		if (!hungry)
			break;
		/* Do several whole rounds at once, as long as all take part in each. */
		each = left / hungry < room ? left / hungry : room;
		for (size_t i = 0; i < nr && left > 0; i++)
			if (share[i].n < share[i].high) {
				share[i].n += each ? (uint32_t)each : 1;
				left -= each ? each : 1;
			}
	}
	return left;
}
