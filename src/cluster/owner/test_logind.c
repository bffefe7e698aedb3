/* test_logind.c - what logind says, and a logind that lies */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/owner/fake_logind.h"
#include "cluster/owner/play.h"

static int64_t
	slept; /* seconds that this process counts and the machine did not */

/* The C library's, which all here call, with the time asleep that a suspended machine has. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME)
		ret->tv_sec += slept;
	return r;
}

static int setup(void **state)
{
	int r = play_setup(state);

	slept = 0;
	fake_start_bus();
	memset(&fake_logind, 0, sizeof(fake_logind));
	fake_logind.inhibited = -1;
	play_conf.linger = 0;
	return r;
}

static int teardown(void **state)
{
	play_end();
	fake_logind_goes();
	fake_stop_bus();
	return play_teardown(state);
}

/* Has the agent let logind go on? */
static bool is_released(void)
{
	char c;

	return fake_logind.inhibited >= 0 &&
	       read(fake_logind.inhibited, &c, 1) == 0;
}

/* ---- */

/* Guests are there, and whoever goes to sleep waits for us. */
static void begin_with_guests(void)
{
	play_guests = true;
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.inhibited >= 0);
}

static void sessions_come_and_go(void **state)
{
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.lists);
	fake_session_comes(0, "ada", "wayland");
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_SESSION);
	assert_string_equal(is()->who, "ada");
	assert_int_equal(owner_logged_in(play_owner), 1);
	assert_int_equal(play_owner->uids.uid[0], 1000);
	fake_session_changes(0, "IdleHint", true);
	COMES(!is()->here);
	fake_session_changes(0, "IdleHint", false);
	COMES(is()->here);
	fake_session_changes(0, "LockedHint", true);
	COMES(!is()->here);
	fake_session_changes(0, "LockedHint", false);
	COMES(is()->here);
	fake_session_goes(0);
	COMES(!is()->here);
	assert_int_equal(owner_logged_in(play_owner), 0);
	assert_int_equal(play_owner->uids.nr, 0);
}

static void whose_session_it_is(void **state)
{
	fake_logind_comes();
	play_begin("logind");
	fake_session_comes(0, "bob", "x11");
	fake_logind.session[0].remote = true;
	fake_session_comes(1, "ada", "x11");
	fake_logind.session[1].idle = true;
	fake_session_comes(2, "eve", "tty"); /* its terminal is watched */
	COMES(owner_logged_in(play_owner) == 3);
	assert_false(is()->here);
	/* logind says that the session has been idle for a while. */
	fake_session_changes(1, "IdleHint", false);
	COMES(is()->here);
	assert_string_equal(is()->who, "ada");
}

static void one_that_was_there_before(void **state)
{
	fake_session_comes(0, "ada", "x11");
	fake_logind_comes();
	play_begin("logind");
	COMES(is()->here);
	assert_string_equal(is()->who, "ada");
}

static void a_host_without_it(void **state)
{
	play_begin("logind");
	for (int i = 0; i < 20; i++)
		assert_true(sd_event_run(play_event, 10 * USEC_PER_MSEC) >= 0);
	assert_false(is()->here);
	/* A logind that starts later. */
	fake_session_comes(0, "ada", "x11");
	fake_logind_comes();
	COMES(is()->here);
}

static void one_that_vanishes(void **state)
{
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.lists);
	fake_logind_goes();
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	assert_int_equal(is()->lost, PRESENCE_SESSION);
	fake_logind_comes();
	COMES(!is()->here);
	/* The bus itself ends. */
	fake_stop_bus();
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	fake_logind_goes();
	fake_start_bus();
	fake_logind_comes();
	COMES(!is()->here);
}

static void where_nobody_counts_nobody_is_missed(void **state)
{
	assert_int_equal(owner_conf_set(&play_conf, "who", "nobody", NULL), 0);
	fake_logind_comes();
	play_begin("logind");
	fake_session_comes(0, "ada", "x11");
	COMES(owner_logged_in(play_owner) == 1);
	fake_logind_goes();
	for (int i = 0; i < 20; i++)
		assert_true(sd_event_run(play_event, 10 * USEC_PER_MSEC) >= 0);
	assert_false(is()->here);
}

/*
 * Reading settings again changes nobody's presence that does not change for
 * another reason.
 */
