/*
 * dynamite.c - the migration decider of Dynamite (Overeinder 2000 section 7.5.1)
 *
 * "A straightforward solution with a greedy-like algorithm and a constraints
 * list", over normalized values of CPU, memory and network.  The thesis says no more; the
 * rest is our choice:
 * - a host's CPU is normalized as all that runs there, jobs or not, divided by cores
 *   over speed factor, its memory as the share in use, its network as what the pairs of
 *   ranks that it takes part in send over its link (model/talk.h);
 * - a host over one of the limits is overloaded.  From the most overloaded one the
 *   largest rank goes, which helps most for memory, and as much as any for CPU; of
 *   like ones the first; where only its link is overloaded, the one whose going frees
 *   most of it;
 * - to the host with the least CPU then, if no constraint is hurt there: it takes
 *   guests and has room, its memory stays below the limit, its CPU with the rank is
 *   below what the rank leaves by `gain` at least;
 * - and again, as long as there is such a host, one move a host and look.
 *
 * A look costs the hosts (sorted, if one is overloaded) and the running ranks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/talk.h"
#include "policy/kit/placed.h"
#include "policy/kit/policy.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/leave.h"

/* The largest rank on a host that may move; of equal ones the first. */
struct largest {
	const struct job *job; /* NULL: none may move */
	uint32_t rank;
};

/* Hosts in the order in which they are looked at. */
struct order {
	struct ordered {
		double by;
		uint32_t ix;
	} * host;
	size_t nr;
};

struct dynamite {
	struct policy base;
	struct placed placed;
	struct flights flights;
	struct targets targets;
	double cpu, memory, network, gain;
	usec_t every, next;
	/* during a pass, by host: runnable processes, ours included */
	double *load;
	uint64_t *used; /* bytes */
	double *talk;	/* bytes per second over its link */
	bool *done;	/* has it given or taken a rank at this look? */
	struct largest *largest, *loudest;
	struct order overloaded; /* the most overloaded first */
	/* hosts with room for guests, the least CPU first */
	struct order places;
};

static const struct param params[] = {
	PLACED_PARAMS,
	{ "cpu", PARAM_REAL, 1.2, 0.1, 1000, NULL,
	  "processes a core of speed 1 above which a host is overloaded" },
	{ "memory", PARAM_REAL, 0.95, 0.01, 1, NULL,
	  "part of its memory in use above which a host is overloaded" },
	{ "network", PARAM_REAL, 0.7, 0.01, 1, NULL,
	  "part of its link's rate in use above which a host is overloaded" },
	{ "gain", PARAM_REAL, 0.2, 0.01, 100, NULL,
	  "a rank's normalized CPU, or its host's network, must fall by this part" },
	{ "every", PARAM_TIME, 5, 0.1, 1e6, NULL, "time between two looks" },
	FLIGHTS_PARAMS,
	{ .name = NULL },
};

REASON(overloaded,
       "host {from:host} has {cpu:thousandths} processes a core, the new one "
       "{after:thousandths}",
       from, cpu, after);
REASON(no_memory, "host {from:host} has {percent} percent of its memory in use",
       from, percent);
REASON(no_network, "host {from:host} has {percent} percent of its link in use",
       from, percent);
REASON(next_look, "all hosts are looked at again then");

static int dynamite_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	uint32_t n = setup->view->nr_hosts;
	struct dynamite *d = xcalloc(1, sizeof(*d));

	(void)err;
	d->placed = placed_of(setup->params);
	d->cpu = params_real(setup->params, "cpu");
	d->memory = params_real(setup->params, "memory");
	d->network = params_real(setup->params, "network");
	d->gain = 1 + params_real(setup->params, "gain");
	d->every = params_usec(setup->params, "every");
	flights_init(&d->flights, setup->params);
	d->load = xcalloc(n + 1, sizeof(*d->load));
	d->used = xcalloc(n + 1, sizeof(*d->used));
	d->talk = xcalloc(n + 1, sizeof(*d->talk));
	d->loudest = xcalloc(n + 1, sizeof(*d->loudest));
	d->done = xcalloc(n + 1, sizeof(*d->done));
	d->largest = xcalloc(n + 1, sizeof(*d->largest));
	d->overloaded.host = xcalloc(n + 1, sizeof(*d->overloaded.host));
	d->places.host = xcalloc(n + 1, sizeof(*d->places.host));
	*ret = &d->base;
	return 0;
}

