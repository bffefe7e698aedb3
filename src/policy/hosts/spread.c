/*
 * spread.c - live placement: each rank goes to the host that delays it least
 *
 * First come, first served among jobs; a job starts when there is room for all its
 * ranks.  Ranks leave hosts that are being drained.  A pass looks at the hosts and the
 * ranks of the jobs it starts, and while a host is being drained at all running ranks.
 */
#include "core/xalloc.h"
#include "model/place.h"
#include "policy/kit/leave.h"
#include "policy/kit/placed.h"
#include "policy/kit/policy.h"

struct spread {
	struct policy base;
	struct placed placed;
};

static const struct param params[] = {
	PLACED_PARAMS,
	{ .name = NULL },
};

REASON(leaving,
       "host {from:host} is being drained, and its delay is least on host "
       "{to:host}",
       from, to);

static int spread_create(const struct policy_setup *setup, struct policy **ret,
			 struct error *err)
{
	struct spread *s = xcalloc(1, sizeof(*s));

	s->placed = placed_of(setup->params);
	*ret = &s->base;
	return 0;
}

static void move_off(const struct view *view, struct plan *plan,
		     const struct job *job, uint32_t rank, uint32_t to)
{
	const struct host *from = &view->hosts[job->hosts[rank]];
	uint32_t *both = plan_hosts(plan, 2);

	both[0] = rank;
	both[1] = to;
	plan_migrate_by(plan, job, 1, both, both + 1, from->leave_by,
			BECAUSE(leaving, .from = from->ix, .to = to));
}

/*
 * Ranks leave hosts that are being drained, as far as there is room; for hosts with a
 * deadline evacuate.h gives the order.
 */
static void leave_drained(const struct spread *s, const struct view *view,
			  struct plan *plan)
{
	const struct host *h;
	const struct job *j;
	bool any = false;
	uint32_t to;

	for_each_host (h, view)
		any |= h->drain && !h->leave_by;
	if (!any)
		return;
	for_each_running(j, view)
	{
		if (j->state != JOB_RUNNING || !j->hosts)
			continue;
		for (uint32_t i = 0; i < j->n; i++)
			if (view->hosts[j->hosts[i]].drain &&
			    !view->hosts[j->hosts[i]].leave_by &&
			    place_least_delay_of(view, plan, j, true, 1,
						 s->placed.owners, &to))
				move_off(view, plan, j, i, to);
	}
}

static void spread_decide(struct policy *policy, const struct view *view,
			  struct plan *plan)
{
	const struct spread *s = (const struct spread *)policy;

	leave_going(view, plan);
	leave_drained(s, view, plan);
	placed_start(&s->placed, view, plan);
}

static void spread_explain(const struct policy *policy, const struct view *view,
			   const struct job *job, struct plan *plan)
{
	placed_explain(&((const struct spread *)policy)->placed, view, job,
		       plan);
}

static int64_t spread_most(const struct policy *policy, const struct view *view)
{
	return placed_most(&((const struct spread *)policy)->placed, view);
}

const struct policy_ops policy_spread = {
	.name = "spread",
	.summary =
		"live: each rank goes where the load and speed delay it least",
	.source = "Schnor 1997 section 4.1 (delay)",
	.details =
		"Jobs start in the order of submission.  Each rank in turn "
		"goes to the usable host with the least alpha * max(1, (1 + "
		"load + ranks) / cores); ties to fewer ranks, then the first "
		"host.  A pass costs the number of hosts and the ranks it "
		"places.  Ranks on a host that is being drained move by the "
		"same rule, those of the job that started first before "
		"others.",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SHARES | POLICY_LIVE,
	.create = spread_create,
	.decide = spread_decide,
	.explain = spread_explain,
	.most = spread_most,
};
