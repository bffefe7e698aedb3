/*
 * test_contract_laws.c - a contract keeps its promises, whatever happens:
 * random scripts
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/play_contract.h"

struct script {
	struct random_stream r;
	bool steps, papers;
	unsigned in_day;  /* disturbances, counted by this test, */
	unsigned returns; /* ... and all of the owner's returns, */
	usec_t day_began; /* ... since then */
	usec_t day_ends;
	bool traces; /* does a guest leave traces? */
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

/* If a new day has begun, it must not be shorter than half a day. */
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
	s->in_day = s->returns = 0;
}

/*
 * As on a host that behaves: guests come while it is open, and leave at once.
 */
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
	s->returns += scene.here && !was;
	assert_int_equal(c.returns, s->returns);
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

/*
 * What guests without a place elsewhere do: they stand still, leave one by one
 * when a place is found, and come back when the host is open.
 */
static void guests_strand(struct script *s)
{
	bool out = closed_for_guests(closed());

	if (!out && !scene.here && random_below(&s->r, 2))
		scene.guests = scene.running =
			scene.guests + (uint32_t)random_below(&s->r, 2);
	else if (out && scene.guests && !random_below(&s->r, 4))
		scene.running = 1; /* it leaves */
	feed();
	if (!closed_for_guests(closed()))
		return;
	now += (usec_t)random_below(&s->r, (uint64_t)terms.give_back);
	if (!random_below(&s->r, 4)) /* meanwhile */
		scene.here = !scene.here;
	feed();
	if (scene.running && out)
		scene.guests--;
	scene.running = 0;
	feed();
}

static void who_strands_is_no_new_disturbance(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct script s = { .in_day = 0 };
		uint32_t most = 0;

		fresh(NULL);
		random_init(&s.r, seed, "strand", 0);
		terms.disturb = 1 + (uint32_t)(seed % 3);
		terms.quiet = seed % 2 ? 0 : MIN;
		for (int i = 0; i < 3000; i++) {
			now += (usec_t)random_below(&s.r, 10 * MIN);
			if (!random_below(&s.r, 2))
				scene.here = !scene.here;
			scene.touched = now;
			feed();
			guests_strand(&s);
			most = c.disturbed > most ? c.disturbed : most;
			assert_true(c.disturbed <= terms.disturb);
		}
		assert_int_equal(most, terms.disturb);
	}
}

/*
 * The last disturbance is used up while moves hold both guests stopped, behind a link that is
 * cut: they may stay so for hours.  One whose move fails runs, until its agent has stopped it.
 */
static void who_is_held_takes_nothing_anew(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(2);
	owner(true);
	scene.held = 2;
	owner(false);
	assert_true(c.leaving < 0);
	now += HOUR;
	scene.held = 1;
	feed();
	assert_int_equal(c.leaving, now);
	assert_int_equal(next(), now + terms.give_back * 3 / 4);
	now = next();
	feed();
	scene.running = 1;
	feed();
	now += HOUR;
	owner(true);
	assert_int_equal(c.disturbed, 1);
	assert_true(c.giving >= 0); /* yet the one is in the way */
}

static usec_t leave_by(void)
{
	struct moment m = moment();

	return contract_lending(&c, &terms, &m, false).leave_by;
}

/* What becomes of guests of a host that no controller sees to. */
static void moves_go_wrong(struct script *s)
{
	uint32_t awake = scene.running - scene.held;

	if (awake && !random_below(&s->r, 3))
		scene.held++; /* its move stops it */
	else if (scene.held && !random_below(&s->r, 3))
		scene.held--; /* the move has failed */
	else if (scene.held && !random_below(&s->r, 3))
		scene.held--, scene.running--, scene.guests--;
	feed();
}

/* An agent that does nothing but stop at leave_by who runs then keeps the contract. */
static void standing_by_then_is_enough(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct script s = { .in_day = 0 };
		uint32_t stopped = 0;

		fresh(NULL);
		random_init(&s.r, seed, "held", 0);
		terms.disturb = 1 + (uint32_t)(seed % 3);
		terms.quiet = 0;
		for (int i = 0; i < 3000; i++) {
			usec_t by = scene.here ? 0 : leave_by(),
			       then = now + (usec_t)random_below(&s.r, 5 * MIN);

			if (by && by < then) {
				now = by + (usec_t)random_below(&s.r, SEC);
				stopped += scene.running - scene.held;
				scene.running = scene.held;
				feed();
			}
			now = then > now ? then : now;
			if (!random_below(&s.r, 3))
				scene.here = !scene.here;
			else if (closed() == CLOSED_NOT)
				scene.running = ++scene.guests;
			moves_go_wrong(&s);
			assert_true(c.disturbed <= terms.disturb);
		}
		assert_true(stopped > 5);
	}
}

