/*
 * test_contract.c - recruiting, the count of disturbances, giving back, and
 * what all of it comes to on random scripts with clocks that are set
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "core/random.h"
#include "model/contract.h"

#define SEC  USEC_PER_SEC
#define MIN  (60 * SEC)
#define HOUR (60 * MIN)
#define DAY  USEC_PER_DAY

static struct owner_terms terms;
static struct contract c;
static struct scene scene;
static usec_t now, step; /* the wall clock is ahead by step */

static struct moment moment(void)
{
	struct moment m = moment_plain(now + step);

	m.steady = now;
	return m;
}

static void feed(void)
{
	struct moment m = moment();

	contract_feed(&c, &terms, &m, &scene);
}

static enum closed closed(void)
{
	struct moment m = moment();

	return contract_closed(&c, &terms, &m);
}

static usec_t next(void)
{
	struct moment m = moment();

	return contract_next(&c, &terms, &m);
}

static int fresh(void **state)
{
	struct moment m;

	(void)state;
	owner_terms_init(&terms);
	now = 8 * HOUR;
	step = 0;
	scene = (struct scene){ .touched = -DAY };
	m = moment();
	contract_begin(&c, &m);
	feed();
	return 0;
}

static void guests(uint32_t n)
{
	scene.guests = scene.running = n;
	feed();
}

static void owner(bool here)
{
	scene.here = here;
	scene.touched = now;
	feed();
}

/* Comes, finds what there is, and goes; the guests are gone then. */
static void visit(void)
{
	owner(true);
	guests(0);
	now += MIN;
	owner(false);
	now += terms.quiet;
	feed();
}

static void recruited_after_the_quiet_time(void **state)
{
	(void)state;
	assert_int_equal(closed(), CLOSED_NOT);
	owner(true);
	assert_int_equal(closed(), CLOSED_OWNER);
	now += HOUR;
	owner(false);
	assert_int_equal(closed(), CLOSED_QUIET);
	assert_int_equal(next(), now + terms.quiet);
	now += terms.quiet - 1;
	assert_int_equal(closed(), CLOSED_QUIET);
	now++;
	assert_int_equal(closed(), CLOSED_NOT);
}

static void load_closes_for_those_who_come(void **state)
{
	(void)state;
	scene.load = terms.load + 0.01;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	assert_false(closed_for_guests(CLOSED_LOAD));
	now += HOUR;
	scene.load = terms.load;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	assert_int_equal(next(), now + terms.load_quiet);
	now += terms.load_quiet;
	assert_int_equal(closed(), CLOSED_NOT);
	scene.load = 0.0 / 0.0;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	terms.load = LOAD_ANY;
	assert_int_equal(closed(), CLOSED_NOT);
}

static void hours_close(void **state)
{
	(void)state;
	assert_int_equal(owner_terms_set(&terms, "hours", "mon 10-24", NULL),
			 0);
	assert_int_equal(closed(), CLOSED_HOURS);
	assert_true(closed_for_guests(CLOSED_HOURS));
	assert_int_equal(next(), 10 * HOUR);
	now = 10 * HOUR;
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(next(), DAY);
}

static void disturbed_by_what_a_guest_left(void **state)
{
	(void)state;
	visit();
	assert_int_equal(c.disturbed, 0);
	assert_int_equal(c.returns, 1);
	guests(1);
	guests(0);
	visit(); /* it took memory and cache */
	assert_int_equal(c.disturbed, 1);
	visit(); /* which are the owner's again */
	assert_int_equal(c.disturbed, 1);
	guests(2);
	visit();
	assert_int_equal(c.disturbed, 2);
	assert_int_equal(c.nr_last, 4);
	assert_int_equal(c.last[3].guests, 2);
	assert_true(c.last[3].disturbed && !c.last[2].disturbed);
	assert_int_equal(c.last[3].took, 0);
}

static void closed_for_the_day(void **state)
{
	(void)state;
	terms.disturb = 2;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(closed(), CLOSED_NOT);
		assert_int_equal(contract_left(&c, &terms), 2 - i);
		guests(1);
		visit();
	}
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(contract_left(&c, &terms), 0);
	now = DAY - 1;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(next(), DAY);
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(c.ends, 2 * DAY);
}

