/*
 * dynamic_look.c - Dynamic-SED's selection and location rules (Schnor 1997
 * section 5.3)
 */
#include "policy/migrate/dynamic_sed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

REASON(same_class,
       "rank {rank} was promised delay class {class}, which it did not have "
       "at {looks} looks",
       rank, class, looks);
REASON(away_from_users,
       "{users} {users:user is|users are} at the host of rank {rank}", users,
       rank);
REASON(faster,
       "no host is in its delay class; the new one delays it by the factor "
       "{after:thousandths} instead of {before:thousandths}",
       before, after);
REASON(next_look, "all processes are looked at again then");

/* ---- what is remembered of a job ---- */

struct dynamic_mind *dynamic_mind(struct dynamic *d, const struct job *job)
{
	struct dynamic_mind *m;

	if (job->ix >= d->nr_minds) {
		size_t n = 2 * (size_t)job->ix + 64;

		d->mind = xreallocarray(d->mind, n, sizeof(*d->mind));
		memset(d->mind + d->nr_minds, 0,
		       (n - d->nr_minds) * sizeof(*d->mind));
		d->nr_minds = n;
	}
	m = &d->mind[job->ix];
	if (m->id != job->id)
		m->class = d->sed.nr_classes;
	if (m->id != job->id || (job->n && m->n != job->n)) {
		free(m->count);
		m->id = job->id;
		m->n = job->n;
		m->count = xcalloc(m->n + 1, sizeof(*m->count));
	}
	return m;
}

/* ---- a look at all processes ---- */

struct look {
	struct dynamic *d;
	const struct view *view;
	struct plan *plan;
	const struct job *job;
	size_t ix; /* the job's in d->sed */
	struct dynamic_mind *mind;
	uint32_t rank;
	const struct host *from;
	uint64_t
		*given; /* by host: memory for who is under way or goes there */
};

/* Bytes that are free on a host for a process that comes. */
static uint64_t free_memory(const struct look *l, const struct host *h)
{
	uint64_t is = dynamic_memory(h), given = l->given[h->ix];

	return is > given ? is - given : 0;
}

/* The delay of a process that comes to a host, not counting load that is held back. */
static double delay_there(const struct look *l, const struct host *h)
{
	return h->speed * (1 + h->load + l->d->sed.hosts[h->ix].load);
}

/* d'_j: the delay of one that is there */
static double delay_here(const struct look *l)
{
	return delay_there(l, l->from) - l->from->speed;
}

static bool is_candidate(const struct look *l)
{
	return delay_here(l) > l->mind->class + 0.5 ||
	       dynamic_memory(l->from) < l->d->mem_min ||
	       dynamic_crowded(l->d, l->from);
}

/* Is k in the delay class that the process was promised? */
static bool in_class(const struct look *l, const struct host *k)
{
	const struct sed_host *s = &l->d->sed.hosts[k->ix];
	double least = fmin(l->mind->class + 0.5, s->threshold);

	return s->alpha * (1 + s->load + s->external) <= least &&
	       free_memory(l, k) > l->d->mem_min + l->job->memory;
}

/* Is k in P?  (5.5) */
static bool is_free(const struct look *l, const struct host *k)
{
	return l->d->sed.hosts[k->ix].external < DYNAMIC_CLOSED && !k->users;
}

enum rule { IN_CLASS, WITH_MEMORY, ANY_MEMORY, MUCH_FASTER };

static bool allows(const struct look *l, enum rule rule, const struct host *k)
{
	bool fits = l->job->memory <= free_memory(l, k);

	switch (rule) {
	case IN_CLASS:
		return in_class(l, k);
	case WITH_MEMORY: /* (5.6) */
		return is_free(l, k) && fits && delay_there(l, k) < l->d->d_max;
	case ANY_MEMORY: /* (5.7) */
		return is_free(l, k) && delay_there(l, k) < l->d->d_max;
	case MUCH_FASTER: /* (5.8) */
		return is_free(l, k) && fits &&
		       delay_here(l) - delay_there(l, k) > l->from->speed;
	}
	return false;
}

/* To a host to which a move has just failed none goes. */
static bool reachable(const struct look *l, const struct host *k)
{
	return k != l->from && plan_room(l->plan, k) &&
	       !flights_shun(&l->d->flights, k->ix);
}

static const struct host *least_delayed(const struct look *l, enum rule rule)
{
	const struct host *k, *best = NULL;

	for_each_host (k, l->view)
		if (reachable(l, k) && allows(l, rule, k) &&
		    (!best || delay_there(l, k) < delay_there(l, best)))
			best = k;
	return best;
}

static void move(const struct look *l, const struct host *to,
		 struct because why)
{
	struct sed *sed = &l->d->sed;

	plan_migrate(l->plan, l->job, l->rank, to->ix, why);
	l->mind->count[l->rank] = 0;
	l->given[to->ix] += l->job->memory;
	sed->jobs[l->ix].hosts[l->rank] = (int)to->ix;
	sed->hosts[l->from->ix].load--;
	sed->hosts[to->ix].load++;
	/* compute the thresholds anew */
	sed_upgrade(sed, l->ix, l->mind->class);
}

static void find_place(const struct look *l)
{
	const struct host *to = least_delayed(l, IN_CLASS);

	if (to) {
		move(l, to,
		     BECAUSE(same_class, .rank = l->rank,
			     .class = l->mind->class,
			     .looks = l->mind->count[l->rank]));
		return;
	}
	if (l->from->users) {
		to = least_delayed(l, WITH_MEMORY);
		if (!to)
			to = least_delayed(l, ANY_MEMORY);
		if (to)
			move(l, to,
			     BECAUSE(away_from_users, .users = l->from->users,
				     .rank = l->rank));
		return;
	}
	to = least_delayed(l, MUCH_FASTER);
	if (to)
		move(l, to,
		     BECAUSE(faster, .before = (int64_t)(1e3 * delay_here(l)),
			     .after = (int64_t)(1e3 * delay_there(l, to))));
}

static void look_at_rank(const struct look *l)
{
	uint32_t *c = &l->mind->count[l->rank];
	uint32_t max = l->from->users ? l->d->c2_max : l->d->c1_max;

	if (!is_candidate(l)) {
		*c -= *c > 0;
		return;
	}
	if (*c < max)
		++*c;
	if (*c >= max)
		find_place(l);
}

static void look_at_job(struct look *l)
{
	for (l->rank = 0; l->rank < l->job->n; l->rank++) {
		l->from = &l->view->hosts[l->job->hosts[l->rank]];
		if (!flights_find(&l->d->flights, l->job, l->rank))
			look_at_rank(l);
	}
}

static void look_at_all(struct dynamic *d, const struct view *view,
			struct plan *plan)
{
	struct look l = { .d = d, .view = view, .plan = plan };

	l.given = xcalloc(view->nr_hosts + 1, sizeof(*l.given));
	flights_promise(&d->flights, view, l.given);
	for_each_running(l.job, view)
	{
		l.mind = dynamic_mind(d, l.job);
		if (l.job->state == JOB_RUNNING && !l.job->ranks->nr_frozen &&
		    !leave_concerns(view, l.job))
			look_at_job(&l);
		l.ix++;
	}
	free(l.given);
}

/* There is a look every `every` while any job runs. */
void dynamic_look(struct dynamic *d, const struct view *view, struct plan *plan)
{
	if (!view->nr_running) {
		d->next = 0;
		return;
	}
	if (d->next && d->next <= view->now)
		look_at_all(d, view, plan);
	if (d->next <= view->now)
		d->next = view->now + d->every;
	plan_wake(plan, d->next, BECAUSE(next_look));
}
