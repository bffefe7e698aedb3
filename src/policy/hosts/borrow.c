/*
 * borrow.c - gang scheduling on hosts that are lent (Arpaci 1995 sections 2.2 and 4)
 *
 * Jobs take turns of one slice, in a ring; at a slice's start those that ran go to its
 * end.  A slice is given out from the front of the ring: each job whose own hosts are
 * still free runs in it, a rank a host.  If every job needs all hosts, that is the
 * paper's matrix with a job a row.
 *
 * A rank whose host is wanted back by its owner leaves at once for an open host if
 * there is one, whether its job has its turn or not.  A job does not run while one of
 * its ranks is on a host whose owner is there.  A host of its own user is open to a job
 * whatever its terms lend, and never wanted back from it.  A pass looks at the ranks of all jobs
 * that have hosts, and at all hosts for each rank that needs one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/hosts/lenders.h"
#include "policy/hosts/ring.h"
#include "policy/hosts/slices.h"

enum choice { BY_INDEX, BY_QUIET, BY_QUIET_ALONE };

struct borrow {
	struct policy base;
	struct slices slices;
	enum choice choice;
	struct ring ring;
	struct lenders lenders;
	/* Of a pass: */
	bool *taken;	 /* by host: has a job got it in this slice? */
	uint32_t *ranks; /* by host, with those that come; who leaves has a slot
			    until it has arrived elsewhere */
	bool *mine;	 /* by host: is the job in question there? */
	uint32_t nr_left; /* hosts open to all that are not taken */
	/* By place in the ring. */
	uint32_t **to;	    /* its hosts; NULL: no turn */
	uint32_t *homeless; /* ranks that need another host */
};

static const char *const choices[] = { "index", "quiet", "longest", NULL };

static const struct param params[] = {
	SLICES_PARAMS,
	{ "choose", PARAM_CHOICE, BY_INDEX, 0, 0, choices,
	  "of open hosts with as few ranks the first, or the one that has been "
	  "quiet for longest; or that one, however many ranks it has" },
	{ .name = NULL },
};

REASON(its_turn, "it is first in the ring of {jobs} {jobs:job|jobs}", jobs);
REASON(beside, "the hosts that it needs are free in this slice");
REASON(slice_is_over, "the slice is over");
REASON(no_place,
       "the owner of {from:host} needs it, and no open host is free for its "
       "rank",
       from);
REASON(wanted_back, "the owner of {from:host} needs it", from);
REASON(turn_comes, "{jobs} {jobs:job is|jobs are} before it in the ring", jobs);
REASON(too_few,
       "it needs {ranks} open {ranks:host|hosts}, and there {hosts:is|are} "
       "{hosts}",
       ranks, hosts);

static int borrow_create(const struct policy_setup *setup, struct policy **ret,
			 struct error *err)
{
	struct borrow *p = xcalloc(1, sizeof(*p));
	uint32_t n = setup->view->nr_hosts;

	(void)err;
	slices_init(&p->slices, setup->params);
	lenders_init(&p->lenders, n);
	p->choice = (enum choice)params_choice(setup->params, "choose");
	p->taken = xcalloc(n + 1, sizeof(*p->taken));
	p->ranks = xcalloc(n + 1, sizeof(*p->ranks));
	p->mine = xcalloc(n + 1, sizeof(*p->mine));
	*ret = &p->base;
	return 0;
}

static void borrow_destroy(struct policy *policy)
{
	struct borrow *p = (struct borrow *)policy;

	ring_clear(&p->ring);
	lenders_clear(&p->lenders);
	free(p->to);
	free(p->homeless);
	free(p->taken);
	free(p->ranks);
	free(p->mine);
	free(p);
}

static void borrow_event(struct policy *policy, const struct view *view,
			 const struct event *e)
{
	struct borrow *p = (struct borrow *)policy;

	(void)view;
	lenders_event(&p->lenders, e);
	if (e->type == EVENT_ARRIVE)
		ring_add(&p->ring, e->job);
	else if (e->type == EVENT_END)
		ring_drop(&p->ring, e->job);
}

/* ---- hosts ---- */

