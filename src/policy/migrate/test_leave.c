/*
 * test_leave.c - who leaves a host that is wanted back, for where and until when;
 * the hosts they may go to, moves under way, and the hosts that are harvested
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/migrate/leave.h"
#include "policy/policies.h"

#define SEC  USEC_PER_SEC
#define MB   1000000
#define BOTH (LEAVE_MOVES | LEAVE_FREEZES)

enum { HOSTS = 6 };

static struct view view;
static struct host *host;
static struct plan plan;
static struct flights flights;
static struct targets targets;
static char *text;

static int begin(void **state)
{
	struct host hosts[HOSTS] = { { .name = NULL } };

	(void)state;
	for (int i = 0; i < HOSTS; i++)
		hosts[i] = (struct host){
			.speed = 1, .cores = 2, .slots = 4, .up = true
		};
	view_init_hosts(&view, hosts, HOSTS);
	view.now = 50 * SEC;
	host = view.hosts;
	plan = (struct plan)PLAN_INIT;
	flights = (struct flights){ .rate = 100 * MB };
	return 0;
}

static int end(void **state)
{
	(void)state;
	flights_clear(&flights);
	targets_clear(&targets);
	plan_clear(&plan);
	view_clear(&view);
	free(text);
	text = NULL;
	return 0;
}

static struct job *arrive(int64_t id, uint32_t n)
{
	struct job *j = view_job_create(&view);

	j->id = id;
	j->size = j->min_size = n;
	model_apply(&view, &(struct event){ .type = EVENT_ARRIVE,
					    .at = view.now,
					    .job = j });
	return j;
}

static struct job *runs(int64_t id, uint32_t n, const uint32_t *on)
{
	struct job *j = arrive(id, n);

	model_apply(&view, &(struct event){ .type = EVENT_START,
					    .at = view.now,
					    .job = j,
					    .n = n,
					    .hosts = on });
	return j;
}

static void stands_still(struct job *j, uint32_t rank)
{
	model_apply(&view, &(struct event){ .type = EVENT_FREEZE,
					    .at = view.now,
					    .job = j,
					    .rank = rank });
}

/* The entries without their reasons, a ';' after each, times in seconds. */
static void check_plan(const char *wanted)
{
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	for (size_t i = 0; i < plan.nr; i++) {
		const struct plan_entry *e = &plan.entry[i];
		char line[200];

		plan_print(&view, e, line, sizeof(line));
		*strstr(line, ": ") = '\0';
		if (e->type == PLAN_WAKE)
			fprintf(f, "wake %d", (int)(e->at / SEC));
		else
			fputs(line, f);
		fputc(';', f);
	}
	fclose(f);
	assert_string_equal(text, wanted);
}

static void leave(unsigned how, const char *wanted)
{
	targets_clear(&targets);
	plan_reset(&plan, &view);
	leave_hosts(how, NULL, &flights, &view, &plan, &targets);
	check_plan(wanted);
}

static void is_wanted_back(uint32_t h, usec_t leave_by)
{
	host[h].owner_active = true;
	host[h].closed = CLOSED_OWNER;
	host[h].leave_by = leave_by;
}

static void all_at_once_by_the_first_deadline(void **state)
{
	(void)state;
	runs(1, 3, (uint32_t[]){ 0, 1, 2 });
	is_wanted_back(0, 80 * SEC);
	is_wanted_back(1, 70 * SEC);
	is_wanted_back(2, 0);
	leave(BOTH, "migrate job 1 ranks 0,1,2 to 3,4,5 within 20 s;");
	flights_note(&flights, &plan, 0);
	leave(BOTH, ""); /* they are on their way */
}

static void stands_until_its_owner_may_have_gone(void **state)
{
	(void)state;
	runs(1, 1, (uint32_t[]){ 0 });
	is_wanted_back(0, 60 * SEC);
	host[0].freeze_until = 100 * SEC;
	leave(BOTH, "freeze job 1 rank 0;wake 100;");
	leave(LEAVE_MOVES, "migrate job 1 rank 0 to 1 within 10 s;");
	view.now = 100 * SEC;
	leave(BOTH, "migrate job 1 rank 0 to 1 at once;");
}

