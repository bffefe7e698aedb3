/*
 * test_deciders.c - what holds for every policy that moves ranks by itself, on
 * random hosts among random owners
 *
 * - No rank is sent to a host that is closed, down or full.
 * - While nothing happens but what the policy itself does, no rank comes to a
 *   host where it has been: no ping-pong and no circle, and an end to it.
 * - What it saves is all that it remembers, in the middle of moves, too, after some have
 *   failed, and between an event and the pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "model/activity.h"
#include "model/terms.h"
#include "sim/engine/testing.h"
#include "sim/workload/script.h"

#define NR_HOSTS 12
#define NR_RANKS 8

/* Policies, and how many moves there must be for a test to mean anything. */
static const struct {
	const char *policy;
	uint64_t least;
} deciders[] = {
	{ "stint", 1000 },
	{ "stint:oversubscribe=no", 1000 },
	{ "stint:gain=0.05,moves=100000", 1000 },
	{ "dynamic-sed", 200 },
	{ "dynamic-sed:every=2,c1=1,c2=1,users=1", 200 },
	{ "harvest:recruit=5,load=2", 200 },
	{ "dynamite", 200 },
};

static struct owner_terms terms;
static struct host hosts[NR_HOSTS];

/* Where the ranks of jobs have been since something else happened. */
struct watch {
	const char *policy;
	bool been[300][NR_RANKS][NR_HOSTS];
	uint64_t moves;
};

static bool is_own(enum event_type type)
{
	return type == EVENT_MIGRATE || type == EVENT_FREEZE ||
	       type == EVENT_THAW || type == EVENT_TIMER;
}

static void see_event(void *data, const struct view *view,
		      const struct event *e)
{
	struct watch *w = data;
	const struct job *j;

	if (!is_own(e->type))
		memset(w->been, 0, sizeof(w->been));
	for_each_running(j, view) for (uint32_t i = 0;
				       i < j->n && !is_own(e->type); i++)
		w->been[j->id % 300][i][j->hosts[i]] = true;
	if (e->type != EVENT_MIGRATE)
		return;
	w->moves++;
	if (w->been[e->job->id % 300][e->rank][e->host])
		fail_msg("%s: rank %u of job %ld comes back to host %u",
			 w->policy, e->rank, (long)e->job->id, e->host);
	w->been[e->job->id % 300][e->rank][e->host] = true;
}

static void count_moves(void *data, const struct view *view,
			const struct event *e)
{
	((struct watch *)data)->moves += e->type == EVENT_MIGRATE;
}

static void see_move(const struct watch *w, const struct view *view,
		     const struct plan_entry *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const struct host *h = &view->hosts[e->hosts[i]];

		if (!host_usable(h) || h->owner_active ||
		    e->hosts[i] == e->job->hosts[e->ranks[i]])
			fail_msg("%s: rank %u of job %ld is sent to host %u",
				 w->policy, e->ranks[i], (long)e->job->id,
				 h->ix);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(e->ranks[i], e->ranks[k]);
	}
}

static void see_plan(void *data, const struct view *view,
		     const struct plan *plan)
{
	const struct host *h;

	for (size_t i = 0; i < plan->nr; i++)
		if (plan->entry[i].type == PLAN_MIGRATE)
			see_move(data, view, &plan->entry[i]);
	for_each_host (h, view)
		assert_true(h->nr_ranks + (int64_t)plan->ranks[h->ix] +
				    plan->leaving[h->ix] <=
			    h->slots);
}

static void draw_hosts(struct random_stream *r)
{
	for (uint32_t i = 0; i < NR_HOSTS; i++)
		hosts[i] = (struct host){
			.name = "",
			.speed = 1 + (double)random_below(r, 8) / 4,
			.cores = 1 + (uint32_t)random_below(r, 3),
			.memory = 1 << 30,
			.memory_free = 1 << 30,
			.slots = 6,
			.up = true,
		};
	hosts[0].speed = 1;
}

/*
 * Changes are so seldom that moves end in between. At the end all hosts are
 * idle, as some policies start nothing on hosts with load.
 */
static struct activity draw_script(struct random_stream *r)
{
	struct activity a = ACTIVITY_INIT;
	char name[8];
	usec_t at = 0;

