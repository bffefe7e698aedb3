/*
 * test_owners.c - owners: schedules worked by hand, and what holds for every policy
 * among owners who come and go at random
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/activity.h"
#include "model/terms.h"
#include "policy/policies.h"
#include "sim/engine/test_list.h"
#include "sim/engine/testing.h"
#include "sim/workload/script.h"

#define HEAD "time,host,what,value\n"

static struct owner_terms terms;

static struct activity read_script(const char *script)
{
	char *text = strdup(script);
	struct activity a;
	struct error err;

	if (activity_parse(text, strlen(text), "test", &a, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	return a;
}

static void set_term(const char *name, const char *value)
{
	assert_int_equal(owner_terms_set(&terms, name, value, NULL), 0);
}

static int begin(void **state)
{
	(void)state;
	owner_terms_init(&terms);
	set_term("quiet", "60");
	set_term("load", "any");
	return 0;
}

static int end(void **state)
{
	(void)state;
	owner_terms_clear(&terms);
	return 0;
}

static void run(const char *policy, const char *machine, const char *script,
		struct sim_config config, const struct row *row, int64_t nr,
		struct sim_result *ret)
{
	struct activity a = read_script(script);

	config.activity = &a;
	config.terms = &terms;
	simulate_list(policy, machine, config, row, nr, ret);
	activity_clear(&a);
}

/* Its owner's programs take half of the host's core from 100 to 200. */
static void load_slows_who_is_there(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("spread", "1x1", HEAD "100,h1,load,1\n200,h1,load,0\n",
	    (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].end, 350 * USEC_PER_SEC);
	check_split(&r, 1, 0, 350, 0, 0, 0);
	sim_result_clear(&r);
}