static bool is_open(const struct borrow *p, const struct host *h,
		    const struct job *job)
{
	return lends_to(h, job) && p->ranks[h->ix] < h->slots &&
	       !p->mine[h->ix];
}

static bool is_better(const struct borrow *p, const struct host *a,
		      const struct host *b)
{
	bool alike = !b || p->choice == BY_QUIET_ALONE ||
		     p->ranks[a->ix] == p->ranks[b->ix];

	return !b ||
	       (alike ? p->choice != BY_INDEX && a->idle_since < b->idle_since
		      : p->ranks[a->ix] < p->ranks[b->ix]);
}

/* free: only a host that no job has in this slice. */
static const struct host *best_host(const struct borrow *p,
				    const struct view *view,
				    const struct job *job, bool free)
{
	const struct host *h, *best = NULL;

	for_each_host (h, view)
		if (is_open(p, h, job) && !(free && p->taken[h->ix]) &&
		    is_better(p, h, best))
			best = h;
	return best;
}

static void mark(bool *hosts, const uint32_t *of, uint32_t n, bool as)
{
	for (uint32_t i = 0; i < n; i++)
		hosts[of[i]] = as;
}

static uint32_t count_homeless(const struct borrow *p, const struct view *view,
			       const struct job *job)
{
	uint32_t n = job->hosts ? 0 : job->size;

	for (uint32_t i = 0; job->hosts && i < job->n; i++)
		n += !may_stay(&p->lenders, view, job, i);
	return n;
}

/* All of it may stay where it is; in this slice, too? */
static bool stays(const struct borrow *p, const struct job *job, uint32_t *ret)
{
	for (uint32_t i = 0; i < job->n; i++) {
		if (p->taken[job->hosts[i]])
			return false;
		ret[i] = job->hosts[i];
	}
	return true;
}

/*
 * Find a host for each rank: the one where it is, if it may stay there, else an open
 * one.  False if there is none, or if one of its own hosts is taken in this slice:
 * nothing moves because of that.
 */
static bool find_hosts(struct borrow *p, const struct view *view,
		       const struct job *job, uint32_t *ret)
{
	uint32_t had = job->hosts ? job->n : 0, i;

	for (i = 0; i < had; i++)
		if (p->taken[job->hosts[i]] &&
		    may_stay(&p->lenders, view, job, i))
			return false;
	mark(p->mine, job->hosts, had, true);
	for (i = 0; i < job->size; i++) {
		const struct host *to =
			i < had ? &view->hosts[job->hosts[i]] : NULL;

		if (!to || !may_stay(&p->lenders, view, job, i))
			to = best_host(p, view, job, true);
		if (!to)
			break;
		ret[i] = to->ix;
		p->mine[to->ix] = true;
	}
	mark(p->mine, ret, i, false);
	mark(p->mine, job->hosts, had, false);
	return i == job->size;
}

/* ---- a slice is given out ---- */

static void move_ranks(const struct view *view, struct plan *plan,
		       const struct job *job, const uint32_t *to)
{
	uint32_t *ranks = plan_hosts(plan, job->n);
	uint32_t *hosts = plan_hosts(plan, job->n);
	uint32_t n = 0, from;

	for (uint32_t i = 0; i < job->n; i++) {
		if (to[i] == job->hosts[i])
			continue;
		ranks[n] = i;
		hosts[n++] = to[i];
	}
	if (!n)
		return;
	from = job->hosts[ranks[0]];
	plan_migrate_by(plan, job, n, ranks, hosts, view->hosts[from].leave_by,
			BECAUSE(wanted_back, .from = from));
}

/* Give this slice to the job at that place of the ring, if it can have it. */
static void choose_slice(struct borrow *p, const struct view *view,
			 struct plan *plan, size_t place)
{
	struct job *job = p->ring.job[place];
	uint32_t *to = plan_hosts(plan, job->size);

	if (p->homeless[place] > p->nr_left + p->lenders.nr_own ||
	    (p->homeless[place] ? !find_hosts(p, view, job, to)
				: !stays(p, job, to)))
		return;
	mark(p->taken, to, job->size, true);
	for (uint32_t i = 0; i < job->size; i++) {
		p->ranks[to[i]] += !job->hosts || to[i] != job->hosts[i];
		p->nr_left -= p->lenders.lends[to[i]];
	}
	p->to[place] = to;
}

