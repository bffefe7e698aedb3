/*
 * test_leave.c - which ranks leave a host that is wanted back, for which host,
 * and by when; moves under way
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/kit/leave.h"
#include "policy/migrate/leave.h"
#include "policy/migrate/test_pass.h"

#define BOTH (LEAVE_MOVES | LEAVE_FREEZES)

static void leave(unsigned how, const char *wanted)
{
	targets_clear(&targets);
	plan_reset(&plan, &view);
	leave_hosts(how, NULL, &flights, &view, &plan, &targets);
	pass_check_plan(wanted);
}

static void all_at_once_by_the_first_deadline(void **state)
{
	(void)state;
	pass_runs(1, 3, (uint32_t[]){ 0, 1, 2 });
	pass_wanted_back(0, 80 * SEC);
	pass_wanted_back(1, 70 * SEC);
	pass_wanted_back(2, 0);
	leave(BOTH, "migrate job 1 ranks 0,1,2 to 3,4,5 within 20 s;");
	flights_note(&flights, &plan, 0);
	leave(BOTH, ""); /* they are on their way */
}

static void stands_until_its_owner_may_have_gone(void **state)
{
	(void)state;
	pass_runs(1, 1, (uint32_t[]){ 0 });
	pass_wanted_back(0, 60 * SEC);
	host[0].freeze_until = 100 * SEC;
	leave(BOTH, "freeze job 1 rank 0;wake 100;");
	leave(LEAVE_MOVES, "migrate job 1 rank 0 to 1 within 10 s;");
	view.now = 100 * SEC;
	leave(BOTH, "migrate job 1 rank 0 to 1 at once;");
}

static void stands_where_there_is_no_place(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	for (int i = 1; i < HOSTS; i++)
		host[i].up = false;
	j->requeue = true;
	pass_wanted_back(0, 0);
	leave(LEAVE_MOVES, "");
	leave(BOTH, "freeze job 1 rank 0;"); /* for any length of time */
	host[0].freeze_most = 60 * SEC;
	leave(BOTH, "freeze job 1 rank 0;wake 110;");
	pass_stands_still(j, 0);
	view.now = 80 * SEC;
	leave(BOTH, "wake 110;");
	view.now = 110 * SEC;
	leave(BOTH, "requeue job 1;");
	j->requeue = false;
	leave(BOTH, "");
}

/* ... also where there is room; but it is tried again at the next return. */
static void who_cannot_move_stands_still(void **state)
{
	struct event refused = { EVENT_MIGRATE, .at = 50 * SEC, .refused = 1 };
	struct event again = { EVENT_MIGRATE, .at = 50 * SEC, .untried = 1 };
	struct event thaw = { EVENT_THAW, .at = 50 * SEC };
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	pass_wanted_back(0, 0);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	refused.job = again.job = thaw.job = j;
	model_apply(&view, &refused);
	model_apply(&view, &again); /* says nothing of what the rank holds */
	leave(BOTH, "freeze job 1 rank 0;");
	pass_stands_still(j, 0);
	leave(BOTH, "");
	model_apply(&view, &thaw);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
}

static void drained_by_a_time(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

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

static void moves(const struct job *j, uint32_t to, usec_t cost)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .at = view.now,
			   .job = (struct job *)j,
			   .host = to,
			   .cost = cost };

	flights_event(&flights, &view, &e);
}

/*
 * Before a first move from there was seen, the time for a rank is known only to
 * a factor of twenty.
 */