/* A host takes nobody while its owner is there, nor a minute after. */
static void a_host_is_closed_until_it_is_quiet(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("fcfs", "1x1",
	    HEAD "5,h1,owner,here\n30,h1,keyboard,busy\n40,h1,owner,away\n"
		 "50,h1,keyboard,idle\n",
	    (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 110 * USEC_PER_SEC);
	check_split(&r, 1, 100, 100, 0, 0, 0);
	assert_int_equal(r.owners.returns, 1);
	assert_int_equal(r.owners.disturbed, 0);
	sim_result_clear(&r);
}

/* The times of the only host, of which the last at each instant counts. */
static void note_times(void *data, const struct view *view,
		       const struct event *e)
{
	usec_t *leave_by = data;

	(void)e;
	leave_by[view->now / (10 * USEC_PER_SEC)] = view->hosts[0].leave_by;
}

/* Of its owner's time and that of a drain the first counts, while both are there. */
static void first_of_both(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	static const usec_t wanted[] = { 150, 150, 140, 150 };
	char events[] = "110 drain 0 500\n120 drain 0 140\n130 undrain 0\n";
	usec_t by[100] = { 0 };
	const struct sim_observer watch = { .event = note_times, .data = by };
	struct sim_script script;
	struct sim_result r;

	(void)state;
	set_term("give-back", "50");
	if (script_parse(events, strlen(events), "test", &script, NULL) < 0)
		fail();
	run("fcfs", "1x1", HEAD "100,h1,owner,here\n200,h1,owner,away\n",
	    (struct sim_config){ .script = &script, .observer = &watch }, one,
	    1, &r);
	for (int i = 0; i < 4; i++)
		assert_int_equal(by[10 + i], wanted[i] * USEC_PER_SEC);
	sim_result_clear(&r);
	script_clear(&script);
}

/* What an owner bears of a guest that stays: 100 s, half of its time. */
static void what_an_owner_bears(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,1\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	struct sim_result r;

	(void)state;
	run("fcfs", "1x1", script, (struct sim_config){ .no_terms = true }, one,
	    1, &r);
	assert_int_equal(r.owners.returns, 1);
	assert_int_equal(r.owners.disturbed, 1);
	assert_int_equal(r.owners.disturbed_most, 1);
	assert_int_equal(r.owners.given_back, 1);
	assert_int_equal(r.owners.give_back_most, 100 * USEC_PER_SEC);
	assert_true(fabs(r.owners.beside - 100) < 1e-9);
	assert_true(fabs(r.owners.waited - 50) < 1e-9);
	sim_result_clear(&r);
}

/* Two programs of its owner's on one core wait for each other, too: 100 s of which
 * both have a third where they had a half. */
static void an_owner_waits_for_itself(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,2\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	struct sim_result r;

	(void)state;
	run("fcfs", "1x1", script, (struct sim_config){ .no_terms = true }, one,
	    1, &r);
	assert_true(fabs(r.owners.waited - 200. / 3) < 1e-9);
	sim_result_clear(&r);
	/* Also if it stays to the end. */
	run("fcfs", "1x1", HEAD "100,h1,owner,here\n100,h1,load,2\n",
	    (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_true(fabs(r.owners.beside - 2700) < 1e-6);
	sim_result_clear(&r);
}

/* Twice on the first day, once on the second. */
static void the_worst_day_is_told(void **state)
{
	static const struct row one[] = { { 0, 200000, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("fcfs", "1x1",
	    HEAD "100,h1,owner,here\n200,h1,owner,away\n"
		 "300,h1,owner,here\n400,h1,owner,away\n"
		 "90000,h1,owner,here\n90100,h1,owner,away\n",
	    (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_int_equal(r.owners.disturbed, 3);
	assert_int_equal(r.owners.disturbed_most, 2);
	sim_result_clear(&r);
}

/* Who came and went before the owner, or moved there and ended, took memory and
 * cache. */
static void who_is_gone_has_disturbed(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 1000, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("spread", "2x1x1", HEAD "200,h1,owner,here\n300,h1,owner,away\n",
	    (struct sim_config){ 0 }, two, 2, &r);
	assert_int_equal(r.owners.disturbed, 1);
	sim_result_clear(&r);
	/* The first from h1 to h3. */
	run("spread", "3x1x1",
	    HEAD "0,h1,load,0.1\n0,h2,load,0.1\n0,h3,load,0.1\n"
		 "50,h1,owner,here\n60,h1,owner,away\n"
		 "200,h3,owner,here\n300,h3,owner,away\n",
	    (struct sim_config){ 0 }, two, 2, &r);
	assert_int_equal(r.record[0].moves, 1);
	assert_int_equal(r.owners.returns, 2);
	assert_int_equal(r.owners.disturbed, 2);
	sim_result_clear(&r);
}

/* Quiet from the last on of what was there: its owner, when a key was touched. */
static void quiet_since_the_last_that_was_there(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("fcfs", "1x1",
	    HEAD "5,h1,owner,here\n10,h1,keyboard,busy\n30,h1,keyboard,idle\n"
		 "50,h1,owner,away\n",
	    (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 110 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* Half a core of two is a quarter of each. */
static void load_is_that_of_a_core(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	set_term("load", "0.3");
	run("fcfs", "1x1x2", HEAD "0,h1,load,0.5\n500,h1,load,0\n",
	    (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* A guest that can go nowhere stands still at once, and one that can is gone. */
static void an_owner_who_is_given_way_bears_nothing(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,1\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	static const char *const machine[] = { "1x1", "2x1x1" };

	(void)state;
	set_term("disturb", "1000");
	set_term("give-back", "1d"); /* who stands still has not left */
	for (int i = 0; i < 2; i++) {
		struct sim_result r;

		run("spread", machine[i], script, (struct sim_config){ 0 }, one,
		    1, &r);
		assert_int_equal(r.owners.returns, 1);
		assert_int_equal(r.owners.given_back, 1);
		assert_int_equal(r.owners.give_back_most, 0);
		assert_true(r.owners.beside == 0 && r.owners.waited == 0);
		check_split(&r, 1, 0, 1000, 0, i ? 0 : 100, 0);
		assert_int_equal(r.record[0].moves, i);
		sim_result_clear(&r);
	}
}

/* The host's terms let the guest stay: nobody else thaws what harvest froze. */
static void harvest_gives_way_to_load(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run("harvest:recruit=5", "1x1",
	    HEAD "100,h1,load,1\n150,h1,load,2\n200,h1,load,0\n",
	    (struct sim_config){ 0 }, one, 1, &r);
	check_split(&r, 1, 5, 300, 0, 100, 0);
	sim_result_clear(&r);
}

/* ---- every policy ---- */

static struct activity random_script(uint64_t seed, int nr_hosts)
{
	struct activity a = ACTIVITY_INIT;
	struct random_stream r;
	char name[8];
	usec_t at = 0;

	random_init(&r, seed, "owners", 0);
	for (int i = 0; i < nr_hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i + 1);
		activity_add_host(&a, name);
	}
	for (int i = 0; i < 1500; i++) {
		uint32_t h = (uint32_t)random_below(&r, (uint64_t)nr_hosts);
		enum activity_what w = random_below(&r, ACTIVITY_MEMORY);

		at += (usec_t)random_below(&r, 8 * USEC_PER_SEC);
		activity_add(&a, at, h, w,
			     w == ACTIVITY_LOAD ? random_uniform(&r, 0, 3)
						: (double)random_below(&r, 2));
	}
	/* All leave: no job waits for ever. */
	for (int i = 0; i < nr_hosts; i++)
		for (enum activity_what w = 0; w < ACTIVITY_MEMORY; w++)
			activity_add(&a, at, (uint32_t)i, w, 0);
	return a;
}

/* ---- jobs of owners ---- */

/* The owner of h1, who is user 7, comes while a job of theirs and one of user 8 run. */
#define OWN_RETURN                                                          \
	HEAD "0,h1,own,7\n50,h1,owner,here\n60,h1,owner,away\n70,h1,owner," \
	     "here\n400,h1,owner,away\n"

static void an_owners_job_is_no_guest_at_home(void **state)
{
	static const char *const all[] = { "stint", "dynamite", "dynamic-sed",
					   "harvest:recruit=1", "spread" };
	static const struct row own[] = { { 0, 300, 1, 7, 0 } };
	static const struct row other[] = { { 0, 300, 1, 8, 0 } };
	struct sim_result r;

	(void)state;
	set_term("quiet", "0");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		run(all[i], "1x1", OWN_RETURN, (struct sim_config){ 0 }, own, 1,
		    &r);
		/* The harvester waits a second for a host to be quiet. */
		if (r.owners.disturbed || r.split[0].frozen ||
		    r.split[0].queue > USEC_PER_SEC ||
		    r.split[0].run != 300 * USEC_PER_SEC)
			fail_msg("%s: the owner's own job is a guest", all[i]);
		assert_int_equal(r.owners.returns, 2);
		sim_result_clear(&r);
		run(all[i], "1x1", OWN_RETURN, (struct sim_config){ 0 }, other,
		    1, &r);
		assert_int_equal(r.owners.disturbed, 2);
		assert_true(r.record[0].end > 600 * USEC_PER_SEC);
		sim_result_clear(&r);
	}
}

/* It may start there while guests may not, unless the policy is told not to. */
static void an_owners_job_starts_at_home(void **state)
{
	static const struct row both[] = { { 10, 50, 1, 8, 0 },
					   { 10, 50, 1, 7, 0 } };
	static const struct row own[] = { { 10, 50, 1, 7, 0 } };
	struct sim_result r;

	(void)state;
	run("stint", "1x1",
	    HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,"
		 "away\n",
	    (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
	run("stint:oversubscribe=no", "1x1",
	    HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
	    (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
	run("stint:home=no", "1x1",
	    HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
	    (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 160 * USEC_PER_SEC);
	sim_result_clear(&r);
	/* One after the other, as the queue has them. */
	run("stint", "1x1",
	    HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
	    (struct sim_config){ 0 }, both, 2, &r);
	assert_int_equal(r.record[0].start, 160 * USEC_PER_SEC);
	sim_result_clear(&r);
}

struct watch {
	uint64_t starts, closed;
	bool begun;
	struct {
		usec_t leave_by;
		bool leave;
	} host[16];
};

/* What a policy is told of an owner hangs together, and of one return it is told
 * once when the guests are to be gone. */
static void see_host(struct watch *w, const struct view *view,
		     const struct host *h)
{
	if (h->closed == CLOSED_OWNER)
		assert_int_equal(h->idle_since, USEC_MAX);
	else
		assert_true(h->idle_since <= view->now);
	if (h->closed != CLOSED_OWNER)
		assert_true(!h->leave_by && !h->freeze_until);
	else if (!w->begun)
		assert_in_range(h->leave_by, terms.give_back,
				view->now + terms.give_back);
	else if (w->host[h->ix].leave && w->host[h->ix].leave_by)
		assert_int_equal(h->leave_by, w->host[h->ix].leave_by);
	else
		assert_int_equal(h->leave_by, view->now + terms.give_back);
	w->host[h->ix].leave = h->owner_active;
	w->host[h->ix].leave_by = h->leave_by;
	w->closed += h->closed != CLOSED_NOT;
}

static void see(void *data, const struct view *view, const struct event *e)
{
	struct watch *w = data;
	const struct host *h;

	for_each_host (h, view)
		see_host(w, view, h);
	w->begun = true;
	if (e->type != EVENT_START)
		return;
	for (uint32_t i = 0; i < e->n; i++)
		assert_true(host_takes(&view->hosts[e->hosts[i]], e->job));
	w->starts++;
}

static void check_sums(const struct sim_result *r, const char *policy)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_split *s = &r->split[i];
		usec_t sum = s->queue + s->run + s->still + s->frozen + s->lost;

		if (sum != r->record[i].end - r->record[i].submit)
			fail_msg(
				"%s: job %ld: %ld of %ld", policy,
				(long)r->record[i].id, (long)sum,
				(long)(r->record[i].end - r->record[i].submit));
	}
}

static void every_policy_among_owners(void **state)
{
	struct activity a = random_script(4, 16);
	const struct policy_ops *p;

	(void)state;
	set_term("disturb", "1000");
	set_term("give-back", "1d");
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct watch w = { 0 };
		const struct sim_observer watch = { .event = see, .data = &w };
		struct sim_config c = { .policy = p->name,
					.activity = &a,
					.terms = &terms,
					.requeue = true,
					.observer = &watch };
		struct sim_result r[2];

		c.costs.resize = USEC_PER_SEC / 2;
		c.costs.migrate_rank = USEC_PER_SEC / 4;
		c.rank_memory = 1 << 20;
		for (int k = 0; k < 2; k++) {
			c.costs.link = i % 2 ? 1 << 20 : 0;
			w.begun = false;
			c.workload = make_workload("poisson", 16, 0.6, 200,
						   "linear");
			simulate(&c, &r[k]);
			workload_destroy(c.workload);
		}
		check_sums(&r[0], p->name);
		check_same_records(&r[0], &r[1], p->name);
		assert_true(w.starts >= 400 && w.closed > 1000);
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
	activity_clear(&a);
}

/*
 * Far too few hosts: guests strand, are found by their owners again and again, and
 * leave when it suits nobody.  All the same no owner is disturbed more often than the
 * terms allow, however soon the next return is.
 */
static void play_contract(const struct policy_ops *p, uint64_t seed)
{
	static const char *const on_return[] = { "leave", "freeze", "share" };
	struct activity a = random_script(seed, 16);
	struct sim_config c = { .policy = p->name,
				.activity = &a,
				.terms = &terms,
				.requeue = seed % 2 };
	struct sim_result r;
	uint32_t most = 1 + (uint32_t)(seed % 3);

	terms.disturb = most;
	set_term("on-return", on_return[seed % 3]);
	c.costs.migrate = (usec_t)(seed % 7) * USEC_PER_SEC;
	c.rank_memory = 1 << 20;
	c.costs.link = seed % 4 ? 0 : 1 << 20;
	c.workload = make_workload("poisson", 16, 0.9, 200, "linear");
	simulate(&c, &r);
	workload_destroy(c.workload);
	if (r.owners.disturbed_most > most)
		fail_msg("%s, seed %d: %u disturbances of %u", p->name,
			 (int)seed, r.owners.disturbed_most, most);
	assert_true(r.owners.disturbed > 0);
	check_sums(&r, p->name);
	sim_result_clear(&r);
	activity_clear(&a);
}

static void every_policy_keeps_the_contract(void **state)
{
	const struct policy_ops *p;

	(void)state;
	set_term("give-back", "30");
	for (size_t i = 0; (p = policy_nth(i)); i++)
		for (uint64_t seed = 0; seed < 8; seed++)
			play_contract(p, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(load_slows_who_is_there, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_host_is_closed_until_it_is_quiet, begin, end),
		cmocka_unit_test_setup_teardown(first_of_both, begin, end),
		cmocka_unit_test_setup_teardown(what_an_owner_bears, begin,
						end),
		cmocka_unit_test_setup_teardown(an_owner_waits_for_itself,
						begin, end),
		cmocka_unit_test_setup_teardown(the_worst_day_is_told, begin,
						end),
		cmocka_unit_test_setup_teardown(who_is_gone_has_disturbed,
						begin, end),
		cmocka_unit_test_setup_teardown(
			quiet_since_the_last_that_was_there, begin, end),
		cmocka_unit_test_setup_teardown(load_is_that_of_a_core, begin,
						end),
		cmocka_unit_test_setup_teardown(
			an_owner_who_is_given_way_bears_nothing, begin, end),
		cmocka_unit_test_setup_teardown(harvest_gives_way_to_load,
						begin, end),
		cmocka_unit_test_setup_teardown(
			an_owners_job_is_no_guest_at_home, begin, end),
		cmocka_unit_test_setup_teardown(an_owners_job_starts_at_home,
						begin, end),
		cmocka_unit_test_setup_teardown(every_policy_among_owners,
						begin, end),
		cmocka_unit_test_setup_teardown(every_policy_keeps_the_contract,
						begin, end),
	};

	return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
