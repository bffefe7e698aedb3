/*
 * test_harvest_laws.c - hosts that are left alone, on random states: what each pass of harvest
 * plans is computed again
 *
 * Three definitions of idleness and recruitment thresholds; hosts that are used, drained or
 * closed, and whose owners come; jobs that come and end; a policy that is made anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"

#include "policy/migrate/test_pass.h"

enum { CPU, CONDOR, AGGRESSIVE };

static struct {
	int by;
	double load;
	usec_t recruit;
	usec_t calm
		[HOSTS]; /* since when it has had little load; -1: it has more */
	bool taken[HOSTS];   /* somebody is there, or on the way */
	usec_t quiet[HOSTS]; /* since then; -1: it is in use */
	FILE *plan;
} own;

static bool takes_guests(const struct host *h)
{
	return h->up && !h->drain && h->closed == CLOSED_NOT;
}

static void look_at_hosts(void)
{
	for (int i = 0; i < HOSTS; i++) {
		usec_t idle = host[i].idle_since == USEC_MAX
				      ? -1
				      : host[i].idle_since;

		own.quiet[i] = own.calm[i];
		if (own.by != CPU && (idle < 0 || own.calm[i] < 0))
			own.quiet[i] = -1;
		else if (own.by != CPU && idle > own.calm[i])
			own.quiet[i] = idle;
		own.taken[i] = host[i].nr_active;
	}
}

static bool is_free(int i)
{
	return takes_guests(&host[i]) && !host[i].owner_active &&
	       !own.taken[i] && own.quiet[i] >= 0 &&
	       view.now >= own.quiet[i] + own.recruit;
}

/* One more process beside the load there. */
static double slowness(int i)
{
	double share = (host[i].load + 1) / host[i].cores;

	return host[i].speed * (share > 1 ? share : 1);
}

/* The fastest free host, but not that one; -1: none */
static int fastest(int but)
{
	int best = -1;

	for (int i = 0; i < HOSTS; i++)
		if (i != but && is_free(i) &&
		    (best < 0 || slowness(i) < slowness(best)))
			best = i;
	return best;
}

static bool is_wanted(uint32_t h)
{
	return own.quiet[h] < 0 || host[h].owner_active;
}

static void expect_thaws(const struct job *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		if (job_rank_frozen(j, i) && !is_wanted(j->hosts[i]))
			fprintf(own.plan, "thaw job %d rank %u;", (int)j->id,
				i);
}

static void expect_leaves(const struct job *j)
{
	char ranks[40] = "", hosts[40] = "";
	int n = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		int here = (int)j->hosts[i], to = fastest(here);

		if (!is_wanted(j->hosts[i]) && !host[here].drain)
			continue;
		if (to < 0 && is_wanted(j->hosts[i]) && !job_rank_frozen(j, i))
			fprintf(own.plan, "freeze job %d rank %u;", (int)j->id,
				i);
		if (to < 0)
			continue;
		own.taken[to] = true;
		snprintf(ranks + strlen(ranks), 12, "%s%u", n ? "," : "", i);
		snprintf(hosts + strlen(hosts), 12, "%s%d", n++ ? "," : "", to);
	}
	if (n)
		fprintf(own.plan, "migrate job %d rank%s %s to %s;", (int)j->id,
			n > 1 ? "s" : "", ranks, hosts);
}

static void expect_starts(void)
{
	const struct job *j;

	for_each_waiting(j, &view)
	{
		uint32_t n = 0;

		for (int i = 0; i < HOSTS; i++)
			n += is_free(i);
		if (n < j->size)
			return;
		fprintf(own.plan, "start job %d with %u on ", (int)j->id,
			j->size);
		for (uint32_t i = 0; i < j->size; i++) {
			int to = fastest(-1);

			fprintf(own.plan, "%s%d", i ? "," : "", to);
			own.taken[to] = true;
		}
		fputc(';', own.plan);
	}
}

/* Somebody lacks a host, or something is under way: when does the next one get quiet? */
static void expect_wake(bool plans)
{
	usec_t next = USEC_MAX;
	const struct job *j;

	plans |= view.nr_waiting > 0;
	for_each_running(j, &view) plans |= j->ranks->nr_frozen > 0;
	for (int i = 0; i < HOSTS && plans; i++) {
		usec_t at = own.quiet[i] + own.recruit;

		if (takes_guests(&host[i]) && own.quiet[i] >= 0 &&
		    at > view.now && at < next)
			next = at;
	}
	if (next != USEC_MAX)
		fprintf(own.plan, "wake %d;", (int)(next / SEC));
}

static void expect_pass(void)
{
	const struct job *j;

	look_at_hosts();
	for_each_running(j, &view)
	{
		expect_thaws(j);
		expect_leaves(j);
	}
	expect_starts();
	expect_wake(ftell(own.plan) > 0);
}

static void tell(struct policy *p, struct event *e)
{
	e->at = view.now;
	model_apply(&view, e);
	policy_event(p, &view, e);
}

