/*
 * harvest.c - parallel jobs on hosts that their users leave alone (Arpaci 1995
 * section 4.2), without time slices
 *
 * A host is available when it has been quiet for as long as the definition of idleness
 * says, or for the recruitment threshold, and its terms let guests in.  Jobs start in
 * the order of arrival on available hosts alone, one rank per host.  A host that is
 * used again is given back: its rank goes to an available one; if there is none, it
 * stands still, and its whole job with it.  The paper's social contract is one of the
 * terms (model/contract.h).
 *
 * A pass looks at the hosts, at the running ranks if a host is wanted back, and at the
 * ranks of each job that starts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/kit/policy.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/leave.h"

enum definition { CPU_ONLY, CONDOR, AGGRESSIVE };

struct harvest {
	struct policy base;
	struct flights flights;
	struct targets targets;
	enum definition by;
	double load;
	usec_t recruit;
	/* by host: since when it has had little load; USEC_MAX: it has more */
	usec_t *calm;
	bool *available, *recalled; /* during a pass, by host */
};

static const char *const definitions[] = { "cpu", "condor", "aggressive",
					   NULL };
static const usec_t quiet_times[] = { 60 * USEC_PER_SEC, 900 * USEC_PER_SEC,
				      60 * USEC_PER_SEC };

static const struct param params[] = {
	{ "by", PARAM_CHOICE, AGGRESSIVE, 0, 0, definitions,
	  "quiet is: little load for 1 min; that and no keyboard for 15 min; for "
	  "1 min" },
	{ "load", PARAM_REAL, 0.2, 0, 1000, NULL,
	  "less than this is little load" },
	{ "recruit", PARAM_TIME, 0, 0, 1e6, NULL,
	  "recruitment threshold: quiet for so long instead; 0: as defined" },
	FLIGHTS_PARAMS,
	{ .name = NULL },
};

REASON(harvested, "{ranks} {ranks:host is|hosts are} quiet and without guests",
       ranks);
REASON(too_few,
       "it needs {ranks} quiet {ranks:host|hosts} without guests, and there "
       "{hosts:is|are} {hosts}",
       ranks, hosts);
REASON(behind, "job {job} is before it in the queue and has to start first",
       job);
REASON(quiet_then, "host {host:host} will have been quiet for long enough",
       host);

static void note_load(struct harvest *v, const struct host *h, usec_t now)
{
	if (h->load >= v->load)
		v->calm[h->ix] = USEC_MAX;
	else if (v->calm[h->ix] == USEC_MAX)
		v->calm[h->ix] = now;
}

static int harvest_create(const struct policy_setup *setup, struct policy **ret,
			  struct error *err)
{
	const struct view *view = setup->view;
	uint32_t n = view->nr_hosts;
	struct harvest *v = xcalloc(1, sizeof(*v));
	const struct host *h;

	(void)err;
	v->by = (enum definition)params_choice(setup->params, "by");
	v->load = params_real(setup->params, "load");
	v->recruit = params_usec(setup->params, "recruit");
	if (!v->recruit)
		v->recruit = quiet_times[v->by];
	flights_init(&v->flights, setup->params);
	v->calm = xcalloc(n + 1, sizeof(*v->calm));
	v->available = xcalloc(n + 1, sizeof(*v->available));
	v->recalled = xcalloc(n + 1, sizeof(*v->recalled));
	for_each_host (h, view) {
		v->calm[h->ix] = USEC_MAX;
		note_load(v, h, view->now);
	}
	*ret = &v->base;
	return 0;
}

static void harvest_destroy(struct policy *policy)
{
	struct harvest *v = (struct harvest *)policy;

	flights_clear(&v->flights);
	targets_clear(&v->targets);
	free(v->calm);
	free(v->available);
	free(v->recalled);
	free(v);
}

static void harvest_event(struct policy *policy, const struct view *view,
			  const struct event *e)
{
	struct harvest *v = (struct harvest *)policy;

	flights_event(&v->flights, view, e);
	if (e->type == EVENT_HOST)
		note_load(v, &view->hosts[e->host], view->now);
}

/* Since when the host has been quiet; USEC_MAX: it is in use. */
static usec_t quiet_since(const struct harvest *v, const struct host *h)
{
	usec_t calm = v->calm[h->ix];

	if (v->by == CPU_ONLY || calm > h->idle_since)
		return calm;
	return h->idle_since;
}

static void survey_hosts(struct harvest *v, const struct view *view)
{
	const struct host *h;

	for_each_host (h, view) {
		usec_t since = quiet_since(v, h);

		v->recalled[h->ix] = since == USEC_MAX;
		v->available[h->ix] = host_usable(h) && since != USEC_MAX &&
				      view->now - since >= v->recruit;
	}
}

static int64_t nr_available(const struct targets *t)
{
	int64_t n = 0;

	for (size_t i = 0; i < t->nr; i++)
		n += t->target[i].room > 0;
	return n;
}

/* First come, first served; the head blocks the rest. */
static void start_waiting(struct harvest *v, const struct view *view,
			  struct plan *plan)
{
	const struct job *j;