static void go(struct borrow *p, const struct view *view, struct plan *plan,
	       size_t place)
{
	struct job *job = p->ring.job[place];
	struct because why =
		place ? BECAUSE(beside)
		      : BECAUSE(its_turn, .jobs = (int64_t)p->ring.nr);

	if (job->state == JOB_WAITING) {
		plan_start_on(plan, job, job->size, p->to[place], why);
		return;
	}
	move_ranks(view, plan, job, p->to[place]);
	if (job->state == JOB_SUSPENDED)
		plan_resume(plan, job, NULL, why);
}

/* Suspend a job without a turn, or with a rank that must leave and has no host. */
static void suspend(const struct borrow *p, const struct view *view,
		    struct plan *plan, size_t place)
{
	const struct job *job = p->ring.job[place];
	uint32_t i = 0;

	while (p->homeless[place] && may_stay(&p->lenders, view, job, i))
		i++;
	plan_suspend(plan, job,
		     p->homeless[place]
			     ? BECAUSE(no_place, .from = job->hosts[i])
			     : BECAUSE(slice_is_over));
}

/* Ranks of a job that does not run leave as well, as many as find a host. */
static void clear_out(struct borrow *p, const struct view *view,
		      struct plan *plan, size_t place)
{
	const struct job *job = p->ring.job[place];
	uint32_t *to;

	if (!p->homeless[place])
		return;
	to = plan_hosts(plan, job->n);
	memcpy(to, job->hosts, job->n * sizeof(*to));
	mark(p->mine, job->hosts, job->n, true);
	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *best;

		if (may_stay(&p->lenders, view, job, i))
			continue;
		if (!(best = best_host(p, view, job, false)))
			break;
		to[i] = best->ix;
		p->ranks[best->ix]++;
		p->mine[best->ix] = true;
	}
	mark(p->mine, to, job->n, false);
	mark(p->mine, job->hosts, job->n, false);
	move_ranks(view, plan, job, to);
}

/* Note how hosts and jobs are before this pass. */
static void survey(struct borrow *p, const struct view *view)
{
	const struct host *h;

	lenders_look(&p->lenders, view);
	memset(p->taken, 0, view->nr_hosts * sizeof(*p->taken));
	for_each_host (h, view)
		p->ranks[h->ix] = h->nr_ranks;
	p->nr_left = p->lenders.nr_open;
	p->to = xreallocarray(p->to, p->ring.nr, sizeof(*p->to));
	memset(p->to, 0, p->ring.nr * sizeof(*p->to));
	p->homeless =
		xreallocarray(p->homeless, p->ring.nr, sizeof(*p->homeless));
	for (size_t i = 0; i < p->ring.nr; i++)
		p->homeless[i] = count_homeless(p, view, p->ring.job[i]);
}

/* Whether the places where the job runs and may stay are taken. */
static void hold_places(struct borrow *p, const struct view *view,
			const struct job *job, bool as)
{
	for (uint32_t i = 0; i < job->n; i++)
		if (may_stay(&p->lenders, view, job, i))
			p->taken[job->hosts[i]] = as;
}

/*
 * Within a slice the jobs that run go on.  A rank that must leave gets no place of
 * another one of them, whichever of the two is first in the ring.
 */
static void go_on(struct borrow *p, const struct view *view, struct plan *plan)
{
	for (size_t i = 0; i < p->ring.nr; i++)
		if (p->ring.job[i]->state == JOB_RUNNING)
			hold_places(p, view, p->ring.job[i], true);
	for (size_t i = 0; i < p->ring.nr; i++)
		if (p->ring.job[i]->state == JOB_RUNNING) {
			hold_places(p, view, p->ring.job[i], false);
			choose_slice(p, view, plan, i);
		}
}

/*
 * Choose which jobs run in this slice.  Within a slice the jobs that run go on first,
 * and others get idle hosts if that is worth it.  False if a job is left out that waits
 * only for its turn, not for hosts.
 */
static bool give_out(struct borrow *p, const struct view *view,
		     struct plan *plan, bool new_slice)
{
	bool lend = new_slice || slices_lend(&p->slices, view);
	bool all = true;