static void settings_are_read_again(void **state)
{
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.inhibited >= 0);
	fake_session_comes(0, "ada", "x11");
	COMES(is()->here);
	assert_int_equal(owner_conf_set(&play_conf, "users", "bob,ada", NULL),
			 0);
	owner_reread(play_owner, &play_conf);
	assert_true(is()->here);
	assert_int_equal(play_changes, 1);
	assert_false(is_released());
	assert_int_equal(owner_conf_set(&play_conf, "users", "bob", NULL), 0);
	owner_reread(play_owner, &play_conf);
	COMES(!is()->here);
	assert_int_equal(play_owner->uids.nr, 0);
	assert_int_equal(owner_conf_set(&play_conf, "users", "anybody", NULL),
			 0);
	owner_reread(play_owner, &play_conf);
	assert_true(is()->here);
	/* logind is not watched any more. */
	assert_int_equal(owner_conf_set(&play_conf, "sources", "none", NULL),
			 0);
	owner_reread(play_owner, &play_conf);
	assert_true(is_released());
	COMES(!is()->here);
	assert_int_equal(owner_logged_in(play_owner), 0);
}

static void what_makes_no_sense_counts_as_there(void **state)
{
	fake_logind_comes();
	play_begin("logind");
	fake_session_comes(0, "ada", "x11");
	fake_logind.session[0].idle = fake_logind.session[0].mad = true;
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	/*
	 * logind is sane again: its next signal makes us ask for all sessions.
	 */
	fake_logind.session[0].mad = false;
	fake_session_changes(0, "IdleHint", true);
	COMES(!is()->here);
	fake_logind.session[0].refuses = true;
	fake_session_goes(0);
	fake_session_comes(0, "ada", "x11");
	fake_logind.session[0].refuses = true;
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	fake_session_goes(0);
	COMES(!is()->here);
}

static void one_that_stands_still(void **state)
{
	play_conf.patience = 50 * USEC_PER_MSEC;
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.lists);
	fake_logind.silent = true;
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_UNREADABLE);
	fake_logind.silent = false;
	COMES(!is()->here);
}

/* 100 times a second, and more. */
static void one_that_flaps(void **state)
{
	usec_t from;

	fake_logind_comes();
	play_begin("logind");
	fake_session_comes(0, "ada", "x11");
	COMES(is()->here);
	from = owner_now();
	for (int i = 0; i < 1000; i++)
		fake_session_changes(0, "IdleHint", i % 2);
	COMES(!is()->here);
	/* However long that took, presence changes at most twice a second. */
	assert_in_range(play_changes, 2,
			4 + 2 * ((owner_now() - from) / USEC_PER_SEC));
}

static void a_host_that_sleeps_waits_for_its_guests(void **state)
{
	begin_with_guests();
	assert_false(is_released());
	fake_emit("PrepareForSleep", "b", 1);
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_GOING);
	assert_true(is()->evict);
	/* They are to be gone by then: logind waits no longer. */
	assert_in_range(is()->going_by - owner_now(), FAKE_DELAY / 2,
			FAKE_DELAY);
	assert_false(is_released());
	play_guests = false;
	owner_emptied(play_owner);
	assert_true(is_released());
	close(fake_logind.inhibited);
	fake_logind.inhibited = -1;
	fake_emit("PrepareForSleep", "b", 0);
	COMES(!is()->here);
	assert_int_equal(is()->going_by, 0);
	COMES(fake_logind.inhibited >= 0); /* for the next time */
	fake_emit("PrepareForShutdown", "b", 1);
	COMES(is_released()); /* there is no guest */
	assert_true(is()->here);
}

/* It waits no longer: the host sleeps and wakes up with guests, and nothing is forgotten. */
static void a_host_that_sleeps_with_its_guests(void **state)
{
	begin_with_guests();
	for (int i = 0; i < 2; i++) {
		fake_emit("PrepareForSleep", "b", 1);
		COMES(is()->here);
		fake_emit("PrepareForSleep", "b", 0);
		COMES(!is()->here);
		/* What it has still holds for the next time. */
		assert_false(is_released());
	}
	play_guests = false;
	owner_emptied(play_owner);
	assert_false(is_released());
	fake_emit("PrepareForSleep", "b", 1);
	COMES(is_released());
}

/* Eight hours each, once with guests, whose last one goes as the host is awake again. */
static void a_host_that_sleeps_twice(void **state)
{
	usec_t since;

	begin_with_guests();
	for (int i = 0; i < 2; i++) {
		fake_emit("PrepareForSleep", "b", 1);
		COMES(is()->here);
		assert_int_equal(is()->cause, PRESENCE_GOING);
		assert_in_range(is()->going_by - owner_now(), FAKE_DELAY / 2,
				FAKE_DELAY);
		if (!play_guests)
			COMES(is_released());
		since = is()->since;
		slept += 8 * 3600;
		fake_emit("PrepareForSleep", "b", 0);
		COMES(!is()->here);
		/* Nobody was there all the night. */
		assert_true(is()->since - since >= 8 * USEC_PER_HOUR);
		assert_in_range(is()->idle_since, is()->since - USEC_PER_SEC,
				owner_now());
		if (play_guests)
			assert_false(is_released());
		play_guests = false;
		owner_emptied(play_owner);
	}
	COMES(!is_released()); /* another one, for the next time */
}