static void most_work_first_where_time_is_short(void **state)
{
	struct job *a = pass_runs(1, 1, (uint32_t[]){ 0 });
	struct job *b = pass_runs(2, 1, (uint32_t[]){ 0 });
	struct job *c = pass_runs(3, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	a->memory = b->memory = c->memory = 100 * MB;
	b->requeue = true;
	host[0].drain = true;
	host[0].leave_by = 115 * SEC;
	view.now = 55 * SEC; /* 5, 5 and 10 processor seconds of work */
	leave(BOTH, "migrate job 3 rank 0 to 2 within 60 s;"
		    "migrate job 1 rank 0 to 3 within 60 s;"
		    "migrate job 2 rank 0 to 4 within 60 s;");
	host[0].leave_by = 114 * SEC;
	b->used = 6;
	leave(BOTH, "migrate job 2 rank 0 to 2 within 59 s;");
	flights_note(&flights, &plan, 0);
	leave(BOTH, ""); /* it is on its way */
	view.now = 57 * SEC;
	moves(b, 2, 0);
	model_apply(&view, &(struct event){ .type = EVENT_MIGRATE,
					    .at = view.now,
					    .job = b,
					    .host = 2 });
	/* At 50 MB/s there is time for all. */
	leave(BOTH, "migrate job 3 rank 0 to 3 within 57 s;"
		    "migrate job 1 rank 0 to 4 within 57 s;");
}

/*
 * Work that is lost already cannot be saved: of 100 processor seconds job 1 has
 * 20 left.
 */
static void who_began_anew_has_less_to_lose(void **state)
{
	static const uint32_t on[] = { 0, 1 };
	struct job *a = pass_runs(1, 2, on);
	struct event e = { .job = a, .at = 90 * SEC, .n = 2, .hosts = on };

	(void)state;
	view.now = 60 * SEC;
	pass_runs(2, 1, on);
	e.type = EVENT_REQUEUE;
	model_apply(&view, &e);
	e.type = EVENT_START;
	model_apply(&view, &e);
	view.now = 100 * SEC;
	host[0].drain = true;
	host[0].leave_by = 120 * SEC;
	leave(BOTH, "migrate job 2 rank 0 to 2 within 20 s;");
}

/*
 * On each of both hosts there is time for one job only, and that is job 1 on
 * both.
 */
static void a_job_on_two_hosts_that_go(void **state)
{
	static const char wanted[] =
		"migrate job 1 ranks 0,1 to 2,3 within 15 s;";

	(void)state;
	pass_runs(1, 2, (uint32_t[]){ 0, 1 });
	pass_runs(2, 1, (uint32_t[]){ 1 });
	view.now = 55 * SEC;
	for (int i = 0; i < 2; i++) {
		host[i].drain = true;
		host[i].leave_by = 70 * SEC;
	}
	leave(BOTH, wanted);
	plan_reset(&plan, &view);
	leave_owned(&view, &plan);
	/* One rank at a time. */
	pass_check_plan("migrate job 1 rank 0 to 2 within 15 s;"
			"migrate job 1 rank 1 to 3 within 15 s;");
}

static void who_waits_for_others_begins_anew_in_time(void **state)
{
	struct job *a = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	pass_runs(2, 2, (uint32_t[]){ 0, 1 });
	a->requeue = true;
	host[0].drain = true;
	host[0].leave_by = 57 * SEC;
	view.now = 55 * SEC;
	leave(BOTH, "migrate job 2 rank 0 to 2 within 2 s;wake 57;");
	flights_note(&flights, &plan, 0);
	view.now = 57 * SEC;
	leave(BOTH, "requeue job 1;");
}

static void goes_on_when_its_owner_is_gone(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	pass_stands_still(j, 0);
	leave(BOTH, "thaw job 1 rank 0;");
	pass_wanted_back(0, 0);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	host[0].owner_active = false;
	host[0].closed = CLOSED_NOT;
	leave(BOTH, ""); /* a move lets the rank run where it lands */
}

static void nothing_leaves_a_host_that_is_down(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	assert_false(leave_concerns(&view, j));
	host[0].up = false;
	assert_true(leave_concerns(&view, j));
	pass_wanted_back(0, 0);
	pass_wanted_back(1, 0);
	leave(BOTH, "migrate job 1 rank 1 to 2;");
}

/* Begins anew who may, and nobody for a host that is merely drained. */
static void begins_anew_only_who_may(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	j->requeue = true;
	leave(LEAVE_ANEW, "");
	host[0].drain = true;
	leave(LEAVE_ANEW, "");
	host[0].drain = false;
	pass_wanted_back(1, 0);
	leave(LEAVE_ANEW, "requeue job 1;");
	j->requeue = false;
	leave(LEAVE_ANEW, "");
}

/* ---- where to ---- */

static void memory_is_given_once(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	j->memory = 60 * MB;
	pass_wanted_back(0, 0);
	pass_wanted_back(1, 0);
	for (int i = 2; i < HOSTS; i++) {
		host[i].memory = host[i].memory_free = 100 * MB;
		host[i].speed = i - 1; /* each slower than the last */
	}
	leave(BOTH, "migrate job 1 ranks 0,1 to 2,3;");
}

/* ---- on their way ---- */

static void learns_from_moves_that_end_there(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	j->memory = 100 * MB; /* a second */
	pass_wanted_back(0, 0);
	flights.fixed = flights.still = 1;
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	view.now += 12 * SEC;
	moves(j, 0, 0); /* it stayed */
	assert_true(flights.fixed == 1 && flights.still == 1);
	view.now += 11 * SEC;
	flights_begin_pass(&flights, &view, &plan);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	view.now += 12 * SEC;
	moves(j, 1, 2 * SEC);
	assert_int_equal((int)(flights.fixed * 1000 + .5), 4000);
	assert_int_equal((int)(flights.still * 1000 + .5), 1300);
	/* A standstill of unknown length does not count as none. */
	j->hosts[0] = 0;
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	moves(j, 1, 0);
	assert_int_equal((int)(flights.still * 1000 + .5), 1300);
}

/* Two moves that leave a host together, 200 MB in 4 s, share its 50 MB/s. */
static void a_pace_is_that_of_all_together(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 2, 2 });
	bool seen;

	(void)state;
	j->memory = 100 * MB;
	pass_wanted_back(2, 0);
	leave(BOTH, "migrate job 1 ranks 0,1 to 0,1;");
	flights_note(&flights, &plan, 0);
	view.now += 4 * SEC;
	moves(j, 0, 0);
	assert_int_equal((int)flights_last_from(&flights, j, 2, &seen), 2);
	assert_true(seen);
}