	if (!new_slice)
		go_on(p, view, plan);
	for (size_t i = 0; i < p->ring.nr && lend; i++)
		if (new_slice || p->ring.job[i]->state != JOB_RUNNING)
			choose_slice(p, view, plan, i);
	for (size_t i = 0; i < p->ring.nr; i++)
		all &= p->to[i] ||
		       p->homeless[i] >
			       lenders_of(&p->lenders, view, p->ring.job[i]);
	return all;
}

/* Plan stops before starts, so that no host ever has two jobs. */
static void plan_slice(struct borrow *p, const struct view *view,
		       struct plan *plan)
{
	for (size_t i = 0; i < p->ring.nr; i++)
		if (!p->to[i] && p->ring.job[i]->state == JOB_RUNNING)
			suspend(p, view, plan, i);
	for (size_t i = 0; i < p->ring.nr; i++)
		if (p->to[i])
			go(p, view, plan, i);
		else if (p->ring.job[i]->state != JOB_WAITING)
			clear_out(p, view, plan, i);
}

static void borrow_decide(struct policy *policy, const struct view *view,
			  struct plan *plan)
{
	struct borrow *p = (struct borrow *)policy;
	bool new_slice, all;

	if (!p->ring.nr) {
		slices_stop(&p->slices, view);
		return;
	}
	slices_cut(&p->slices, view, plan);
	new_slice = slices_over(&p->slices, view);
	if (new_slice)
		ring_turn(&p->ring);
	survey(p, view);
	all = give_out(p, view, plan, new_slice);
	plan_slice(p, view, plan);
	if (all)
		slices_stop(&p->slices, view); /* no job waits for a turn */
	else if (new_slice)
		slices_next(&p->slices, view, plan);
}

static void borrow_explain(const struct policy *policy, const struct view *view,
			   const struct job *job, struct plan *plan)
{
	const struct borrow *p = (const struct borrow *)policy;
	const struct host *h;
	int64_t open = 0, before = (int64_t)ring_find(&p->ring, job);

	for_each_host (h, view)
		open += lends_to(h, job);
	plan_defer(plan, job,
		   open < job->size
			   ? BECAUSE(too_few, .ranks = job->size, .hosts = open)
			   : BECAUSE(turn_comes, .jobs = before));
}

/* Saved: the slice's end, then the ring. */
static void borrow_save(const struct policy *policy, const struct view *view,
			FILE *to)
{
	const struct borrow *p = (const struct borrow *)policy;

	(void)view;
	fprintf(to, "%" PRId64 "\n", p->slices.end);
	ring_save(&p->ring, to);
}

static int borrow_load(struct policy *policy, const struct view *view,
		       const char *text, struct error *err)
{
	struct borrow *p = (struct borrow *)policy;
	usec_t end;
	int used;

	if (sscanf(text, "%" SCNd64 "\n%n", &end, &used) != 1)
		return policy_damaged(policy, text, err);
	text += used;
	if (!ring_load(&p->ring, view, &text))
		return policy_damaged(policy, text, err);
	slices_resume(&p->slices, end);
	return 0;
}

const struct policy_ops policy_borrow = {
	.name = "borrow",
	.summary = "gang slices on hosts that their owners lend",
	.source = "Arpaci 1995 sections 2.2 and 4",
	.details =
		"Jobs take turns of one slice (2 s in the paper), a rank a "
		"host, on hosts whose terms let guests in; several run at a "
		"time where their hosts differ. A rank whose host is wanted "
		"back goes to an open one at once, and its job with it stands "
		"still for what a move costs; where there is none the job has no "
		"turn. A pass costs the ranks of jobs that have hosts, and the "
		"hosts for each rank that needs one. A host of its own user is "
		"open to a job whatever its terms lend, and never wanted back "
		"from it.",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SLICES | POLICY_OWNERS,
	.create = borrow_create,
	.event = borrow_event,
	.decide = borrow_decide,
	.explain = borrow_explain,
	.most = slices_most,
	.save = borrow_save,
	.load = borrow_load,
	.destroy = borrow_destroy,
};