static void stands_where_there_is_no_place(void **state)
{
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	for (int i = 1; i < HOSTS; i++)
		host[i].up = false;
	j->requeue = true;
	is_wanted_back(0, 0);
	leave(LEAVE_MOVES, "");
	leave(BOTH, "freeze job 1 rank 0;"); /* for as long as it takes */
	host[0].freeze_most = 60 * SEC;
	leave(BOTH, "freeze job 1 rank 0;wake 110;");
	stands_still(j, 0);
	view.now = 80 * SEC;
	leave(BOTH, "wake 110;");
	view.now = 110 * SEC;
	leave(BOTH, "requeue job 1;");
	j->requeue = false;
	leave(BOTH, "");
}

/* ... also where there is room, but it is tried anew at the next return. */
static void who_cannot_move_stands_still(void **state)
{
	struct event refused = { EVENT_MIGRATE, .at = 50 * SEC, .refused = 1 };
	struct event thaw = { EVENT_THAW, .at = 50 * SEC };
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	is_wanted_back(0, 0);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	refused.job = thaw.job = j;
	model_apply(&view, &refused);
	leave(BOTH, "freeze job 1 rank 0;");
	stands_still(j, 0);
	leave(BOTH, "");
	model_apply(&view, &thaw);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
}

static void drained_by_a_time(void **state)
{
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	for (int i = 1; i < HOSTS; i++)
		host[i].up = false;
	host[0].drain = true;
	j->requeue = true;
	leave(BOTH, ""); /* any time */
	host[0].leave_by = 80 * SEC;
	leave(BOTH, "wake 80;");
	view.now = 80 * SEC;
	leave(BOTH, "requeue job 1;");
	j->requeue = false;
	leave(BOTH, "");
	host[1].up = true;
	leave(BOTH, "migrate job 1 rank 0 to 1 at once;");
}

static void goes_on_when_its_owner_is_gone(void **state)
{
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	stands_still(j, 0);
	leave(BOTH, "thaw job 1 rank 0;");
	is_wanted_back(0, 0);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	host[0].owner_active = false;
	host[0].closed = CLOSED_NOT;
	leave(BOTH, ""); /* a move lets it run where it lands */
}

static void nothing_leaves_a_host_that_is_down(void **state)
{
	struct job *j = runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	assert_false(leave_concerns(&view, j));
	host[0].up = false;
	assert_true(leave_concerns(&view, j));
	is_wanted_back(0, 0);
	is_wanted_back(1, 0);
	leave(BOTH, "migrate job 1 rank 1 to 2;");
}

/* ---- where to ---- */

static void memory_is_given_once(void **state)
{
	struct job *j = runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	j->memory = 60 * MB;
	is_wanted_back(0, 0);
	is_wanted_back(1, 0);
	for (int i = 2; i < HOSTS; i++) {
		host[i].memory = host[i].memory_free = 100 * MB;
		host[i].speed = i - 1; /* slower and slower */
	}
	leave(BOTH, "migrate job 1 ranks 0,1 to 2,3;");
}

static void best_targets(void **state)
{
	struct job *j = arrive(1, 1);
	bool among[HOSTS] = { [2] = true, [3] = true };

	(void)state;
	runs(2, 1, (uint32_t[]){ 2 });
	host[0].owner_active = true; /* the terms let them in, or are late */
	plan_reset(&plan, &view);
	targets_make(&targets, &view, &plan);
	assert_int_equal(targets.nr, HOSTS - 1);
	assert_int_equal(targets_best(&targets, j, 0, false)->host->ix, 1);
	assert_int_equal(targets_best(&targets, j, 1, false)->host->ix, 3);
	targets_clear(&targets);
	targets_make_among(&targets, &view, &plan, among);
	assert_int_equal(targets.nr, 1);
	assert_int_equal(targets.target[0].room, 1);
}