static void dynamite_destroy(struct policy *policy)
{
	struct dynamite *d = (struct dynamite *)policy;

	flights_clear(&d->flights);
	targets_clear(&d->targets);
	free(d->load);
	free(d->used);
	free(d->talk);
	free(d->loudest);
	free(d->done);
	free(d->largest);
	free(d->overloaded.host);
	free(d->places.host);
	free(d);
}

static void dynamite_event(struct policy *policy, const struct view *view,
			   const struct event *e)
{
	flights_event(&((struct dynamite *)policy)->flights, view, e);
}

/* ---- normalized values ---- */

static double norm_cpu(const struct dynamite *d, const struct host *h,
		       double more)
{
	return (d->load[h->ix] + more) * h->speed / h->cores;
}

static double norm_memory(const struct dynamite *d, const struct host *h,
			  uint64_t more)
{
	return h->memory ? ((double)d->used[h->ix] + (double)more) /
				   (double)h->memory
			 : 0;
}

static double norm_network(const struct dynamite *d, const struct host *h,
			   double more)
{
	return h->link > 0 ? (d->talk[h->ix] + more) / h->link : 0;
}

/*
 * By how much the load of a host's link changes if the rank comes (sign 1) or goes
 * (-1): pairs of ranks on one host do not use the link.
 */
static double talk_change(const struct job *job, uint32_t rank,
			  const struct host *h, int sign)
{
	return sign *
	       (talk_bytes_all(job, rank) - 2 * talk_bytes(job, rank, h->ix));
}

static void survey_hosts(struct dynamite *d, const struct view *view,
			 const struct plan *plan)
{
	const struct flight *f;
	const struct host *h;

	talk_hosts(view, d->talk);
	for_each_host (h, view) {
		d->load[h->ix] = h->load + plan_active(plan, h);
		d->used[h->ix] = h->memory > h->memory_free
					 ? h->memory - h->memory_free
					 : 0;
		d->done[h->ix] = false;
	}
	for_each_flight (f, &d->flights)
		if (d->load[f->from] >= 1)
			d->load[f->from]--;
	flights_promise(&d->flights, view, d->used);
}

/* ---- a look ---- */

struct look {
	struct dynamite *d;
	const struct view *view;
	struct plan *plan;
};

/* The greatest ratio of a host's values to their limits; above 1 it is overloaded. */
static double excess(const struct look *l, const struct host *h)
{
	double cpu = norm_cpu(l->d, h, 0) / l->d->cpu;
	double memory = norm_memory(l->d, h, 0) / l->d->memory;
	double network = norm_network(l->d, h, 0) / l->d->network;

	cpu = cpu > memory ? cpu : memory;
	return cpu > network ? cpu : network;
}

/* Is the host's link overloaded, and nothing else of it? */
static bool only_network(const struct look *l, const struct host *h)
{
	return norm_cpu(l->d, h, 0) <= l->d->cpu &&
	       norm_memory(l->d, h, 0) <= l->d->memory;
}

static void order_add(struct order *o, const struct host *h, double by)
{
	o->host[o->nr++] = (struct ordered){ by, h->ix };
}

/* For qsort(): the least first; of equal ones the first. */
static int by_value(const void *one, const void *other)
{
	const struct ordered *a = one, *b = other;

	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	return a->ix < b->ix ? -1 : 1;
}

static void order_sort(struct order *o)
{
	qsort(o->host, o->nr, sizeof(*o->host), by_value);
}

/*
 * Once for each look: a move changes the values of its two hosts alone, and these are
 * done then.
 */