static void slow_giving_back_closes(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	assert_int_equal(next(), now + terms.give_back + 1);
	now += terms.give_back;
	feed();
	assert_int_equal(contract_left(&c, &terms), terms.disturb - 1);
	now++;
	feed();
	assert_int_equal(contract_left(&c, &terms), 0);
	now += SEC;
	guests(0);
	assert_int_equal(c.last[0].took, terms.give_back + 1 + SEC);
	owner(false);
	now += HOUR;
	assert_int_equal(closed(), CLOSED_SLOW);
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
}

static struct lending lending(bool evict)
{
	struct moment m = moment();

	return contract_lending(&c, &terms, &m, evict);
}

static void what_guests_are_to_do(void **state)
{
	struct lending l = lending(false);

	(void)state;
	terms.quiet = 0;
	assert_true(!l.leave && l.closed == CLOSED_NOT);
	guests(1);
	owner(true);
	l = lending(false);
	assert_true(l.leave && l.closed == CLOSED_OWNER && !l.freeze_until);
	assert_int_equal(l.leave_by, now + terms.give_back);
	terms.on_return = RETURN_FREEZE;
	assert_int_equal(next(), now + terms.give_back + 1);
	assert_int_equal(lending(false).freeze_until, now + terms.freeze_most);
	assert_int_equal(lending(true).freeze_until, 0);
	scene.running = 0;
	feed();
	assert_int_equal(next(), now + terms.freeze_most);
	now += terms.freeze_most;
	l = lending(false);
	assert_true(l.leave && !l.freeze_until);
	terms.on_return = RETURN_SHARE;
	assert_false(lending(false).leave);
	assert_true(lending(true).leave);
	terms.disturb = 1; /* that was it for today */
	assert_true(lending(false).leave);
	owner(false);
	l = lending(false);
	assert_true(l.leave && l.closed == CLOSED_DISTURBED && !l.leave_by);
}

/* Told late: the guest left and so did the owner, but it took too long. */
static void slow_without_a_tick(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	now += 2 * terms.give_back;
	scene.here = false;
	guests(0);
	now += HOUR;
	assert_int_equal(closed(), CLOSED_SLOW);
}

static void shared_and_frozen(void **state)
{
	(void)state;
	terms.on_return = RETURN_SHARE;
	guests(1);
	owner(true);
	assert_int_equal(c.last[0].took, 0);
	now += HOUR;
	owner(false);
	assert_int_equal(c.closed, CLOSED_NOT);
	terms.on_return = RETURN_FREEZE;
	owner(true);
	assert_int_equal(c.disturbed, 2); /* it was there all the time */
	now += SEC;
	scene.running = 0;
	feed();
	assert_int_equal(c.last[1].took, SEC);
	now += HOUR;
	feed();
	assert_int_equal(c.closed, CLOSED_NOT);
}

/* A day that began ends when it would have, whatever the clock is set to. */
static void a_clock_that_is_set(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 17 * HOUR; /* past midnight */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = -30 * DAY;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 15 * HOUR;
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	/* It is 15 h there: the midnight in 9 h is that of a day too short. */
	assert_int_equal(c.ends, DAY + 33 * HOUR);
}

static void days_asleep(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 5 * DAY + 7 * HOUR;
	scene.touched = 0;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(c.ends, 6 * DAY);
}

/* Days of 23 and 25 hours are days; a midnight of another world is none. */
static void days_end_at_midnight(void **state)
{
	static const struct {
		usec_t midnight, day;
	} days[] = {
		{ 25 * HOUR, 25 * HOUR },
		{ 23 * HOUR, 23 * HOUR },
		{ HOUR, HOUR },
		{ 27 * HOUR, DAY },
		{ 0, DAY },
		{ -HOUR, DAY },
	};
	struct moment m;

	(void)state;
	for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++) {
		m = moment();
		m.midnight = m.wall + days[i].midnight;
		contract_begin(&c, &m);
		assert_int_equal(c.ends, now + days[i].day);
	}
}

