/*
 * stable.c - what Schnor 1997 published: section 5.4, what a migration under
 * Dynamic-SED brings about
 *
 * Random hosts, loads, users and jobs, on which nothing moves by itself. Then one
 * host that has one process gets loaded, or users; nothing else ever changes, so
 * that all that moves after that process does so because of it.
 */
#include <stdlib.h>

#include "core/random.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/terms.h"
#include "sim/engine/sim.h"
#include "sim/reproduce/schnor.h"
#include "sim/workload/plain_host.h"
#include "sim/workload/script.h"

#define MB UINT64_C(1048576)

enum { HOSTS = 8, JOBS = 6, RANKS = 3, MOVES = 64 };

static const char policy[] = "dynamic-sed-1997:every=10,c1=2,c2=1,share=1";

/* Looks are 10 s apart. */
#define CHANGE (100 * USEC_PER_SEC)
#define END    (600 * USEC_PER_SEC)

struct state {
	struct workload base;
	struct workload_job job[JOBS];
	int next;
	struct host host[HOSTS];
	double load[HOSTS], users[HOSTS];
	double more_load, more_users; /* of the host that changes */
};

struct move {
	int64_t job;
	uint32_t rank, from, to;
};

/* What is seen of a run. */
struct seen {
	struct move move[MOVES];
	unsigned nr;
	uint32_t on[JOBS + 1][RANKS]; /* hosts, where ranks are */
	unsigned ranks[HOSTS];	      /* at the end */
};

/* ---- a state ---- */

static int state_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	struct state *s = (struct state *)workload;

	(void)err;
	if (s->next == JOBS)
		return 0;
	*ret = s->job[s->next++];
	return 1;
}

static const struct workload_ops state_ops = { .name = "random jobs",
					       .next = state_next };

static struct workload_job random_job(struct random_stream *r, int i)
{
	uint32_t n = 1 + (uint32_t)random_below(r, RANKS);

	return (struct workload_job){ .id = i + 1,
				      .submit = i * USEC_PER_SEC,
				      .run = 1000 * END,
				      .estimate = 1000 * END,
				      .size = n,
				      .min_size = n,
				      .kind = JOB_RIGID,
				      .memory = (1 + random_below(r, 8)) * MB };
}

static void make_state(uint64_t seed, uint64_t number, struct state *ret)
{
	struct random_stream r;

	random_init(&r, seed, "stable", number);
	*ret = (struct state){ .base = { .ops = &state_ops, .procs = HOSTS } };
	for (uint32_t h = 0; h < HOSTS; h++) {
		double alpha = h ? 1 + (double)random_below(&r, 4) : 1;

		ret->host[h] = plain_host("", alpha, 1,
					  (8 + random_below(&r, 24)) * MB);
		ret->host[h].ix = h;
		ret->load[h] =
			random_below(&r, 2) ? random_uniform(&r, 0, 3) : 0;
		ret->users[h] = !random_below(&r, 4);
	}
	for (int i = 0; i < JOBS; i++)
		ret->job[i] = random_job(&r, i);
	ret->more_load = random_uniform(&r, 1, 6);
	ret->more_users = (double)random_below(&r, 2);
}

/* ---- a run ---- */

static void note_event(void *data, const struct view *view,
		       const struct event *e)
{
	struct seen *s = data;
	uint32_t *on = e->job ? s->on[e->job->id] : NULL;

	if (e->type == EVENT_START)
		for (uint32_t i = 0; i < e->job->n; i++)
			on[i] = e->job->hosts[i];
	if (e->type == EVENT_MIGRATE) {
		if (s->nr < MOVES)
			s->move[s->nr++] =
				(struct move){ e->job->id, e->rank, on[e->rank],
					       e->host };
		on[e->rank] = e->host;
	}
	for (uint32_t h = 0; h < HOSTS && view->nr_running; h++)
		s->ranks[h] = view->hosts[h].nr_ranks;
}

/* who == HOSTS: nothing changes. */
static void write_script(const struct state *s, uint32_t who,
			 struct activity *ret)
{
	*ret = (struct activity)ACTIVITY_INIT;
	for (uint32_t h = 0; h < HOSTS; h++) {
		char name[] = { 'h', (char)('1' + h), '\0' };

		activity_add_host(ret, name);
	}
	for (uint32_t h = 0; h < HOSTS; h++) {
		activity_add(ret, 0, h, ACTIVITY_LOAD, s->load[h]);
		activity_add(ret, 0, h, ACTIVITY_USERS, s->users[h]);
	}
	if (who == HOSTS)
		return;
	activity_add(ret, CHANGE, who, ACTIVITY_LOAD,
		     s->load[who] + s->more_load);
	activity_add(ret, CHANGE, who, ACTIVITY_USERS,
		     s->users[who] + s->more_users);
}

