/*
 * stint.c - our own: ranks move to where their job gets on faster
 *
 * A job runs at the rate of its slowest rank (strong synchronization).  So what
 * counts is how much the most delayed of its ranks is delayed, and how much it
 * would be if it, or the k most delayed ones together, were on other hosts
 * (model/host.h: speed, what is not ours, the ranks there).  Moves of a job are
 * planned when
 * - its greatest delay falls by a factor of at least 1 + `gain`;
 * - nobody else is slowed: at the destinations every rank keeps a core, or is
 *   alone with the owner's load;
 * - in the time that the job still has, by its estimate or else as long again as
 *   it has run, more is saved than the moves cost: how long they let it stand
 *   still, which is learnt, and a tenth of the time that they take;
 * - it would have paid already: the difference has been there for as long as it
 *   takes to earn what the moves cost.  What has lasted for some time will last
 *   as long again more often than not, and whoever waits so never loses more
 *   than twice what he must (ski rental);
 * - no rank of it is under way, and it has moved less than `moves` times an hour
 *   and rank.
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
#include "policy/migrate/targets.h"

/* Moves of one job that are weighed against each other at most. */
#define STEPS	  64
/*
 * While it is moved a rank runs on, a bit slower: what a second of that costs,
 * in seconds.
 */
#define UNDER_WAY 0.1

/* What is remembered of a running job; the list is by the job's ix. */
struct mind {
	int64_t id;    /* 0: none */
	usec_t since;  /* it could gain, since then; -1: it could not */
	double budget; /* moves it may make, */
	usec_t filled; /* ... as of then */
};

struct step {
	uint32_t rank, from, to;
};

struct stint {
	struct policy base;
	struct placed placed;
	struct flights flights;
	struct targets targets, tried; /* of a pass; tried: of one job */
	double gain, moves;
	unsigned leave; /* enum leave_how */
	struct mind *mind;
	size_t nr_minds;
	/*
	 * Of one pass, by host: how many ranks will be there, and the delay of
	 * each.
	 */
	uint32_t *guests;
	double *delay;
	struct step step[STEPS];
	uint32_t *place; /* of each rank of the job that is looked at */
	size_t cap_place;
};

/* All but the first are what others do, to be compared with. */
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
       "best idle host, {after:thousandths} times with {ranks} moved",
       before, after, ranks);
REASON(not_yet, "by then it has paid for job {job} to move", job);

static int stint_create(const struct policy_setup *setup, struct policy **ret,
			struct error *err)
{
	uint32_t n = setup->view->nr_hosts;
	struct stint *s = xcalloc(1, sizeof(*s));

	s->placed = placed_of(setup->params);
	s->gain = 1 + params_real(setup->params, "gain");
	s->moves = params_real(setup->params, "moves");
	s->leave = leave_hows[params_choice(setup->params, "leave")];
	flights_init(&s->flights, setup->params);
	s->guests = xcalloc(n + 1, sizeof(*s->guests));
	s->delay = xcalloc(n + 1, sizeof(*s->delay));
	*ret = &s->base;
	return 0;
}