static void find_overloaded(const struct look *l)
{
	struct order *o = &l->d->overloaded;
	const struct host *h;

	o->nr = 0;
	for_each_host (h, l->view)
		if (h->up && h->nr_ranks && excess(l, h) > 1)
			order_add(o, h, -excess(l, h));
	order_sort(o);
}

static void find_places(const struct look *l)
{
	struct order *o = &l->d->places;
	const struct host *h;

	o->nr = 0;
	for_each_host (h, l->view)
		if (!h->owner_active && plan_room(l->plan, h) &&
		    !flights_shun(&l->d->flights, h->ix))
			order_add(o, h, norm_cpu(l->d, h, 1));
	order_sort(o);
}

static bool movable(const struct look *l, const struct job *job, uint32_t rank)
{
	return job->state == JOB_RUNNING && job->hosts &&
	       !job->ranks->nr_frozen &&
	       !flights_find(&l->d->flights, job, rank) &&
	       !leave_concerns(l->view, job);
}

/* Find the rank whose going takes most load off its host's link. */
static void find_loudest(const struct look *l, const struct job *j,
			 uint32_t rank)
{
	const struct host *h = &l->view->hosts[j->hosts[rank]];
	struct largest *best = &l->d->loudest[h->ix];

	if (!best->job || talk_change(j, rank, h, -1) <
				  talk_change(best->job, best->rank, h, -1))
		*best = (struct largest){ j, rank };
}

static void find_ranks(const struct look *l)
{
	const struct job *j;

	memset(l->d->largest, 0, l->view->nr_hosts * sizeof(*l->d->largest));
	memset(l->d->loudest, 0, l->view->nr_hosts * sizeof(*l->d->loudest));
	for_each_running(j, l->view) for (uint32_t i = 0; i < j->n; i++)
	{
		struct largest *best = &l->d->largest[j->hosts[i]];

		if (!movable(l, j, i))
			continue;
		if (!best->job || j->memory > best->job->memory)
			*best = (struct largest){ j, i };
		if (j->ranks->nr_talks)
			find_loudest(l, j, i);
	}
}

/* The list of constraints, for a host that takes guests and has room. */
static bool may_take(const struct look *l, const struct host *from,
		     const struct host *to, const struct largest *r)
{
	return to != from && !l->d->done[to->ix] &&
	       norm_memory(l->d, to, r->job->memory) < l->d->memory &&
	       norm_network(l->d, to, talk_change(r->job, r->rank, to, 1)) <
		       l->d->network;
}

static bool frees_link(const struct look *l, const struct host *from,
		       const struct largest *r)
{
	double after = norm_network(l->d, from,
				    talk_change(r->job, r->rank, from, -1));

	return after * l->d->gain <= norm_network(l->d, from, 0);
}

static const struct host *find_place(const struct look *l,
				     const struct host *from,
				     const struct largest *r)
{
	const struct order *o = &l->d->places;
	bool link = only_network(l, from);
	double most = link ? l->d->cpu : norm_cpu(l->d, from, 0) / l->d->gain;

	if (!r->job || (link && !frees_link(l, from, r)))
		return NULL;
	for (size_t i = 0; i < o->nr; i++) {
		const struct host *h = &l->view->hosts[o->host[i].ix];

		if (o->host[i].by > most)
			break; /* it gains too little, and so do all after it */
		if (may_take(l, from, h, r))
			return h;
	}
	return NULL;
}

static struct because why_moves(const struct look *l, const struct host *from,
				const struct host *to)
{
	double cpu = norm_cpu(l->d, from, 0);

	if (cpu > l->d->cpu)
		return BECAUSE(overloaded, .from = from->ix,
			       .cpu = (int64_t)(1000 * cpu),
			       .after =
				       (int64_t)(1000 * norm_cpu(l->d, to, 1)));
	if (norm_memory(l->d, from, 0) <= l->d->memory)
		return BECAUSE(
			no_network, .from = from->ix,
			.percent =
				(int64_t)(100 * norm_network(l->d, from, 0)));
	return BECAUSE(no_memory, .from = from->ix,
		       .percent = (int64_t)(100 * norm_memory(l->d, from, 0)));
}