/* Setting the clock within the day in which a script begins changes nothing. */
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

/*
 * Between two calls of contract_feed() nothing changes that contract_next() did
 * not announce.
 */
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

/* A host of which little changes most of the time. */
static void stir(struct random_stream *r)
{
	now += (usec_t)random_below(r, MIN);
	if (random_below(r, 4)) { /* as it was */
		scene = c.scene;
		return;
	}
	scene.here ^= !random_below(r, 8);
	scene.guests = (uint32_t)random_below(r, 3);
	scene.running = scene.guests ? !random_below(r, 2) : 0;
	scene.held = scene.running ? !random_below(r, 3) : 0;
	scene.load = (double)random_below(r, 2);
	if (!random_below(r, 8))
		scene.touched = now;
}

static void other_terms(struct random_stream *r)
{
	fresh(NULL);
	terms.disturb = (uint32_t)random_below(r, 3);
	terms.on_return = (enum on_return)random_below(r, 3);
	terms.load = random_below(r, 2) ? 1 : 0.3;
}

/* Feeding what is still changes nothing; and often something is. */
static void still_is_still(void **state)
{
	struct random_stream r;
	unsigned still[2] = { 0 };

	(void)state;
	random_init(&r, 3, "still", 0);
	for (int i = 0; i < 200000; i++) {
		struct contract before;
		usec_t at;
		bool is;

		if (i % 20000 == 0)
			other_terms(&r);
		if (!random_below(&r, 3000)) {
			on_paper("a");
			step = (usec_t)random_below(&r, DAY) - DAY / 2;
			assert_int_equal(from_paper("b"), 0);
		}
		at = next();
		stir(&r);
		before = c;
		is = now < at && contract_is_still(&c, &terms, &scene);
		feed();
		before.fed = c.fed;
		still[is]++;
		if (is)
			assert_memory_equal(&before, &c, sizeof(c));
	}
	assert_true(still[true] > 20000 && still[false] > 20000);
}

/*
 * Whoever is started again has the last paper that had to be written, and knows from it what
 * those know who run on.
 */
static void the_last_paper_says_it_all(void **state)
{
	struct contract written, is;
	struct random_stream r;
	unsigned slow = 0;
	char *last = NULL;

	(void)state;
	random_init(&r, 4, "paper", 0);
	for (int i = 0; i < 40000; i++) {
		if (i % 4000 == 0)
			other_terms(&r);
		stir(&r);
		feed();
		if (i % 4000 == 0 || contract_differs(&written, &c)) {
			written = c;
			free(last);
			on_paper("a");
			last = paper;
			continue;
		}
		is = c;
		slow += c.closed == CLOSED_SLOW;
		paper = strdup(last);
		assert_int_equal(from_paper("a"), 0);
		assert_int_equal(c.closed, is.closed);
		assert_int_equal(c.disturbed, is.disturbed);
		assert_int_equal(c.returns, is.returns);
		assert_int_equal(c.used, is.used);
		assert_int_equal(c.ends, is.ends);
		assert_int_equal(c.scene.here, is.scene.here);
		assert_int_equal(c.giving < 0, is.giving < 0);
		assert_int_equal(c.leaving < 0, is.leaving < 0);
		c = is;
	}
	assert_true(slow > 1000);
	free(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_more_than_the_terms_allow, fresh),
		cmocka_unit_test_setup(who_strands_is_no_new_disturbance,
				       fresh),
		cmocka_unit_test_setup(who_is_held_takes_nothing_anew, fresh),
		cmocka_unit_test_setup(standing_by_then_is_enough, fresh),
		cmocka_unit_test_setup(steps_neither_give_nor_take, fresh),
		cmocka_unit_test_setup(changes_are_announced, fresh),
		cmocka_unit_test_setup(still_is_still, fresh),
		cmocka_unit_test_setup(the_last_paper_says_it_all, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