static void gentle_is_a_core_for_each(void **state)
{
	struct target t = { .host = host, .ranks = 1 };

	(void)state;
	host[0].load = 0.3; /* noise */
	assert_true(target_gentle(&t));
	host[0].load = 0.5;
	assert_false(target_gentle(&t));
	t.ranks = 0; /* nobody's guest */
	assert_true(target_gentle(&t));
}

/* ---- on their way ---- */

static void moves(const struct job *j, uint32_t to, usec_t cost)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .at = view.now,
			   .job = (struct job *)j,
			   .host = to,
			   .cost = cost };

	flights_event(&flights, &view, &e);
}

static void learns_from_moves_that_end_there(void **state)
{
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	j->memory = 100 * MB; /* a second */
	is_wanted_back(0, 0);
	flights.fixed = flights.still = 1;
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	view.now += 12 * SEC;
	moves(j, 0, 0); /* it stayed */
	assert_int_equal(flights.nr, 0);
	assert_true(flights.fixed == 1 && flights.still == 1);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	view.now += 12 * SEC;
	moves(j, 1, 2 * SEC);
	assert_int_equal((int)(flights.fixed * 1000 + .5), 4000);
	assert_int_equal((int)(flights.still * 1000 + .5), 1300);
	/* A standstill that nobody knows yet is not one of no time. */
	j->hosts[0] = 0;
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	moves(j, 1, 0);
	assert_int_equal((int)(flights.still * 1000 + .5), 1300);
}

static void forgotten_when_they_should_have_ended(void **state)
{
	struct job *j = runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	j->memory = 100 * MB;
	is_wanted_back(0, 0);
	is_wanted_back(1, 0);
	leave(BOTH, "migrate job 1 ranks 0,1 to 2,3;");
	flights_note(&flights, &plan, 0);
	view.now += 49 * SEC; /* two seconds, ten times, and thirty */
	leave(BOTH, "");
	plan_reset(&plan, &view);
	flights_begin_pass(&flights, &view, &plan);
	assert_int_equal(flights.nr, 2);
	view.now += SEC;
	flights_begin_pass(&flights, &view, &plan);
	assert_int_equal(flights.nr, 0);
	flights_note(&flights, &plan, 0);
	leave(BOTH, "migrate job 1 ranks 0,1 to 2,3;");
	flights_note(&flights, &plan, 0);
	flights_event(&flights, &view,
		      &(struct event){ .type = EVENT_REQUEUE, .job = j });
	assert_int_equal(flights.nr, 0);
}

/* ---- harvest ---- */

static struct policy *harvest(const char *spec)
{
	struct policy *p;

	assert_int_equal(policy_create(spec, 1, &view, &p, NULL), 0);
	return p;
}

static void decides(struct policy *p, usec_t now, const char *wanted)
{
	view.now = now;
	plan_reset(&plan, &view);
	policy_decide(p, &view, &plan);
	check_plan(wanted);
}

/* What others do when an owner comes, beside which ours is measured. */
static void baselines(void **state)
{
	struct job *j = runs(1, 1, (uint32_t[]){ 0 });
	struct policy *p;

	(void)state;
	j->requeue = true;
	is_wanted_back(0, 0);
	assert_int_equal(policy_create("stint:leave=not", 1, &view, &p, NULL),
			 0);
	decides(p, 60 * SEC, "");
	policy_destroy(p);
	assert_int_equal(policy_create("stint:leave=still", 1, &view, &p, NULL),
			 0);
	decides(p, 61 * SEC, "freeze job 1 rank 0;");
	policy_destroy(p);
	assert_int_equal(policy_create("stint:leave=anew", 1, &view, &p, NULL),
			 0);
	decides(p, 62 * SEC, "requeue job 1;");
	policy_destroy(p);
}