static void carry_out(struct policy *p)
{
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];
		struct event event = { .job = e->job,
				       .n = e->n,
				       .hosts = e->hosts };

		event.rank = e->rank;
		if (e->type == PLAN_START || e->type == PLAN_FREEZE ||
		    e->type == PLAN_THAW) {
			event.type = e->type == PLAN_START    ? EVENT_START
				     : e->type == PLAN_FREEZE ? EVENT_FREEZE
							      : EVENT_THAW;
			tell(p, &event);
		}
		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
			tell(p, &(struct event){ .type = EVENT_MIGRATE,
						 .job = e->job,
						 .rank = e->ranks[k],
						 .host = e->hosts[k] });
	}
}

static void change_one_host(struct random_stream *r, struct policy *p)
{
	uint32_t h = (uint32_t)random_below(r, HOSTS);
	struct host fresh = host[h];
	struct event e = { .type = EVENT_HOST, .host = h, .fresh = &fresh };

	fresh.load =
		random_below(r, 2) ? own.load * (double)random_below(r, 3) : 0;
	fresh.idle_since = random_below(r, 3) ? view.now : USEC_MAX;
	fresh.drain = !random_below(r, 8);
	fresh.owner_active = !random_below(r, 8);
	fresh.closed = fresh.owner_active   ? CLOSED_OWNER
		       : random_below(r, 6) ? CLOSED_NOT
					    : CLOSED_HOURS;
	if (fresh.load >= own.load)
		own.calm[h] = -1;
	else if (own.calm[h] < 0)
		own.calm[h] = view.now;
	tell(p, &e);
}

/* Some job comes, or one that runs ends. */
static void change_jobs(struct random_stream *r, struct policy *p, int64_t id)
{
	struct job *j = NULL, *some;

	if (random_below(r, 2)) {
		j = pass_arrive(id, 1 + (uint32_t)random_below(r, 3));
		policy_event(p, &view,
			     &(struct event){ .type = EVENT_ARRIVE,
					      .at = view.now,
					      .job = j });
		return;
	}
	for_each_running(some, &view) if (!j || random_below(r, 2)) j = some;
	if (!j)
		return;
	tell(p, &(struct event){ .type = EVENT_END, .job = j });
	view_job_destroy(&view, j);
}

static struct policy *create(const char *spec)
{
	struct policy *p;

	assert_int_equal(policy_create(spec, 1, &view, &p, NULL), 0);
	return p;
}

static struct policy *random_harvest(struct random_stream *r)
{
	static const char *const by[] = { "cpu", "condor", "aggressive" };
	static const int quiet[] = { 60, 900, 60 };
	int recruit = random_below(r, 2) ? 30 : 0;
	char spec[100];

	own.by = (int)random_below(r, 3);
	own.load = random_below(r, 2) ? 0.2 : 1;
	own.recruit = (recruit ? recruit : quiet[own.by]) * SEC;
	snprintf(spec, sizeof(spec), "harvest:by=%s,load=%g,recruit=%d",
		 by[own.by], own.load, recruit);
	view.now = 0;
	for (int i = 0; i < HOSTS; i++) {
		host[i].speed = 1 + (double)random_below(r, 2);
		host[i].cores = 1 + (uint32_t)random_below(r, 2);
		own.calm[i] = 0;
	}
	return create(spec);
}

/* Made anew from what it has saved, it knows as much. */
static struct policy *renewed(struct policy *p)
{
	struct policy *other;
	char *saved = policy_save(p, &view), spec[100];

	snprintf(spec, sizeof(spec), "harvest:by=%s,load=%g,recruit=%d",
		 own.by == CPU	    ? "cpu"
		 : own.by == CONDOR ? "condor"
				    : "aggressive",
		 own.load, (int)(own.recruit / SEC));
	other = create(spec);
	policy_adopt(other, &view);
	assert_int_equal(policy_load(other, &view, saved, NULL), 0);
	policy_destroy(p);
	free(saved);
	return other;
}

static void play_harvest(uint64_t seed)
{
	struct random_stream r;
	struct policy *p;

	random_init(&r, seed, "harvest", 0);
	p = random_harvest(&r);
	for (int64_t step = 1; step <= 60; step++) {
		char *wanted;
		size_t size;

		view.now +=
			(usec_t)random_below(&r, own.by == CONDOR ? 300 : 30) *
			SEC;
		if (random_below(&r, 2))
			change_one_host(&r, p);
		if (random_below(&r, 2))
			change_jobs(&r, p, step);
		own.plan = open_memstream(&wanted, &size);
		expect_pass();
		fclose(own.plan);
		plan_reset(&plan, &view);
		policy_decide(p, &view, &plan);
		pass_check_plan(wanted);
		free(wanted);
		carry_out(p);
		if (!random_below(&r, 10))
			p = renewed(p);
	}
	policy_destroy(p);
}

static void harvest_is_as_it_is_described(void **state)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		pass_end(state);
		pass_begin(state);
		play_harvest(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(harvest_is_as_it_is_described),
	};

	return cmocka_run_group_tests_name("harvest_laws", tests, NULL, NULL);
}