/* What it took beside its owner is counted with the return that found it. */
static void a_guest_that_lingers_counts_once(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	feed();
	guests(0);
	now += MIN;
	owner(false);
	now += MIN;
	owner(true);
	assert_int_equal(c.returns, 2);
	assert_int_equal(c.disturbed, 1);
}

static void the_last_returns_are_kept(void **state)
{
	usec_t first = now;

	(void)state;
	for (int i = 0; i < CONTRACT_RETURNS + 3; i++)
		visit(); /* a minute, and until it is quiet */
	assert_int_equal(c.nr_last, CONTRACT_RETURNS);
	for (uint32_t i = 0; i < c.nr_last; i++)
		assert_int_equal(c.last[i].wall,
				 first + (i + 3) * (MIN + terms.quiet));
}

/* The clock of who saw it was ahead. */
static void touched_later_than_now(void **state)
{
	(void)state;
	scene.touched = now + HOUR;
	feed();
	assert_int_equal(closed(), CLOSED_QUIET);
	now += terms.quiet;
	assert_int_equal(closed(), CLOSED_NOT);
}

/* ---- on paper ---- */

static char *text;

static void on_paper(const char *boot)
{
	struct moment m = moment();
	size_t n;
	FILE *f = open_memstream(&text, &n);

	contract_write(&c, &m, boot, f);
	fclose(f);
}

static int from_paper(const char *boot)
{
	struct moment m = moment();
	struct error err = ERROR_INIT;
	int r = contract_read(&c, text, &m, boot, &err);

	assert_true(!r || *err.text);
	free(text);
	return r;
}

static void an_agent_is_started_again(void **state)
{
	struct contract before;

	(void)state;
	guests(1);
	visit();
	guests(2);
	owner(true);
	now += SEC;
	feed();
	before = c;
	on_paper("a");
	now += 3 * SEC;
	step = 9 * DAY;
	assert_int_equal(from_paper("a"), 0);
	before.scene.touched = c.scene.touched;
	before.scene.load = c.scene.load;
	before.calm_since = c.calm_since;
	before.fed = c.fed;
	assert_memory_equal(&c, &before, sizeof(c));
	guests(0);
	assert_int_equal(c.last[1].took, 4 * SEC);
}

static void a_boot_keeps_the_count(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	guests(1); /* which the boot ends */
	on_paper("a");
	step = now + HOUR; /* an hour later, steady from 0 on */
	now = 0;
	assert_int_equal(from_paper("b"), 0);
	scene = (struct scene){ .here = false, .touched = -DAY };
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(c.ends, DAY - step);
	owner(true);
	assert_int_equal(c.disturbed, 1); /* nothing of a guest is left */
	owner(false);
	now = DAY - step;
	feed();
	assert_int_equal(c.disturbed, 0);
}

static void a_boot_without_a_clock(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 20 * HOUR;
	feed();
	on_paper("a");
	now = MIN;
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	on_paper("b"); /* and again */
	now = 2 * MIN;
	assert_int_equal(from_paper("c"), 0);
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_true(c.ends > now + 3 * HOUR && c.ends <= now + 4 * HOUR);
	step = 22 * HOUR - now; /* set right: two hours have gone by */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(c.ends, now + 2 * HOUR);
	step += 2 * DAY; /* only once */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
}

/* What is not settled is read back as it was, also with the times of today. */
static void unsettled_on_paper(void **state)
{
	usec_t written = 20000 * DAY + 8 * HOUR;

	(void)state;
	step = 20000 * DAY;
	guests(1);
	on_paper("a");
	now = MIN;
	step = 0;
	assert_int_equal(from_paper("b"), 0);
	assert_true(c.unsettled && c.written == written);
	assert_int_equal(c.left, 16 * HOUR);
	on_paper("b");
	assert_int_equal(from_paper("b"), 0);
	assert_true(c.unsettled && c.written == written);
	assert_int_equal(c.left, 16 * HOUR);
}