/* Move one rank off an overloaded host, if there is a host for it. */
static void relieve(const struct look *l, const struct host *from)
{
	const struct largest *rank = only_network(l, from)
					     ? &l->d->loudest[from->ix]
					     : &l->d->largest[from->ix];
	const struct host *to = find_place(l, from, rank);
	const struct job *job = rank->job;

	l->d->done[from->ix] = true;
	if (!to)
		return;
	plan_migrate(l->plan, job, rank->rank, to->ix, why_moves(l, from, to));
	l->d->done[to->ix] = true; /* what it has now matters to nobody */
}

static void look_at_jobs(struct dynamite *d, const struct view *view,
			 struct plan *plan)
{
	struct look l = { d, view, plan };

	survey_hosts(d, view, plan);
	find_overloaded(&l);
	if (!d->overloaded.nr)
		return;
	find_places(&l);
	find_ranks(&l);
	for (size_t i = 0; i < d->overloaded.nr; i++) {
		uint32_t ix = d->overloaded.host[i].ix;

		if (!d->done[ix])
			relieve(&l, &view->hosts[ix]);
	}
}

static void look_in_time(struct dynamite *d, const struct view *view,
			 struct plan *plan)
{
	if (!view->nr_running) {
		d->next = 0;
		return;
	}
	if (d->next && d->next <= view->now)
		look_at_jobs(d, view, plan);
	if (d->next <= view->now)
		d->next = view->now + d->every;
	plan_wake(plan, d->next, BECAUSE(next_look));
}

static void dynamite_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct dynamite *d = (struct dynamite *)policy;
	size_t first;

	leave_first(LEAVE_MOVES | LEAVE_FREEZES, &d->flights, view, plan,
		    &d->targets);
	first = plan->nr;
	look_in_time(d, view, plan);
	flights_note(&d->flights, plan, first);
	placed_start(&d->placed, view, plan);
}

static void dynamite_explain(const struct policy *policy,
			     const struct view *view, const struct job *job,
			     struct plan *plan)
{
	placed_explain(&((const struct dynamite *)policy)->placed, view, job,
		       plan);
}

static int64_t dynamite_most(const struct policy *policy,
			     const struct view *view)
{
	return placed_most(&((const struct dynamite *)policy)->placed, view);
}

static void dynamite_save(const struct policy *policy, const struct view *view,
			  FILE *to)
{
	const struct dynamite *d = (const struct dynamite *)policy;

	(void)view;
	flights_save(&d->flights, to);
	fprintf(to, "%" PRId64 "\n", d->next);
}

static int dynamite_load(struct policy *policy, const struct view *view,
			 const char *text, struct error *err)
{
	struct dynamite *d = (struct dynamite *)policy;
	int n = 0;

	if (flights_load(&d->flights, view, &text) < 0 ||
	    sscanf(text, "%" SCNd64 "\n%n", &d->next, &n) != 1 || text[n])
		return policy_damaged(policy, text, err);
	return 0;
}

const struct policy_ops policy_dynamite = {
	.name = "dynamite",
	.summary = "live: greedy, ranks leave overloaded hosts by a list of "
		   "constraints",
	.source = "Overeinder 2000 section 7.5.1",
	.details =
		"Jobs start as under spread. At regular looks one rank leaves "
		"each host whose processes per core (over its speed) or "
		"memory are above a limit, the most overloaded host first. It "
		"goes to the host with the least CPU that violates no "
		"constraint: it has room, its memory stays below the limit, "
		"its CPU is less by the gain, and what ranks send over its "
		"link stays below a part of the link's rate. From a host "
		"whose link is overloaded the rank leaves that frees most of "
		"it. A look costs the hosts, the running ranks and the pairs "
		"of them that talk.",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SHARES | POLICY_LIVE | POLICY_OWNERS,
	.create = dynamite_create,
	.event = dynamite_event,
	.decide = dynamite_decide,
	.explain = dynamite_explain,
	.most = dynamite_most,
	.save = dynamite_save,
	.load = dynamite_load,
	.destroy = dynamite_destroy,
};