/* A move that was refused says nothing about how long moves take. */
static void learns_nothing_from_refusals(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });
	struct event refused = { EVENT_MIGRATE, .job = j, .refused = true };

	(void)state;
	j->memory = 100 * MB;
	pass_wanted_back(0, 0);
	flights.fixed = flights.still = 1;
	leave(BOTH, "migrate job 1 rank 0 to 1;");
	flights_note(&flights, &plan, 0);
	view.now += 12 * SEC;
	refused.at = view.now;
	flights_event(&flights, &view, &refused);
	assert_int_equal(flights.nr, 0);
	assert_true(flights.fixed == 1 && flights.still == 1);
}

static void save_and_load(void)
{
	struct flights loaded = { .rate = flights.rate };
	char *saved;
	const char *at;
	size_t size;
	FILE *f = open_memstream(&saved, &size);

	flights_save(&flights, f);
	fclose(f);
	at = saved;
	assert_int_equal(flights_load(&loaded, &view, &at), 0);
	assert_string_equal(at, "");
	free(saved);
	flights_clear(&flights);
	flights = loaded;
}

/* What was learnt about a host's link survives the controller. */
static void a_pace_is_saved(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 2 });
	const char *text = "0 1 1\npace 2 inf\n";
	bool seen;

	(void)state;
	j->memory = 100 * MB;
	pass_wanted_back(2, 0);
	leave(BOTH, "migrate job 1 rank 0 to 0;");
	flights_note(&flights, &plan, 0);
	view.now += 4 * SEC;
	moves(j, 0, 0);
	save_and_load();
	assert_int_equal((int)flights_last_from(&flights, j, 2, &seen), 4);
	assert_true(seen);
	(void)!flights_last_from(&flights, j, 0, &seen);
	assert_false(seen);
	/*
	 * A text from before paces were kept has none; a wrong host or pace is
	 * refused.
	 */
	assert_int_equal(flights_load(&flights, &view, &text), -EINVAL);
	text = "0 1 1\npace 99 5\n";
	assert_int_equal(flights_load(&flights, &view, &text), -EINVAL);
	text = "0 1 1\n";
	assert_int_equal(flights_load(&flights, &view, &text), 0);
}

/*
 * After a failed move another host is tried at once; the same one only when
 * there is no other, and later: till then the rank is in nobody's way.
 */
static void what_failed_goes_elsewhere(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });

	(void)state;
	pass_wanted_back(0, 0);
	for (uint32_t to = 1; to < HOSTS; to++) {
		char want[64];

		snprintf(want, sizeof(want), "migrate job 1 rank 0 to %u;", to);
		leave(BOTH, want);
		flights_note(&flights, &plan, 0);
		leave(BOTH, ""); /* it is under way */
		view.now += SEC;
		moves(j, 0, 0);
		assert_false(flights_any(&flights, j));
		assert_int_equal(flights_from(&flights, 0), 0);
		plan_reset(&plan, &view);
		flights_begin_pass(&flights, &view, &plan);
		for (uint32_t h = 1; h < HOSTS; h++) /* nobody comes */
			assert_int_equal(plan_room(&plan, &host[h]), 4);
	}
	save_and_load();
	/* Host 1 failed at 51 s. */
	leave(BOTH, "wake 62;freeze job 1 rank 0;");
	leave(LEAVE_MOVES, "wake 62;");
	pass_stands_still(j, 0);
	leave(BOTH, "wake 62;");
	/* Nor does it wait for that beyond what the terms say. */
	j->requeue = true;
	host[0].freeze_most = SEC;
	view.now += SEC;
	leave(BOTH, "wake 62;requeue job 1;");
	j->requeue = false;
	view.now = 62 * SEC;
	flights_begin_pass(&flights, &view, &plan);
	leave(BOTH, "migrate job 1 rank 0 to 1;");
}

static void forgotten_when_they_should_have_ended(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 0, 1 });

	(void)state;
	j->memory = 100 * MB;
	pass_wanted_back(0, 0);
	pass_wanted_back(1, 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(all_at_once_by_the_first_deadline),
		PASS_TEST(stands_until_its_owner_may_have_gone),
		PASS_TEST(stands_where_there_is_no_place),
		PASS_TEST(who_cannot_move_stands_still),
		PASS_TEST(drained_by_a_time),
		PASS_TEST(most_work_first_where_time_is_short),
		PASS_TEST(who_began_anew_has_less_to_lose),
		PASS_TEST(a_job_on_two_hosts_that_go),
		PASS_TEST(who_waits_for_others_begins_anew_in_time),
		PASS_TEST(goes_on_when_its_owner_is_gone),
		PASS_TEST(nothing_leaves_a_host_that_is_down),
		PASS_TEST(begins_anew_only_who_may),
		PASS_TEST(memory_is_given_once),
		PASS_TEST(a_pace_is_saved),
		PASS_TEST(learns_from_moves_that_end_there),
		PASS_TEST(a_pace_is_that_of_all_together),
		PASS_TEST(learns_nothing_from_refusals),
		PASS_TEST(what_failed_goes_elsewhere),
		PASS_TEST(forgotten_when_they_should_have_ended),
	};

	return cmocka_run_group_tests_name("leave", tests, NULL, NULL);
}