	for_each_waiting(j, view)
	{
		uint32_t *hosts;

		if (nr_available(&v->targets) < j->size)
			return;
		hosts = plan_hosts(plan, j->size);
		for (uint32_t i = 0; i < j->size; i++) {
			struct target *to =
				targets_best(&v->targets, j, UINT32_MAX, false);

			if (!to)
				return; /* no host has enough memory */
			hosts[i] = to->host->ix;
			targets_take(&v->targets, to, j);
		}
		plan_start_on(plan, j, j->size, hosts,
			      BECAUSE(harvested, .ranks = j->size));
	}
}

/* A job waits for hosts: ask for a pass when the next host becomes available. */
static void wake_for_next(const struct harvest *v, const struct view *view,
			  struct plan *plan)
{
	const struct host *h, *next = NULL;
	usec_t at = USEC_MAX;

	for_each_host (h, view) {
		usec_t since = quiet_since(v, h);

		if (since == USEC_MAX || !host_usable(h) ||
		    since + v->recruit <= view->now || since + v->recruit >= at)
			continue;
		at = since + v->recruit;
		next = h;
	}
	if (next)
		plan_wake(plan, at, BECAUSE(quiet_then, .host = next->ix));
}

static bool anybody_waits(const struct view *view)
{
	const struct job *j;

	if (view->nr_waiting)
		return true;
	for_each_running(j, view) if (j->ranks->nr_frozen) return true;
	return false;
}

static void harvest_decide(struct policy *policy, const struct view *view,
			   struct plan *plan)
{
	struct harvest *v = (struct harvest *)policy;
	size_t first = plan->nr;

	survey_hosts(v, view);
	targets_clear(&v->targets);
	flights_begin_pass(&v->flights, view, plan);
	targets_make_among(&v->targets, view, plan, &v->flights, v->available);
	leave_hosts(LEAVE_MOVES | LEAVE_FREEZES, v->recalled, &v->flights, view,
		    plan, &v->targets);
	flights_note(&v->flights, plan, first);
	start_waiting(v, view, plan);
	if (anybody_waits(view) || plan->nr > first)
		wake_for_next(v, view, plan);
}

static void harvest_explain(const struct policy *policy,
			    const struct view *view, const struct job *job,
			    struct plan *plan)
{
	const struct harvest *v = (const struct harvest *)policy;
	const struct job *head = TAILQ_FIRST(&view->waiting);

	if (head == job)
		plan_defer(plan, job,
			   BECAUSE(too_few, .ranks = job->size,
				   .hosts = nr_available(&v->targets)));
	else
		plan_defer(plan, job, BECAUSE(behind, .job = head->id));
}

static int64_t harvest_most(const struct policy *policy,
			    const struct view *view)
{
	(void)policy;
	return view->nr_hosts;
}

static void harvest_save(const struct policy *policy, const struct view *view,
			 FILE *to)
{
	const struct harvest *v = (const struct harvest *)policy;

	flights_save(&v->flights, to);
	for (uint32_t i = 0; i < view->nr_hosts; i++)
		fprintf(to, "%" PRId64 "\n", v->calm[i]);
}

static int harvest_load(struct policy *policy, const struct view *view,
			const char *text, struct error *err)
{
	struct harvest *v = (struct harvest *)policy;
	int n;

	if (flights_load(&v->flights, view, &text) < 0)
		return policy_damaged(policy, text, err);
	for (uint32_t i = 0; *text && i < view->nr_hosts; i++, text += n)
		if (sscanf(text, "%" SCNd64 "\n%n", &v->calm[i], &n) != 1 ||
		    v->calm[i] < 0)
			return policy_damaged(policy, text, err);
	if (*text)
		return policy_damaged(policy, text, err);
	return 0;
}

const struct policy_ops policy_harvest = {
	.name = "harvest",
	.summary = "live: jobs on hosts that are left alone, a rank a host",
	.source = "Arpaci 1995 section 4.2",
	.details = "First come, first served. Each rank runs alone on a host "
		   "that has been quiet for as long as the definition of "
		   "idleness says (cpu, condor, aggressive) or for the "
		   "recruitment threshold, on the fastest ones first. From a "
		   "host that is used again the rank goes to an available one; "
		   "if there is none, it stands still, and its whole job with "
		   "it, until there is one or the host is quiet again. The "
		   "social contract is kept by the hosts' terms. A pass costs "
		   "the hosts and, if an owner needs a host back, the running "
		   "ranks.",
	.params = params,
	/* With users; and as all that name hosts it leaves it to the driver to
	 * keep booked ones away from it (plan_start_on()). */
	.flags = POLICY_HOSTS | POLICY_SHARES | POLICY_LIVE | POLICY_OWNERS,
	.create = harvest_create,
	.event = harvest_event,
	.decide = harvest_decide,
	.explain = harvest_explain,
	.most = harvest_most,
	.save = harvest_save,
	.load = harvest_load,
	.destroy = harvest_destroy,
};