	for (int i = 0; i < NR_HOSTS; i++) {
		snprintf(name, sizeof(name), "h%d", i + 1);
		activity_add_host(&a, name);
	}
	for (int i = 0; i < 400; i++) {
		uint64_t what = random_below(r, 4);
		uint32_t h = (uint32_t)random_below(r, NR_HOSTS);

		at += (usec_t)random_below(r, 40 * USEC_PER_SEC);
		if (what > 1)
			activity_add(&a, at, h, ACTIVITY_LOAD,
				     random_uniform(r, 0, 4));
		else if (what)
			activity_add(&a, at, h, ACTIVITY_USERS,
				     (double)random_below(r, 3));
		else
			activity_add(&a, at, h, ACTIVITY_OWNER,
				     (double)random_below(r, 2));
	}
	for (uint32_t i = 0; i < NR_HOSTS; i++)
		activity_add(&a, at, i, ACTIVITY_OWNER, 0);
	for (uint32_t i = 0; i < NR_HOSTS; i++)
		activity_add(&a, at, i, ACTIVITY_LOAD, 0);
	for (uint32_t i = 0; i < NR_HOSTS; i++)
		activity_add(&a, at, i, ACTIVITY_USERS, 0);
	return a;
}

/* How often a policy is made anew, and when; hosts fail, too. */
struct setting {
	uint64_t renew;
	enum sim_renewal how;
	bool fail;
};