/* No clock of one boot goes back: whoever wrote that is not to be believed. */
static void paper_of_a_later_instant(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	on_paper("a");
	now -= HOUR;
	assert_int_equal(from_paper("a"), 0);
	assert_int_equal(c.giving, -1);
	assert_int_equal(c.scene.guests, 0);
	assert_false(c.scene.here);
	assert_int_equal(c.ends, now + 16 * HOUR);
}

/* A clock that is set right late, or wrongly, gives nothing. */
static void a_clock_comes_late(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 20 * HOUR;
	feed();
	on_paper("a");
	now = 0;
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	scene.guests = scene.running = 0;
	now = 3 * HOUR;
	feed();
	on_paper("b");
	step = 21 * HOUR - now; /* not even as long as it runs */
	feed();
	assert_int_equal(c.ends, 4 * HOUR);
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	now = 4 * HOUR; /* the day ends without the clock */
	guests(1);
	visit();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 25 * HOUR - now;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
}

static void steady_goes_back(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	now += SEC;
	feed();
	now -= HOUR;
	guests(0);
	assert_int_equal(c.last[0].took, SEC);
}

static void bad_paper(void **state)
{
	static const char *const wrong[] = {
		"",
		"end\n",
		"stint-contract 2 a\n",
		"stint-contract 1 a\nat 0 0\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nend\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 quiet\nnow 0 0 0 0 -1 0\n"
		"end\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n"
		"end\nend\n",
		"stint-contract 1 a\nat -9223372036854775808 0\n"
		"day 0 0 0 open\nnow 0 0 0 0 -1 0\nend\n",
		"stint-contract 1 a\nat 0 0\nday 999999999999 0 0 open\n"
		"now 0 0 0 0 -1 0\nend\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 9 0\n"
		"end\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		text = strdup(wrong[i]);
		if (from_paper("a") != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
		feed();
		assert_int_equal(closed(), CLOSED_LOST);
	}
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
}

/* ---- random scripts ---- */

struct script {
	struct random_stream r;
	bool steps, papers;
	unsigned in_day;  /* disturbances as this test counts them, */
	usec_t day_began; /* ... since then */
	usec_t day_ends;
	bool traces; /* of a guest */
};

static void change_clock(struct script *s)
{
	if (s->steps && !random_below(&s->r, 20))
		step = (usec_t)random_below(&s->r, 6 * DAY) - 3 * DAY;
	if (s->papers && !random_below(&s->r, 20)) {
		on_paper("a");
		assert_int_equal(from_paper("a"), 0);
	}
}

/* A new day has been begun: no shorter than half of one. */
static void look_at_days(struct script *s)
{
	if (c.ends == s->day_ends)
		return;
	assert_true(c.ends - s->day_ends >= DAY / 2);
	assert_true(c.ends - now <= DAY + DAY / 2);
	if (!s->steps)
		assert_true(c.ends % DAY == 0);
	s->day_began = s->day_ends;
	s->day_ends = c.ends;
	s->in_day = 0;
}

/* As a well-behaved host: guests come while it is open, and leave at once. */
static void host_lives(struct script *s)
{
	bool was = scene.here, comes = !random_below(&s->r, 2);

	if (!random_below(&s->r, 3))
		scene.here = !scene.here;
	else if (!scene.here && closed() == CLOSED_NOT && comes)
		scene.guests = scene.running = (uint32_t)random_below(&s->r, 3);
	scene.touched = scene.here || was ? now : scene.touched;
	feed();
	look_at_days(s);
	if (scene.here && !was && (scene.guests || s->traces)) {
		assert_true(c.disturbed == ++s->in_day);
		assert_true(s->in_day <= terms.disturb);
	}
	s->traces = !scene.here && (s->traces || scene.guests);
	if (!closed_for_guests(closed()))
		return;
	scene.guests = scene.running = 0;
	feed();
}

static void play(uint64_t seed, bool steps, bool papers)
{
	struct script s = { .steps = steps, .papers = papers };

	fresh(NULL);
	random_init(&s.r, seed, "contract", 0);
	terms.disturb = (uint32_t)random_below(&s.r, 4);
	terms.quiet = MIN;
	s.day_ends = c.ends;
	for (int i = 0; i < 3000; i++) {
		now += (usec_t)random_below(&s.r, HOUR);
		change_clock(&s);
		feed();
		look_at_days(&s);
		host_lives(&s);
	}
}

static void no_more_than_the_terms_allow(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++)
		play(seed, seed % 2, seed % 3 == 0);
}