static void stint_destroy(struct policy *policy)
{
	struct stint *s = (struct stint *)policy;

	flights_clear(&s->flights);
	targets_clear(&s->targets);
	targets_clear(&s->tried);
	free(s->mind);
	free(s->guests);
	free(s->delay);
	free(s->place);
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

/* ---- how hosts are in a pass ---- */

static void set_delay(struct stint *s, const struct host *h)
{
	uint32_t n = s->guests[h->ix];

	s->delay[h->ix] = host_delay(h, h->load + (n ? n - 1 : 0));
}

static void survey_hosts(struct stint *s, const struct view *view,
			 const struct plan *plan)
{
	const struct host *h;

	for_each_host (h, view)
		s->guests[h->ix] = plan_active(plan, h);
	for (size_t i = 0; i < s->flights.nr; i++)
		if (s->guests[s->flights.flight[i].from])
			s->guests[s->flights.flight[i].from]--;
	for_each_host (h, view)
		set_delay(s, h);
}

static void shift(struct stint *s, const struct view *view, uint32_t from,
		  uint32_t to)
{
	s->guests[from]--;
	s->guests[to]++;
	set_delay(s, &view->hosts[from]);
	set_delay(s, &view->hosts[to]);
}

/* ---- a job ---- */

static double greatest(const struct stint *s, const uint32_t *place, uint32_t n,
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

/* Seconds that the job probably still has, in which moves can pay. */
static double time_left(const struct view *view, const struct job *job)
{
	usec_t left = job->est_end == USEC_MAX ? view->now - job->start
					       : job->est_end - view->now;

	if (left < view->now - job->start && job->est_end <= view->now)
		left = view->now - job->start; /* longer than estimated */
	return usec_to_seconds(left > 0 ? left : 0);
}

/* What is gained by some of the steps that were tried. */
struct prospect {
	uint32_t steps;
	double before, after; /* greatest delay */
	double cost;	      /* seconds, of one move */
	double saved;	      /* seconds, all in all */
};

static void copy_targets(struct stint *s)
{
	size_t size = s->targets.nr * sizeof(*s->targets.target);

	targets_clear(&s->tried);
	s->tried.target = xmalloc(size + 1);
	memcpy(s->tried.target, s->targets.target, size);
	s->tried.nr = s->targets.nr;
}

static void copy_places(struct stint *s, const struct job *job)
{
	if (job->n > s->cap_place) {
		s->cap_place = job->n;
		s->place = xreallocarray(s->place, job->n, sizeof(*s->place));
	}
	memcpy(s->place, job->hosts, job->n * sizeof(*s->place));
}

/*
 * Move the most delayed rank to the best host, and again, as long as that helps
 * a rank; note after how many steps the job as a whole gains most.
 */
static uint32_t try_steps(struct stint *s, const struct view *view,
			  const struct job *job, double left,
			  struct prospect *best)
{
	uint32_t n = 0, rank = 0;
	double worst = best->before;

	greatest(s, s->place, job->n, &rank);
	while (n < STEPS) {
		struct target *to =
			targets_best(&s->tried, job, s->place[rank], true);
		double saved;

		if (!to || to->delay * s->gain > worst)
			break;
		s->step[n++] =
			(struct step){ rank, s->place[rank], to->host->ix };
		shift(s, view, s->place[rank], to->host->ix);
		s->place[rank] = to->host->ix;
		targets_take(&s->tried, to, job);
		worst = greatest(s, s->place, job->n, &rank);
		saved = left * (1 - worst / best->before) - n * best->cost;
		if (worst * s->gain <= best->before && saved > best->saved) {
			best->steps = n;
			best->after = worst;
			best->saved = saved;
		}
	}
	return n;
}

static void undo_steps(struct stint *s, const struct view *view, uint32_t n,
		       uint32_t down_to)
{
	while (n-- > down_to)
		shift(s, view, s->step[n].to, s->step[n].from);
}

/* Has it lasted for long enough?  Else there is a wake for when it has. */
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

	/* A rank may have been tried twice: its last place counts. */
	for (uint32_t i = 0; i < p->steps; i++) {
		uint32_t k = 0;

		while (k < n && ranks[k] != s->step[i].rank)
			k++;
		ranks[k] = s->step[i].rank;
		hosts[k] = s->step[i].to;
		n += k == n;
	}
	plan_migrate_by(plan, job, n, ranks, hosts, 0,
			BECAUSE(gains, .before = (int64_t)(p->before * 1000),
				.after = (int64_t)(p->after * 1000),
				.ranks = n));
}

/* The steps that were tried are what all others see from now on. */
static void adopt_steps(struct stint *s, const struct view *view,
			const struct job *job, uint32_t tried, uint32_t steps)
{
	undo_steps(s, view, tried, steps);
	for (uint32_t i = 0; i < steps; i++)
		for (size_t k = 0; k < s->targets.nr; k++)
			if (s->targets.target[k].host->ix == s->step[i].to) {
				targets_take(&s->targets, &s->targets.target[k],
					     job);
				break;
			}
}

static bool settled(const struct stint *s, const struct view *view,
		    const struct job *job)
{
	return job->state == JOB_RUNNING && job->hosts && !job->nr_frozen &&
	       !flights_any(&s->flights, job) && !leave_concerns(view, job);
}

static void improve_job(struct stint *s, const struct view *view,
			const struct job *job, struct plan *plan)
{
	struct mind *m = mind_of(s, job, view->now);
	uint32_t rank, tried;
	struct prospect p = {
		.before = greatest(s, job->hosts, job->n, &rank),
		.cost = s->flights.still +
			UNDER_WAY * flights_last(&s->flights, job),
	};

	if (!s->targets.nr || s->targets.target[0].delay * s->gain > p.before) {
		m->since = -1;
		return;
	}
	fill_budget(s, job, m, view->now);
	copy_targets(s);
	copy_places(s, job);
	tried = try_steps(s, view, job, time_left(view, job), &p);
	if (!p.steps)
		m->since = -1;
	else if (m->since < 0)
		m->since = view->now;
	if (p.steps && m->budget >= p.steps && has_paid(&p, m, job, plan)) {
		plan_steps(s, &p, job, plan);
		adopt_steps(s, view, job, tried, p.steps);
		m->budget -= p.steps;
		m->since = -1;
	} else {
		undo_steps(s, view, tried, 0);
	}
}

static void improve(struct stint *s, const struct view *view, struct plan *plan)
{
	const struct job *j;

	targets_make(&s->targets, view, plan);
	survey_hosts(s, view, plan);
	for_each_running(j, view) if (settled(s, view, j))
		improve_job(s, view, j, plan);
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
		"Jobs start as under spread. Ranks leave hosts that are to be "
		"given back or are drained, for where they are least delayed, "
		"or stand still where there is no place. Apart from that the "
		"most delayed ranks of a job, as many as help together, move "
		"when its greatest delay falls by the factor 1 + gain, nobody "
		"else is slowed, and what is saved in the time that the job has "
		"left pays for the moves, whose cost is learnt; and not before "
		"the difference has lasted for as long as it takes to earn "
		"that. A pass costs the hosts and the ranks that run, and where "
		"something can be gained a sort of the hosts.",
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
