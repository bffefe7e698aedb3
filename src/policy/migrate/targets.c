/* targets.c - see targets.h */
#include "policy/migrate/targets.h"

#include <stdlib.h>

#include "core/xalloc.h"

/* Measured loads are not exact: less of a core than this counts as no load. */
#define NOISE 0.3

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->delay != y->delay)
		return x->delay < y->delay ? -1 : 1;
	if (x->ranks != y->ranks)
		return x->ranks < y->ranks ? -1 : 1;
	return x->host->ix < y->host->ix ? -1 : x->host->ix > y->host->ix;
}

static void rate(struct target *t)
{
	t->delay = host_delay(t->host, t->host->load + t->ranks);
}

void targets_make(struct targets *t, const struct view *view,
		  const struct plan *plan, const struct flights *f)
{
	targets_make_among(t, view, plan, f, NULL);
}

/* Bytes that each host has promised. */
static uint64_t *find_promised(const struct view *view, const struct plan *plan,
			       const struct flights *f)
{
	uint64_t *promised = xcalloc(view->nr_hosts + 1, sizeof(*promised));

	flights_promise(f, view, promised);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_entry *e = &plan->entry[i];

		for (uint32_t k = 0; e->type == PLAN_START && k < e->n; k++)
			promised[e->hosts[k]] += e->job->memory;
	}
	return promised;
}

static uint64_t memory_left(const struct host *h, uint64_t promised)
{
	if (!h->memory)
		return UINT64_MAX;
	return h->memory_free > promised ? h->memory_free - promised : 0;
}

void targets_make_among(struct targets *t, const struct view *view,
			const struct plan *plan, const struct flights *f,
			const bool *among)
{
	const struct host *h;
	uint64_t *promised;

	if (t->made)
		return;
	t->made = true;
	t->now = view->now;
	promised = find_promised(view, plan, f);
	t->target = xcalloc(view->nr_hosts + 1, sizeof(*t->target));
	for_each_host (h, view) {
		struct target *one = &t->target[t->nr];
		uint32_t room = plan_room(plan, h);

		if (!room || h->owner_active)
			continue;
		if (among && (!among[h->ix] || plan_active(plan, h)))
			continue;
		*one = (struct target){ .host = h,
					.ranks = plan_active(plan, h),
					.room = among ? 1 : room,
					.memory = memory_left(
						h, promised[h->ix]) };
		rate(one);
		t->nr++;
	}
	free(promised);
	qsort(t->target, t->nr, sizeof(*t->target), compare_targets);
}

void targets_clear(struct targets *t)
{
	free(t->target);
	*t = (struct targets){ 0 };
}

bool target_gentle(const struct target *one)
{
	return !one->ranks ||
	       one->host->load + one->ranks + 1 <= one->host->cores + NOISE;
}

static bool takes(const struct targets *t, const struct target *one,
		  const struct job *job, bool gentle)
{
	return one->room && host_outlasts(one->host, job, t->now) &&
	       job->memory <= one->memory && (!gentle || target_gentle(one));
}

static struct target *best_from(const struct targets *t, size_t i,
				const struct job *job, uint32_t not,
				bool gentle)
{
	for (; i < t->nr; i++) {
		struct target *one = &t->target[i];

		if (one->host->ix != not &&takes(t, one, job, gentle))
			return one;
	}
	return NULL;
}

struct target *targets_best(const struct targets *t, const struct job *job,
			    uint32_t not, bool gentle)
{
	return best_from(t, 0, job, not, gentle);
}

struct target *targets_next(const struct targets *t, const struct target *after,
			    const struct job *job, uint32_t not, bool gentle)
{
	return best_from(t, (size_t)(after - t->target) + 1, job, not, gentle);
}

struct target *targets_at(const struct targets *t, const struct job *job,
			  uint32_t host, bool gentle)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->target[i].host->ix == host)
			return takes(t, &t->target[i], job, gentle)
				       ? &t->target[i]
				       : NULL;
	return NULL;
}

void targets_take(struct targets *t, struct target *one, const struct job *job)
{
	size_t i = (size_t)(one - t->target);
	struct target taken = *one;

	taken.ranks++;
	taken.room--;
	if (taken.memory != UINT64_MAX)
		taken.memory -= job->memory;
	rate(&taken);
	for (; i + 1 < t->nr && compare_targets(&t->target[i + 1], &taken) < 0;
	     i++)
		t->target[i] = t->target[i + 1];
	t->target[i] = taken;
}
