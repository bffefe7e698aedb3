/*
 * stint.c - Stint's own policy: ranks move to where their job runs faster
 *
 * A job runs at the rate of its slowest rank (strong synchronization).  So what
 * counts is the delay of its most delayed rank, and what that would be if this rank,
 * or the k most delayed ones together, were on other hosts: model/host.h has the delay
 * by a host's speed, the load of others and the ranks there, model/talk.h that by
 * waiting for partners on other hosts, so that ranks that talk much come together.
 * Moves of a job are planned when
 * - its greatest delay falls by a factor of at least 1 + `gain`;
 * - no other job is slowed: at the destinations every rank keeps a core, or is
 *   alone with the owner's load;
 * - in the time that the job will still run, by its estimate or else as long again as
 *   it has run, more is saved than the moves cost: for how long they stop it, which is
 *   learnt, of its own ranks where they have moved, and a tenth of the time that they
 *   take, which is longer where they are known to write much;
 * - it would have paid off already: the difference has lasted for as long as it
 *   takes to earn what the moves cost.  What has lasted for some time lasts as long
 *   again more often than not, and whoever waits so never loses more than twice what
 *   is unavoidable (ski rental);
 * - no move to one of the destinations has just failed;
 * - no rank of it is under way, and it has made fewer than `moves` moves per hour and
 *   rank.
 * Ranks that are under way count at their destinations.  With loads as they are
 * each move lowers the greatest delay of a job by that factor and raises nobody's,
 * so there is an end to it: no ping-pong, no circle, no herd.
 *
 * A pass costs the hosts and the ranks that run; where something can be gained,
 * sorting the hosts once, and for each job that gains its ranks times the moves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/kit/placed.h"
#include "policy/kit/policy.h"
#include "policy/migrate/flights.h"
#include "policy/migrate/leave.h"
#include "policy/migrate/steps.h"
#include "policy/migrate/targets.h"

/*
 * While it is moved a rank runs on, but a bit slower: what a second of that costs, in
 * seconds.
 */
#define UNDER_WAY 0.1

/* What is remembered of a running job, by the job's ix. */
struct mind {
	int64_t id;    /* 0: none */
	usec_t since;  /* since when it could gain by moves; -1: it cannot */
	double budget; /* how many moves it may make, */
	usec_t filled; /* ... as of then */
};

struct stint {
	struct policy base;
	struct placed placed;
	struct flights flights;
	struct targets targets; /* of the pass */
	struct steps steps;
	double moves;
	unsigned leave; /* enum leave_how */
	struct mind *mind;
	size_t nr_minds;
};

/* All but the first are what other systems do, for comparison. */
static const char *const leaves[] = { "move", "anew", "still", "not", NULL };
static const unsigned leave_hows[] = { LEAVE_MOVES | LEAVE_FREEZES, LEAVE_ANEW,
				       LEAVE_FREEZES, 0 };

static const struct param params[] = {
	PLACED_PARAMS,
	{ "leave", PARAM_CHOICE, 0, 0, 0, leaves,
	  "for an owner ranks move; or their jobs begin anew, if their users let "
	  "them; or they stand still; or they stay" },
	{ "gain", PARAM_REAL, 0.2, 0.01, 100, NULL,
	  "by this part a job's greatest delay must fall for it to move" },
	{ "moves", PARAM_REAL, 240, 0, 1e6, NULL,
	  "moves an hour, for each rank of a job, that are for speed alone" },
	FLIGHTS_PARAMS,
	{ .name = NULL },
};

REASON(gains,
       "its slowest rank takes {before:thousandths} times as long as on the "
       "best idle host, and {after:thousandths} times with {ranks} moved",
       before, after, ranks);
REASON(failed_there, "a move to {host:host} has just failed", host);
REASON(not_yet,
       "if the difference lasts until then, moves of job {job} pay off", job);

static int stint_create(const struct policy_setup *setup, struct policy **ret,
			struct error *err)
{
	struct stint *s = xcalloc(1, sizeof(*s));

	s->placed = placed_of(setup->params);
	s->moves = params_real(setup->params, "moves");
	s->leave = leave_hows[params_choice(setup->params, "leave")];
	flights_init(&s->flights, setup->params);
	steps_init(&s->steps, setup->view->nr_hosts,
		   1 + params_real(setup->params, "gain"));
	*ret = &s->base;
	return 0;
}