/* Each host is down now and then, so that moves to it fail. */
static void draw_failures(struct random_stream *r, struct sim_script *ret)
{
	struct error err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	for (int h = 0; h < NR_HOSTS; h++)
		for (int at = 0; at < 6000;) {
			int from = at + (int)random_below(r, 2000);

			at = from + 1 + (int)random_below(r, 60);
			fprintf(f, "%d down %d\n%d up %d\n", from, h, at, h);
		}
	fclose(f);
	if (script_parse(text, size, "failures", ret, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

/* The costs of moves are random, too. */
static void run(const char *policy, uint64_t seed, struct setting s,
		const struct sim_observer *watch, struct sim_result *ret)
{
	struct sim_script script = { .event = NULL };
	struct random_stream r;
	struct activity a;
	struct sim_config c = { .policy = policy,
				.activity = &a,
				.terms = &terms,
				.hosts = hosts,
				.nr_hosts = NR_HOSTS,
				.requeue = true,
				.renew = s.renew,
				.renewal = s.how,
				.observer = watch };

	random_init(&r, seed, "deciders", 0);
	draw_hosts(&r);
	a = draw_script(&r);
	c.rank_memory = 1 + random_below(&r, 100 << 20);
	c.costs.migrate_rank = (usec_t)random_below(&r, USEC_PER_SEC);
	c.costs.migrate = (usec_t)random_below(&r, USEC_PER_SEC / 10);
	c.costs.link = random_below(&r, 4) ? 20 << 20 : 0;
	c.costs.precopy = c.costs.link && random_below(&r, 2);
	if (s.fail) {
		draw_failures(&r, &script);
		c.script = &script;
	}
	c.workload =
		make_workload("poisson:max-size=8", NR_HOSTS, 0.7, 60, NULL);
	simulate(&c, ret);
	workload_destroy(c.workload);
	activity_clear(&a);
	script_clear(&script);
}

static void neither_ping_pong_nor_closed_hosts(void **state)
{
	struct watch *w = xcalloc(1, sizeof(*w));
	const struct sim_observer watch = { see_event, see_plan, w };

	(void)state;
	for (size_t i = 0; i < sizeof(deciders) / sizeof(*deciders); i++) {
		w->policy = deciders[i].policy;
		w->moves = 0;
		for (uint64_t seed = 0; seed < 30; seed++) {
			struct sim_result r;

			run(deciders[i].policy, seed, (struct setting){ 0 },
			    &watch, &r);
			assert_int_equal(r.nr_rejected, 0);
			sim_result_clear(&r);
		}
		if (w->moves < deciders[i].least)
			fail_msg("%s: only %lu moves", w->policy,
				 (unsigned long)w->moves);
	}
	free(w);
}

static void what_is_saved_is_all(void **state)
{
	static const struct setting anew[] = {
		{ 1, RENEW, false },
		{ 1, RENEW, true },
		{ 2, RENEW_TOLD, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(deciders) / sizeof(*deciders); i++)
		for (uint64_t seed = 0; seed < 18; seed++) {
			const struct setting *s = &anew[seed % 3];
			const struct setting not = { .fail = s->fail };
			struct sim_result r[2];

			run(deciders[i].policy, seed, not, NULL, &r[0]);
			run(deciders[i].policy, seed, *s, NULL, &r[1]);
			check_same_records(&r[0], &r[1], deciders[i].policy);
			sim_result_clear(&r[0]);
			sim_result_clear(&r[1]);
		}
}

/* ---- ranks that talk to each other ---- */

/*
 * Six hosts with two cores each; the jobs' ranks come in pairs that talk, dealt
 * out one rank per host.
 */
static double mean_response(const char *policy, const char *workload,
			    double link, uint64_t *ret_moves)
{
	struct watch *w = xcalloc(1, sizeof(*w));
	const struct sim_observer watch = { count_moves, NULL, w };
	struct sim_config c = { .policy = policy,
				.hosts = hosts,
				.nr_hosts = 6,
				.observer = &watch };
	struct sim_result r;
	double sum = 0;

	for (int i = 0; i < 6; i++)
		hosts[i] = (struct host){ .name = "",
					  .speed = 1,
					  .cores = 2,
					  .memory = 1 << 30,
					  .memory_free = 1 << 30,
					  .slots = 6,
					  .link = link,
					  .up = true };
	c.costs.migrate_rank = USEC_PER_SEC / 10;
	c.workload = make_workload(workload, 12, 0.3, 60, NULL);
	simulate(&c, &r);
	workload_destroy(c.workload);
	for (size_t i = 0; i < r.nr; i++)
		sum += usec_to_seconds(r.record[i].end - r.record[i].submit);
	sum /= (double)r.nr;
	sim_result_clear(&r);
	*ret_moves = w->moves;
	free(w);
	return sum;
}

/*
 * If messages take time, bringing pairs together gains something; if they take
 * none, nothing moves.
 */
static void pairs_come_together(void **state)
{
	static const char chatty[] =
		"poisson:min-size=2,max-size=2,pair-segments=12000";
	static const char quiet[] =
		"poisson:min-size=2,max-size=2,pair-segments=1000";
	uint64_t moves, none;
	double with, without;

	(void)state;
	with = mean_response("stint", chatty, 0, &moves);
	without = mean_response("stint:gain=100", chatty, 0, &none);
	assert_true(moves > 20 && !none);
	assert_true(with < 0.85 * without);
	with = mean_response("stint", quiet, 0, &moves);
	assert_int_equal(moves, 0);
}

/*
 * Overeinder's network constraint: links carry 10 MB/s, of which a pair uses 8.
 */
static void a_full_link_is_relieved(void **state)
{
	static const char loud[] =
		"poisson:min-size=2,max-size=2,pair-bytes=8e6";
	uint64_t moves, none;
	double with, without;

	(void)state;
	with = mean_response("dynamite", loud, 10e6, &moves);
	without = mean_response("dynamite:network=1", loud, 10e6, &none);
	assert_true(moves > 20 && moves > none);
	assert_true(with < 0.85 * without);
	/* A link of unknown rate is never overloaded. */
	mean_response("dynamite", loud, 0, &moves);
	assert_int_equal(moves, 0);
}

static int begin(void **state)
{
	(void)state;
	owner_terms_init(&terms);
	return owner_terms_set(&terms, "quiet", "20", NULL) |
	       owner_terms_set(&terms, "load", "any", NULL) |
	       owner_terms_set(&terms, "disturb", "1000", NULL) |
	       owner_terms_set(&terms, "give-back", "1d", NULL);
}

static int end(void **state)
{
	(void)state;
	owner_terms_clear(&terms);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neither_ping_pong_nor_closed_hosts),
		cmocka_unit_test(what_is_saved_is_all),
		cmocka_unit_test(pairs_come_together),
		cmocka_unit_test(a_full_link_is_relieved),
	};

	return cmocka_run_group_tests_name("deciders", tests, begin, end);
}
