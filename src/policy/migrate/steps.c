/* steps.c - see steps.h */
#include "policy/migrate/steps.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/talk.h"

/* How many partners of a rank are looked at: those of the lowest numbers. */
#define PARTNERS 8

void steps_init(struct steps *s, uint32_t nr_hosts, double gain)
{
	*s = (struct steps){ .gain = gain };
	s->guests = xcalloc(nr_hosts + 1, sizeof(*s->guests));
	s->delay = xcalloc(nr_hosts + 1, sizeof(*s->delay));
	s->shunned = xcalloc(nr_hosts + 1, sizeof(*s->shunned));
}

void steps_clear(struct steps *s)
{
	targets_clear(&s->tried);
	free(s->guests);
	free(s->delay);
	free(s->shunned);
	free(s->place);
	free(s->talk);
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
	const struct flight *f;
	const struct host *h;

	for_each_host (h, view)
		s->guests[h->ix] = plan_active(plan, h);
	for_each_flight (f, flights)
		if (s->guests[f->from])
			s->guests[f->from]--;
	for_each_host (h, view) {
		s->shunned[h->ix] = flights_shun(flights, h->ix);
		set_delay(s, h);
	}
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

static double greatest(const struct steps *s, const struct job *job,
		       uint32_t *ret_rank)
{
	double worst = 0;

	for (uint32_t i = 0; i < job->n; i++) {
		double d = s->delay[s->place[i]] *
			   (job->ranks->nr_talks ? s->talk[i] : 1);

		if (d > worst) {
			worst = d;
			*ret_rank = i;
		}
	}
	return worst;
}

/* All to which no move has just failed. */
static void copy_targets(struct steps *s, const struct targets *targets)
{
	struct targets *tried = &s->tried;

	targets_clear(tried);
	tried->target = xcalloc(targets->nr + 1, sizeof(*tried->target));
	for (size_t i = 0; i < targets->nr; i++)
		if (!s->shunned[targets->target[i].host->ix])
			tried->target[tried->nr++] = targets->target[i];
	tried->now = targets->now;
}

static void copy_places(struct steps *s, const struct job *job)
{
	if (job->n > s->cap_place) {
		s->cap_place = job->n;
		s->place = xreallocarray(s->place, job->n, sizeof(*s->place));
		s->talk = xreallocarray(s->talk, job->n, sizeof(*s->talk));
	}
	memcpy(s->place, job->hosts, job->n * sizeof(*s->place));
}

double steps_look(struct steps *s, const struct view *view,
		  const struct job *job)
{
	uint32_t rank = 0;

	copy_places(s, job);
	if (job->ranks->nr_talks)
		talk_delays(view, job, s->place, s->talk);
	return greatest(s, job, &rank);
}

/* ---- where a rank could go ---- */

struct choice {
	struct target *to; /* NULL: there is no place */
	double delay;	   /* of the rank at that place */
};

static void consider(const struct steps *s, const struct view *view,
		     const struct job *job, uint32_t rank, struct target *to,
		     struct choice *best)
{
	double d;

	if (!to)
		return;
	d = to->delay;
	if (job->ranks->nr_talks)
		d *= talk_delay_at(view, job, s->place, rank, to->host->ix);
	if (!best->to || d < best->delay)
		*best = (struct choice){ to, d };
}

/* Choose between the host that delays the rank least and the hosts of its partners. */
static struct choice choose(const struct steps *s, const struct view *view,
			    const struct job *job, uint32_t rank)
{
	struct choice best = { .to = NULL };
	uint32_t here = s->place[rank], n = 0;

	consider(s, view, job, rank, targets_best(&s->tried, job, here, true),
		 &best);
	for (uint32_t i = 0; i < job->ranks->nr_talks && n < PARTNERS; i++) {
		const struct job_talk *t = &job->ranks->talk[i];
		uint32_t other = t->a == rank ? t->b : t->a;

		if ((t->a != rank && t->b != rank) || other >= job->n ||
		    s->place[other] == here)
			continue;
		n++;
		consider(s, view, job, rank,
			 targets_at(&s->tried, job, s->place[other], true),
			 &best);
	}
	return best;
}

static void take_step(struct steps *s, const struct view *view,
		      const struct job *job, uint32_t rank, struct target *to)
{
	uint32_t from = s->place[rank];

	s->step[s->nr++] = (struct step){ rank, from, to->host->ix };
	shift_rank(s, view, from, to->host->ix);
	s->place[rank] = to->host->ix;
	if (job->ranks->nr_talks)
		talk_delays(view, job, s->place, s->talk);
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
	greatest(s, job, &rank);
	while (s->nr < STEPS) {
		struct choice c = choose(s, view, job, rank);
		double saved;

		if (!c.to || c.delay * s->gain > worst)
			break;
		take_step(s, view, job, rank, c.to);
		worst = greatest(s, job, &rank);
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
