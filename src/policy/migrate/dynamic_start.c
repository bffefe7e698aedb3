/* dynamic_start.c - starts under Dynamic-SED, and the limit for long jobs */
#include "policy/migrate/dynamic_sed.h"

REASON(why_start,
       "delay class {class} has {nodes} {nodes:node|nodes}, the least "
       "expected delay",
       class, nodes);
/* ---- starts ---- */

struct start {
	struct dynamic *d;
	const struct view *view;
	struct plan *plan;
};

static bool is_long(const struct dynamic *d, const struct job *job)
{
	return job->estimate && job->estimate >= d->longest;
}

/*
 * How many nodes the slowest class has when all hosts are idle, bounded by their slots.
 */
int64_t dynamic_nodes(const struct dynamic *d, const struct view *view)
{
	const struct host *h;
	int64_t nodes = 0;

	for_each_host (h, view) {
		int64_t n = (int64_t)(d->sed.slowest / h->speed + 1e-9);

		nodes += n < h->slots ? n : h->slots;
	}
	return nodes;
}

/* P_max - Q, or as many as the job needs at least if no other long job runs. */
static uint32_t most_for(const struct start *s, const struct job *job,
			 uint32_t least)
{
	int64_t left =
		(int64_t)(s->d->share * (double)dynamic_nodes(s->d, s->view));
	bool others = false;
	const struct job *j;

	if (!is_long(s->d, job))
		return job->size;
	for_each_running(j, s->view) if (is_long(s->d, j))
	{
		left -= j->n;
		others = true;
	}
	for (size_t i = 0; i < s->plan->nr; i++)
		if (s->plan->entry[i].type == PLAN_START &&
		    is_long(s->d, s->plan->entry[i].job)) {
			left -= s->plan->entry[i].n;
			others = true;
		}
	if (left < least)
		return others ? 0 : least;
	return left < job->size ? (uint32_t)left : job->size;
}

/* A host that got more processes than it has slots; NULL if there is none. */
static const struct host *overfull(const struct start *s,
				   const struct sed_job *job)
{
	for (int i = 0; i < job->size; i++) {
		const struct host *h = &s->view->hosts[job->hosts[i]];
		uint32_t n = 0;

		for (int k = 0; k < job->size; k++)
			n += job->hosts[k] == job->hosts[i];
		if (n > plan_room(s->plan, h))
			return h;
	}
	return NULL;
}

/* Have a host offer no more nodes in any class than it has room for. */
static void bound_offer(struct start *s, const struct host *h)
{
	struct sed_host *one = &s->d->sed.hosts[h->ix];
	double ext = s->d->sed.slowest / one->alpha - one->load -
		     plan_room(s->plan, h) - 1e-9;

	one->external = ext > one->external + 1e-6 ? ext : DYNAMIC_CLOSED;
}

static const struct sed_job *map_job(struct start *s, const struct job *job)
{
	uint32_t least = job->kind == JOB_RIGID ? job->size : job->min_size;
	uint32_t most = most_for(s, job, least ? least : 1);

	while (most) {
		const struct sed_job *ret;
		const struct host *over;
		int size, class = sed_map(&s->d->sed, least ? (int)least : 1,
					  (int)most, &size);

		if (!class)
			break;
		ret = sed_start(&s->d->sed, (uint64_t)job->id, class, size);
		over = overfull(s, ret);
		if (!over)
			return ret;
		sed_end(&s->d->sed, (uint64_t)job->id);
		bound_offer(s, over);
	}
	return NULL;
}

/* First come, first served; the head blocks the rest. */
static bool start_waiting(void *arg)
{
	struct start *s = arg;
	const struct job *job;

	for_each_waiting(job, s->view)
	{
		const struct sed_job *got = map_job(s, job);
		uint32_t *hosts;

		if (!got)
			return false;
		hosts = plan_hosts(s->plan, (uint32_t)got->size);
		for (int i = 0; i < got->size; i++)
			hosts[i] = (uint32_t)got->hosts[i];
		dynamic_mind(s->d, job)->class = got->class;
		plan_start_on(s->plan, job, (uint32_t)got->size, hosts,
			      BECAUSE(why_start, .class = got->class,
				      .nodes = got->size));
	}
	return true;
}

void dynamic_start(struct dynamic *d, const struct view *view,
		   struct plan *plan)
{
	static const struct sed_rules rules = { .upgrade = true };
	struct start s = { d, view, plan };
	const struct job *j;
	size_t i = 0;

	sed_pass(&d->sed, &rules, d->ended, start_waiting, NULL, &s);
	d->ended = false;
	for_each_running(j, view) dynamic_mind(d, j)->class =
		d->sed.jobs[i++].class;
}