static int run_state(struct state *s, uint32_t who, struct seen *ret,
		     struct error *err)
{
	struct script_event end[JOBS];
	const struct sim_script script = { .event = end, .nr = JOBS };
	const struct sim_observer observer = { .event = note_event,
					       .data = ret };
	struct owner_terms terms;
	struct activity activity;
	struct sim_config c = { .workload = &s->base,
				.policy = policy,
				.hosts = s->host,
				.nr_hosts = HOSTS,
				.observer = &observer,
				.script = &script,
				.activity = &activity,
				.terms = &terms,
				.no_terms = true };
	struct sim_result result;
	int rc;

	for (int i = 0; i < JOBS; i++)
		end[i] = (struct script_event){ .at = END,
						.type = SCRIPT_CANCEL,
						.target = i + 1 };
	*ret = (struct seen){ .nr = 0 };
	s->next = 0;
	owner_terms_init(&terms);
	write_script(s, who, &activity);
	rc = sim_run(&c, &result, err);
	if (!rc)
		sim_result_clear(&result);
	activity_clear(&activity);
	owner_terms_clear(&terms);
	return rc;
}

/* ---- what came of it ---- */

struct counts {
	unsigned moved;	   /* states in which the process moved at all, */
	unsigned again;	   /* it did once more, and nothing else before, */
	unsigned circular; /* moves led on from there to where it was, */
	unsigned others;   /* or any other moved */
};

/* Does a chain of moves, each from where the one before went, come to `home`? */
static bool comes_back(const struct seen *s, uint32_t home)
{
	bool reached[HOSTS] = { false };

	reached[s->move[0].to] = true;
	for (unsigned i = 1; i < s->nr; i++) {
		const struct move *m = &s->move[i];

		if (reached[m->from] && m->to == home)
			return true;
		reached[m->to] |= reached[m->from];
	}
	return false;
}

static bool same_process(const struct move *a, const struct move *b)
{
	return a->job == b->job && a->rank == b->rank;
}

static void count(const struct seen *s, uint32_t who, struct counts *ret)
{
	bool others = false;

	if (!s->nr || s->move[0].from != who)
		return;
	ret->moved++;
	ret->again += s->nr > 1 && same_process(&s->move[0], &s->move[1]);
	ret->circular += comes_back(s, who);
	for (unsigned i = 1; i < s->nr; i++)
		others |= !same_process(&s->move[0], &s->move[i]);
	ret->others += others;
}

static int try_state(struct reproduce *r, uint64_t number, struct counts *ret,
		     struct error *err)
{
	struct state s;
	struct seen calm, seen;
	uint32_t who = 0;
	int rc;

	make_state(r->seed, number, &s);
	rc = run_state(&s, HOSTS, &calm, err);
	if (rc < 0 || calm.nr)
		return rc;
	while (who < HOSTS && calm.ranks[who] != 1)
		who++;
	if (who == HOSTS)
		return 0;
	rc = run_state(&s, who, &seen, err);
	if (!rc)
		count(&seen, who, ret);
	return rc;
}

static void tell_count(struct reproduce *r, const char *what,
		       const char *published, unsigned is, unsigned of,
		       bool met)
{
	reproduce_fact(r, reproduce_text("%s", what), published,
		       reproduce_text("in %u of %u states", is, of), met, NULL);
}

int schnor_s5d(struct reproduce *r, struct error *err)
{
	unsigned nr = r->quick ? 1000 : 10000;
	struct counts c = { 0 };
	int rc = 0;

	for (unsigned i = 0; i < nr && !rc; i++)
		rc = try_state(r, i, &c, err);
	if (rc < 0)
		return rc;
	tell_count(r,
		   "a process that was moved moves again, nothing else having "
		   "changed",
		   "never: ping-pong-free", c.again, c.moved,
		   c.moved && !c.again);
	tell_count(r, "processes move on from there, and one to where it was",
		   "never: circular-free", c.circular, c.moved,
		   c.moved && !c.circular);
	tell_count(r, "another process moves because of it",
		   "now and then: not migration-stable", c.others, c.moved,
		   c.others > 0);
	return 0;
}