static void stint_destroy(struct policy *policy)
{
	struct stint *s = (struct stint *)policy;

	flights_clear(&s->flights);
	targets_clear(&s->targets);
	steps_clear(&s->steps);
	free(s->mind);
	free(s);
}

static void stint_event(struct policy *policy, const struct view *view,
			const struct event *e)
{
	struct stint *s = (struct stint *)policy;

	flights_event(&s->flights, view, e);
	if ((e->type == EVENT_END || e->type == EVENT_REQUEUE) &&
	    e->job->ix < s->nr_minds)
		s->mind[e->job->ix].id = 0;
}

/* ---- what is remembered of a job ---- */

static double most_budget(const struct job *job)
{
	return 4 + 2. * job->n;
}

static struct mind *mind_of(struct stint *s, const struct job *job, usec_t now)
{
	struct mind *m;

	if (job->ix >= s->nr_minds) {
		size_t n = 2 * (size_t)job->ix + 64;

		s->mind = xreallocarray(s->mind, n, sizeof(*s->mind));
		memset(s->mind + s->nr_minds, 0,
		       (n - s->nr_minds) * sizeof(*s->mind));
		s->nr_minds = n;
	}
	m = &s->mind[job->ix];
	if (m->id != job->id)
		*m = (struct mind){ job->id, -1, most_budget(job), now };
	return m;
}

static void fill_budget(const struct stint *s, const struct job *job,
			struct mind *m, usec_t now)
{
	double more = usec_to_seconds(now - m->filled) * s->moves / 3600;

	m->budget += more * job->n;
	if (m->budget > most_budget(job))
		m->budget = most_budget(job);
	m->filled = now;
}

/* ---- a job ---- */

/* Seconds for which the job will probably still run, in which moves can pay off. */
static double time_left(const struct view *view, const struct job *job)
{
	usec_t left = job->est_end == USEC_MAX ? view->now - job->start
					       : job->est_end - view->now;

	if (left < view->now - job->start && job->est_end <= view->now)
		/* it has run longer than estimated */
		left = view->now - job->start;
	return usec_to_seconds(left > 0 ? left : 0);
}

/* Has the difference lasted for long enough?  If not, ask to be woken when it has. */
static bool has_paid(const struct prospect *p, const struct mind *m,
		     const struct job *job, struct plan *plan)
{
	usec_t now = plan->view->now, at;
	double need = p->steps * p->cost / (1 - p->after / p->before);

	at = m->since + (usec_t)(need * USEC_PER_SEC);
	if (at <= now)
		return true;
	plan_wake(plan, at, BECAUSE(not_yet, .job = job->id));
	return false;
}

static void plan_steps(struct stint *s, const struct prospect *p,
		       const struct job *job, struct plan *plan)
{
	uint32_t *ranks = plan_hosts(plan, p->steps);
	uint32_t *hosts = plan_hosts(plan, p->steps), n = 0;

	/* A rank may have been moved twice: its last place counts. */
	for (uint32_t i = 0; i < p->steps; i++) {
		uint32_t k = 0;

		while (k < n && ranks[k] != s->steps.step[i].rank)
			k++;
		ranks[k] = s->steps.step[i].rank;
		hosts[k] = s->steps.step[i].to;
		n += k == n;
	}
	plan_migrate_by(plan, job, n, ranks, hosts, 0,
			BECAUSE(gains, .before = (int64_t)(p->before * 1000),
				.after = (int64_t)(p->after * 1000),
				.ranks = n));
}

static bool settled(const struct stint *s, const struct view *view,
		    const struct job *job)
{
	return job->state == JOB_RUNNING && job->hosts &&
	       !job->ranks->nr_frozen && !flights_any(&s->flights, job) &&
	       !leave_concerns(view, job);
}

static void improve_job(struct stint *s, const struct view *view,
			const struct job *job, struct plan *plan)
{
	struct mind *m = mind_of(s, job, view->now);
	struct prospect p = {
		.before = steps_look(&s->steps, view, job),
		.cost = flights_still(&s->flights, job) +
			UNDER_WAY * flights_last(&s->flights, job),
	};

	if (!s->targets.nr ||
	    s->targets.target[0].delay * s->steps.gain > p.before) {
		m->since = -1;
		return;
	}
	fill_budget(s, job, m, view->now);
	steps_try(&s->steps, &s->targets, view, job, time_left(view, job), &p);
	if (!p.steps)
		m->since = -1;
	else if (m->since < 0)
		m->since = view->now;
	if (p.steps && m->budget >= p.steps && has_paid(&p, m, job, plan)) {
		plan_steps(s, &p, job, plan);
		steps_adopt(&s->steps, view, job, p.steps, &s->targets);
		m->budget -= p.steps;
		m->since = -1;
	} else {
		steps_undo(&s->steps, view, 0);
	}
}