/* Within the day a script begins in, setting the clock changes nothing. */
static void steps_neither_give_nor_take(void **state)
{
	struct random_stream r;
	struct contract unset;
	struct scene s;
	struct moment m;

	(void)state;
	random_init(&r, 1, "steps", 0);
	for (int run = 0; run < 100; run++) {
		fresh(NULL);
		unset = c;
		while (now < DAY - HOUR) {
			now += (usec_t)random_below(&r, HOUR);
			step = (usec_t)random_below(&r, 99 * DAY) - 49 * DAY;
			s = (struct scene){ .here = random_below(&r, 2),
					    .guests = !random_below(&r, 3) };
			scene = s;
			feed();
			m = moment_plain(now);
			contract_feed(&unset, &terms, &m, &s);
			assert_int_equal(c.disturbed, unset.disturbed);
			assert_int_equal(closed(),
					 contract_closed(&unset, &terms, &m));
			assert_int_equal(c.ends, unset.ends);
		}
	}
}

/* Between two feeds nothing changes that contract_next() did not announce. */
static void changes_are_announced(void **state)
{
	struct random_stream r;
	enum closed was;
	usec_t at;

	(void)state;
	random_init(&r, 2, "announced", 0);
	fresh(NULL);
	assert_int_equal(owner_terms_set(&terms, "hours", "mon-sun 9-17", NULL),
			 0);
	terms.disturb = 3;
	for (int i = 0; i < 20000; i++) {
		at = next();
		was = closed();
		now += (usec_t)random_below(&r, 30 * MIN);
		if (now >= at)
			now = at;
		else
			assert_int_equal(closed(), was);
		scene.here = !random_below(&r, 4);
		scene.guests = scene.here ? 0 : (uint32_t)random_below(&r, 2);
		scene.load = (double)random_below(&r, 2);
		if (scene.here)
			scene.touched = now;
		feed();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(recruited_after_the_quiet_time, fresh),
		cmocka_unit_test_setup(load_closes_for_those_who_come, fresh),
		cmocka_unit_test_setup(hours_close, fresh),
		cmocka_unit_test_setup(disturbed_by_what_a_guest_left, fresh),
		cmocka_unit_test_setup(closed_for_the_day, fresh),
		cmocka_unit_test_setup(slow_giving_back_closes, fresh),
		cmocka_unit_test_setup(what_guests_are_to_do, fresh),
		cmocka_unit_test_setup(slow_without_a_tick, fresh),
		cmocka_unit_test_setup(shared_and_frozen, fresh),
		cmocka_unit_test_setup(a_clock_that_is_set, fresh),
		cmocka_unit_test_setup(days_asleep, fresh),
		cmocka_unit_test_setup(days_end_at_midnight, fresh),
		cmocka_unit_test_setup(a_guest_that_lingers_counts_once, fresh),
		cmocka_unit_test_setup(the_last_returns_are_kept, fresh),
		cmocka_unit_test_setup(touched_later_than_now, fresh),
		cmocka_unit_test_setup(an_agent_is_started_again, fresh),
		cmocka_unit_test_setup(a_boot_keeps_the_count, fresh),
		cmocka_unit_test_setup(a_boot_without_a_clock, fresh),
		cmocka_unit_test_setup(unsettled_on_paper, fresh),
		cmocka_unit_test_setup(paper_of_a_later_instant, fresh),
		cmocka_unit_test_setup(a_clock_comes_late, fresh),
		cmocka_unit_test_setup(steady_goes_back, fresh),
		cmocka_unit_test_setup(bad_paper, fresh),
		cmocka_unit_test_setup(no_more_than_the_terms_allow, fresh),
		cmocka_unit_test_setup(steps_neither_give_nor_take, fresh),
		cmocka_unit_test_setup(changes_are_announced, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