/* It is asked again: else the host would sleep with its guests from then on. */
static void an_inhibitor_that_is_refused(void **state)
{
	play_conf.patience = 50 * USEC_PER_MSEC;
	fake_logind.inhibits_not = true;
	play_guests = true;
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.lists > 2);
	assert_int_equal(fake_logind.inhibited, -1);
	fake_logind.inhibits_not = false;
	COMES(fake_logind.inhibited >= 0);
	assert_false(is_released());
}

/* The host is about to sleep, with no guest, when it is given: nothing may wait for us. */
static void an_inhibitor_that_comes_late(void **state)
{
	fake_logind.inhibits_late = true;
	fake_logind_comes();
	play_begin("logind");
	COMES(fake_logind.inhibits);
	fake_emit("PrepareForSleep", "b", 1);
	COMES(is()->here);
	assert_true(fake_inhibits());
	COMES(is_released());
}

static void what_it_says_by_a_property(void **state)
{
	begin_with_guests();
	fake_manager_changes("PreparingForShutdown", true);
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_GOING);
	assert_true(is()->going_by > owner_now());
	fake_manager_changes("PreparingForShutdown", false);
	COMES(!is()->here);
	assert_false(is_released());
}

static void a_host_that_goes_already(void **state)
{
	fake_logind.ends = true;
	fake_logind_comes();
	play_begin("logind");
	COMES(is()->here);
	assert_int_equal(is()->cause, PRESENCE_GOING);
}

/* ---- lies */

static void lie(struct random_stream *r)
{
	int i = (int)random_below(r, FAKE_SESSIONS);
	char *path = fake_session_path(i);
	sd_bus_message *m = NULL;

	switch (random_below(r, 8)) {
	case 0:
		fake_session_comes(i, random_below(r, 2) ? "ada" : "\x1b[2Jx",
				   random_below(r, 2) ? "x11" : "tty");
		fake_logind.session[i].tty =
			random_below(r, 2) ? "pts/9999" : "../../etc";
		break;
	case 1:
		fake_session_goes(i);
		break;
	case 2:
		fake_emit("SessionNew", "so", "9", "/no/such");
		break;
	case 3:
		fake_emit("SessionRemoved", "u", 7);
		break;
	case 4:
		fake_emit("PrepareForSleep", "s", "yes");
		break;
	case 5:
		fake_logind.session[i].refuses = random_below(r, 2);
		fake_logind.session[i].mad = random_below(r, 2);
		break;
	default:
		assert_true(sd_bus_message_new_signal(
				    fake_logind.bus, &m, path,
				    "org.freedesktop.DBus.Properties",
				    "PropertiesChanged") >= 0);
		sd_bus_message_append(m, "s", FAKE_LOGIND ".Session");
		sd_bus_message_open_container(m, 'a', "{sv}");
		fake_append_lie(m);
		sd_bus_message_close_container(m);
		sd_bus_message_append(m, "as", 0);
		assert_true(sd_bus_send(fake_logind.bus, m, NULL) >= 0);
		sd_bus_message_unref(m);
	}
	free(path);
}

/*
 * Whatever logind said before: as soon as it tells the truth, we know the
 * truth.
 */
static void whatever_it_says(void **state)
{
	struct random_stream r;
	unsigned lists;

	random_init(&r, 1, "lies", 0);
	fake_logind_comes();
	play_begin("logind");
	for (int round = 0; round < 5; round++) {
		fake_logind.lies = &r;
		for (int i = 0; i < 60; i++) {
			lie(&r);
			assert_true(sd_event_run(play_event, 0) >= 0);
		}
		fake_logind.lies = NULL;
		for (int i = 0; i < FAKE_SESSIONS; i++)
			fake_session_goes(i);
		lists = fake_logind.lists;
		fake_emit("SessionNew", "so", "x", "/x");
		COMES(fake_logind.lists > lists &&
		      !owner_logged_in(play_owner) && !is()->here);
		fake_session_comes(0, "ada", "x11");
		COMES(is()->here && is()->cause == PRESENCE_SESSION);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(sessions_come_and_go),
		TEST(whose_session_it_is),
		TEST(one_that_was_there_before),
		TEST(a_host_without_it),
		TEST(one_that_vanishes),
		TEST(where_nobody_counts_nobody_is_missed),
		TEST(settings_are_read_again),
		TEST(what_makes_no_sense_counts_as_there),
		TEST(one_that_stands_still),
		TEST(one_that_flaps),
		TEST(a_host_that_sleeps_waits_for_its_guests),
		TEST(a_host_that_sleeps_with_its_guests),
		TEST(a_host_that_sleeps_twice),
		TEST(an_inhibitor_that_is_refused),
		TEST(an_inhibitor_that_comes_late),
		TEST(what_it_says_by_a_property),
		TEST(a_host_that_goes_already),
		TEST(whatever_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