/* Hosts to which moves have just failed are looked at again. */
static void wake_for_shunned(const struct flights *f, struct plan *plan)
{
	uint32_t host;
	usec_t at = flights_shun_until(f, &host);

	if (at != USEC_MAX)
		plan_wake(plan, at, BECAUSE(failed_there, .host = host));
}

static void improve(struct stint *s, const struct view *view, struct plan *plan)
{
	const struct job *j;

	targets_make(&s->targets, view, plan, &s->flights);
	steps_survey(&s->steps, &s->flights, view, plan);
	for_each_running(j, view) if (settled(s, view, j))
		improve_job(s, view, j, plan);
	wake_for_shunned(&s->flights, plan);
}

static void stint_decide(struct policy *policy, const struct view *view,
			 struct plan *plan)
{
	struct stint *s = (struct stint *)policy;
	size_t first;

	leave_first(s->leave, &s->flights, view, plan, &s->targets);
	first = plan->nr;
	placed_start(&s->placed, view, plan);
	if (plan->nr > first)
		targets_clear(&s->targets);
	if (!view->nr_running)
		return;
	first = plan->nr;
	improve(s, view, plan);
	flights_note(&s->flights, plan, first);
}

static void stint_explain(const struct policy *policy, const struct view *view,
			  const struct job *job, struct plan *plan)
{
	placed_explain(&((const struct stint *)policy)->placed, view, job,
		       plan);
}

static int64_t stint_most(const struct policy *policy, const struct view *view)
{
	return placed_most(&((const struct stint *)policy)->placed, view);
}

static void stint_save(const struct policy *policy, const struct view *view,
		       FILE *to)
{
	const struct stint *s = (const struct stint *)policy;
	const struct job *j;

	flights_save(&s->flights, to);
	for_each_running(j, view)
	{
		const struct mind *m = s->mind + j->ix;

		if (j->ix < s->nr_minds && m->id == j->id)
			fprintf(to,
				"%" PRId64 " %" PRId64 " %.17g %" PRId64 "\n",
				m->id, m->since, m->budget, m->filled);
	}
}

static int stint_load(struct policy *policy, const struct view *view,
		      const char *text, struct error *err)
{
	struct stint *s = (struct stint *)policy;
	const struct job *job = NULL;
	struct mind m;
	int n;

	if (flights_load(&s->flights, view, &text) < 0)
		return policy_damaged(policy, text, err);
	for (; *text; text += n) {
		if (sscanf(text, "%" SCNd64 " %" SCNd64 " %lg %" SCNd64 "\n%n",
			   &m.id, &m.since, &m.budget, &m.filled, &n) != 4 ||
		    !(m.budget >= 0) || m.filled > view->now)
			return policy_damaged(policy, text, err);
		job = view_find_next(view, job, m.id);
		if (job && job->state != JOB_WAITING)
			*mind_of(s, job, view->now) = m;
	}
	return 0;
}

const struct policy_ops policy_stint = {
	.name = "stint",
	.summary = "live: ranks leave owners, and move to where their job gets "
		   "on faster",
	.source = "Stint; Schnor 1997 section 1.3.2 (strong synchronization)",
	.details =
		"Jobs start as under spread. Ranks leave hosts that owners "
		"need or that are drained for the hosts that delay them "
		"least, or stand still if there is no place. Apart from that, "
		"a job's most delayed ranks move, as many as help together, "
		"when this lowers its greatest delay by the factor 1 + gain, "
		"slows down no other job, and saves more in the time that the "
		"job has left than the moves cost; but only once that has "
		"been so for as long as it takes to earn this cost. Delays "
		"come from hosts and from waiting for ranks on other hosts; "
		"costs are learnt. A pass costs the hosts and the running "
		"ranks and, if something can be gained, a sort of the hosts.",
	.params = params,
	.flags = POLICY_HOSTS | POLICY_SHARES | POLICY_LIVE | POLICY_OWNERS,
	.create = stint_create,
	.event = stint_event,
	.decide = stint_decide,
	.explain = stint_explain,
	.most = stint_most,
	.save = stint_save,
	.load = stint_load,
	.destroy = stint_destroy,
};
