/* steps.c - see steps.h */
#include "policy/migrate/steps.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void steps_init(struct steps *s, uint32_t nr_hosts, double gain)
{
	*s = (struct steps){ .gain = gain };
	s->guests = xcalloc(nr_hosts + 1, sizeof(*s->guests));
	s->delay = xcalloc(nr_hosts + 1, sizeof(*s->delay));
}

void steps_clear(struct steps *s)
{
	targets_clear(&s->tried);
	free(s->guests);
	free(s->delay);
	free(s->place);
}

/* ---- how hosts are in a pass ---- */

static void set_delay(struct steps *s, const struct host *h)
{
	uint32_t n = s->guests[h->ix];

	s->delay[h->ix] = host_delay(h, h->load + (n ? n - 1 : 0));
}

void steps_survey(struct steps *s, const struct flights *flights,
		  const struct view *view, const struct plan *plan)
{
	const struct host *h;

	for_each_host (h, view)
		s->guests[h->ix] = plan_active(plan, h);
	for (size_t i = 0; i < flights->nr; i++)
		if (s->guests[flights->flight[i].from])
			s->guests[flights->flight[i].from]--;
	for_each_host (h, view)
		set_delay(s, h);
}

static void shift_rank(struct steps *s, const struct view *view, uint32_t from,
		       uint32_t to)
{
	s->guests[from]--;
	s->guests[to]++;
	set_delay(s, &view->hosts[from]);
	set_delay(s, &view->hosts[to]);
}

/* ---- the steps of a job ---- */

double steps_greatest(const struct steps *s, const uint32_t *place, uint32_t n,
		      uint32_t *ret_rank)
{
	double worst = 0;

	for (uint32_t i = 0; i < n; i++)
		if (s->delay[place[i]] > worst) {
			worst = s->delay[place[i]];
			*ret_rank = i;
		}
	return worst;
}

static void copy_targets(struct steps *s, const struct targets *targets)
{
	size_t size = targets->nr * sizeof(*targets->target);

	targets_clear(&s->tried);
	s->tried.target = xmalloc(size + 1);
	memcpy(s->tried.target, targets->target, size);
	s->tried.nr = targets->nr;
}

static void copy_places(struct steps *s, const struct job *job)
{
	if (job->n > s->cap_place) {
		s->cap_place = job->n;
		s->place = xreallocarray(s->place, job->n, sizeof(*s->place));
	}
	memcpy(s->place, job->hosts, job->n * sizeof(*s->place));
}

static void take_step(struct steps *s, const struct view *view,
		      const struct job *job, uint32_t rank, struct target *to)
{
	uint32_t from = s->place[rank];

	s->step[s->nr++] = (struct step){ rank, from, to->host->ix };
	shift_rank(s, view, from, to->host->ix);
	s->place[rank] = to->host->ix;
	targets_take(&s->tried, to, job);
}

void steps_try(struct steps *s, const struct targets *targets,
	       const struct view *view, const struct job *job, double left,
	       struct prospect *best)
{
	double worst = best->before;
	uint32_t rank = 0;

	s->nr = 0;
	copy_targets(s, targets);
	copy_places(s, job);
	steps_greatest(s, s->place, job->n, &rank);
	while (s->nr < STEPS) {
		struct target *to =
			targets_best(&s->tried, job, s->place[rank], true);
		double saved;

		if (!to || to->delay * s->gain > worst)
			break;
		take_step(s, view, job, rank, to);
		worst = steps_greatest(s, s->place, job->n, &rank);
		saved = left * (1 - worst / best->before) - s->nr * best->cost;
		if (worst * s->gain <= best->before && saved > best->saved) {
			best->steps = s->nr;
			best->after = worst;
			best->saved = saved;
		}
	}
}

void steps_undo(struct steps *s, const struct view *view, uint32_t keep)
{
	while (s->nr > keep) {
		s->nr--;
		shift_rank(s, view, s->step[s->nr].to, s->step[s->nr].from);
	}
}

static struct target *find_target(struct targets *targets, uint32_t host)
{
	for (size_t i = 0; i < targets->nr; i++)
		if (targets->target[i].host->ix == host)
			return &targets->target[i];
	return NULL;
}

void steps_adopt(struct steps *s, const struct view *view,
		 const struct job *job, uint32_t steps, struct targets *targets)
{
	steps_undo(s, view, steps);
	for (uint32_t i = 0; i < steps; i++) {
		struct target *to = find_target(targets, s->step[i].to);

		if (to)
			targets_take(targets, to, job);
	}
}