static void is_used(struct policy *p, uint32_t h, double load)
{
	struct host fresh = host[h];
	struct event e = {
		.type = EVENT_HOST, .at = view.now, .host = h, .fresh = &fresh
	};

	fresh.load = load;
	model_apply(&view, &e);
	policy_event(p, &view, &e);
}

/* The first two become quiet at 70 and 80 s, the others not. */
static void two_hosts(void)
{
	host[0].idle_since = 10 * SEC;
	host[1].idle_since = 20 * SEC;
	for (int i = 2; i < HOSTS; i++)
		host[i].idle_since = USEC_MAX;
	view.now = 0;
}

static void harvest_wakes_for_the_next_host(void **state)
{
	struct policy *p;

	(void)state;
	two_hosts();
	p = harvest("harvest");
	arrive(1, 2);
	decides(p, 60 * SEC, "wake 70;");
	decides(p, 70 * SEC, "wake 80;");
	decides(p, 80 * SEC, "start job 1 with 2 on 0,1;");
	policy_destroy(p);
	/* As much as that is not little. */
	host[1].load = 0.2;
	view.now = 90 * SEC;
	p = harvest("harvest");
	decides(p, 1000 * SEC, "");
	policy_destroy(p);
}

static void cpu_alone_minds_no_keyboard(void **state)
{
	struct policy *p;

	(void)state;
	two_hosts();
	p = harvest("harvest:by=cpu");
	arrive(1, 1);
	decides(p, 60 * SEC, "start job 1 with 1 on 0;");
	policy_destroy(p);
}

/* The guest of one that is used stands still until another one is quiet. */
static void harvest_looks_for_who_stands_still(void **state)
{
	struct policy *p;
	struct job *j;

	(void)state;
	two_hosts();
	p = harvest("harvest");
	j = runs(1, 1, (uint32_t[]){ 0 });
	view.now = 75 * SEC;
	is_used(p, 0, 1);
	decides(p, 75 * SEC, "freeze job 1 rank 0;wake 80;");
	stands_still(j, 0);
	decides(p, 76 * SEC, "wake 80;");
	decides(p, 80 * SEC, "migrate job 1 rank 0 to 1;");
	policy_destroy(p);
}

static void harvest_loads_what_it_saved(void **state)
{
	static const char *const wrong[] = {
		"", "0 0.3 0.05\n-5\n", "0 0.3 0.05\n0\n0\n0\n0\n0\n0\n0\n",
		"0 0.3 0.05\nx\n"
	};
	struct policy *p, *other;
	struct error err;
	char *saved;

	(void)state;
	two_hosts();
	p = harvest("harvest:by=cpu");
	view.now = 30 * SEC;
	is_used(p, 0, 1);
	is_used(p, 0, 0);
	saved = policy_save(p, &view);
	policy_destroy(p);
	other = harvest("harvest:by=cpu");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(policy_load(other, &view, wrong[i], &err) < 0);
	assert_int_equal(policy_load(other, &view, saved, NULL), 0);
	arrive(1, 6);
	decides(other, 89 * SEC, "wake 90;");
	decides(other, 90 * SEC, "start job 1 with 6 on 0,1,2,3,4,5;");
	policy_destroy(other);
	free(saved);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(all_at_once_by_the_first_deadline),
		TEST(stands_until_its_owner_may_have_gone),
		TEST(stands_where_there_is_no_place),
		TEST(who_cannot_move_stands_still),
		TEST(drained_by_a_time),
		TEST(goes_on_when_its_owner_is_gone),
		TEST(baselines),
		TEST(nothing_leaves_a_host_that_is_down),
		TEST(memory_is_given_once),
		TEST(best_targets),
		TEST(gentle_is_a_core_for_each),
		TEST(learns_from_moves_that_end_there),
		TEST(forgotten_when_they_should_have_ended),
		TEST(harvest_wakes_for_the_next_host),
		TEST(cpu_alone_minds_no_keyboard),
		TEST(harvest_looks_for_who_stands_still),
		TEST(harvest_loads_what_it_saved),
	};

	return cmocka_run_group_tests_name("leave", tests, NULL, NULL);
}
