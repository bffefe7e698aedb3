/* test_presence.c - is the owner of a host there */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/presence.h"

#define S	USEC_PER_SEC
#define QUIET	(60 * S)
#define HERE(s) assert_true((s)->is.here)
#define AWAY(s) assert_false((s)->is.here)

/* Advance to that instant, asking again whenever something may have changed. */
static void come_to(struct presence_signs *s, usec_t *now, usec_t at)
{
	usec_t next;

	while ((next = presence_next(s, *now)) <= at) {
		*now = next;
		presence_update(s, next);
	}
	*now = at;
}

static void comes_at_once_and_goes_when_quiet(void **state)
{
	struct presence_signs s;
	usec_t now = 100 * S;

	presence_init(&s, QUIET, now);
	assert_false(presence_update(&s, now));
	AWAY(&s);
	presence_sign(&s, PRESENCE_INPUT, now, now, "ada");
	assert_true(presence_update(&s, now));
	HERE(&s);
	assert_int_equal(s.is.cause, PRESENCE_INPUT);
	assert_string_equal(s.is.who, "ada");
	assert_int_equal(s.is.idle_since, USEC_MAX);
	come_to(&s, &now, 159 * S);
	HERE(&s);
	come_to(&s, &now, 160 * S);
	AWAY(&s);
	assert_int_equal(s.is.since, 160 * S);
	assert_int_equal(s.is.idle_since, 100 * S);
	assert_string_equal(s.is.who, "");
}

static void signs_of_long_ago_and_of_the_future(void **state)
{
	struct presence_signs s;
	usec_t now = 1000 * S;

	presence_init(&s, QUIET, now);
	presence_sign(&s, PRESENCE_TERMINAL, 900 * S, now, NULL);
	presence_update(&s, now);
	AWAY(&s);
	assert_int_equal(s.is.idle_since, 900 * S);
	presence_sign(&s, PRESENCE_TERMINAL, 800 * S, now, NULL);
	presence_update(&s, now);
	assert_int_equal(s.is.idle_since, 900 * S);
	presence_sign(&s, PRESENCE_TERMINAL, USEC_MAX, now, NULL);
	presence_update(&s, now);
	HERE(&s);
	come_to(&s, &now, 1060 * S);
	AWAY(&s);
}

static void what_is_held_lasts(void **state)
{
	struct presence_signs s;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	presence_hold(&s, PRESENCE_SESSION, true, now, "ada");
	presence_update(&s, now);
	come_to(&s, &now, 100000 * S);
	HERE(&s);
	presence_hold(&s, PRESENCE_SESSION, false, now, NULL);
	assert_false(presence_update(&s, now));
	HERE(&s);
	come_to(&s, &now, 100060 * S);
	AWAY(&s);
	/* Mains power is back: nobody has to leave any more. */
	presence_hold(&s, PRESENCE_POWER, true, now, NULL);
	assert_true(presence_update(&s, now));
	come_to(&s, &now, now + 5 * S);
	presence_hold(&s, PRESENCE_POWER, false, now, NULL);
	assert_true(presence_update(&s, now));
	AWAY(&s);
}

static void words_hold_for_their_time(void **state)
{
	struct presence_signs s;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	presence_say(&s, true, false, now, 10 * S, "bob");
	assert_true(presence_update(&s, now));
	assert_int_equal(s.is.cause, PRESENCE_SAID);
	assert_string_equal(s.is.who, "bob");
	come_to(&s, &now, 10 * S);
	AWAY(&s);
	presence_say(&s, false, true, now, 10 * S, "bob");
	assert_true(presence_update(&s, now));
	assert_true(s.is.here && s.is.evict);
	come_to(&s, &now, 20 * S);
	assert_false(s.is.here || s.is.evict);
	presence_say(&s, true, true, now, USEC_MAX, "bob");
	presence_update(&s, now);
	come_to(&s, &now, 30 * S);
	assert_true(s.is.here && s.is.evict);
	presence_say(&s, false, false, now, S, "bob");
	assert_true(presence_update(&s, now));
	assert_false(s.is.here || s.is.evict);
	assert_int_equal(s.is.idle_since, 30 * S);
}

static void away_is_not_above_what_happens_later(void **state)
{
	struct presence_signs s;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	presence_hold(&s, PRESENCE_SESSION, true, now, "ada");
	presence_update(&s, now);
	come_to(&s, &now, 5 * S);
	presence_say(&s, false, false, now, 3600 * S, "ada");
	assert_true(presence_update(&s, now));
	AWAY(&s);
	/* The session was there before, so it is no news. */
	come_to(&s, &now, 50 * S);
	AWAY(&s);
	presence_sign(&s, PRESENCE_INPUT, now, now, NULL);
	assert_true(presence_update(&s, now));
	HERE(&s);
}

/*
 * Whoever says "away" touches a terminal to do so, and the session stays in
 * use.
 */
static void away_is_above_what_was_there(void **state)
{
	struct presence_signs s;
	usec_t now = 5 * S;

	presence_init(&s, QUIET, now);
	presence_hold(&s, PRESENCE_SESSION, true, now, "ada");
	presence_update(&s, now);
	come_to(&s, &now, 10 * S);
	presence_sign(&s, PRESENCE_TERMINAL, now, now, "ada");
	presence_say(&s, false, false, now, 3600 * S, "ada");
	assert_true(presence_update(&s, now));
	AWAY(&s);
	come_to(&s, &now, 20 * S);
	presence_hold(&s, PRESENCE_SESSION, true, now, "ada"); /* still */
	assert_false(presence_update(&s, now));
	AWAY(&s);
	/* That session ends, and somebody begins another one. */
	presence_hold(&s, PRESENCE_SESSION, false, now, NULL);
	come_to(&s, &now, 30 * S);
	presence_hold(&s, PRESENCE_SESSION, true, now, "bob");
	presence_update(&s, now);
	HERE(&s);
}

/*
 * Whoever says "away" was there to say it; and while input could not be seen,
 * somebody may have been there.
 */
static void idle_since_the_last_that_is_known(void **state)
{
	struct presence_signs s;
	usec_t now = 1000 * S;

	presence_init(&s, QUIET, now);
	presence_say(&s, false, false, now, S, "ada");
	assert_false(presence_update(&s, now));
	assert_int_equal(s.is.idle_since, 1000 * S);
	presence_init(&s, QUIET, now);
	presence_lost(&s, PRESENCE_INPUT, true);
	assert_true(presence_update(&s, now));
	come_to(&s, &now, 1010 * S);
	presence_lost(&s, PRESENCE_INPUT, false);
	assert_true(presence_update(&s, now));
	AWAY(&s);
	assert_int_equal(s.is.idle_since, 1010 * S);
}

/*
 * This is shorter than the least time an owner is taken to stay: guests may
 * come back at once.
 */
static void a_short_eviction_is_over(void **state)
{
	struct presence_signs s;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	presence_say(&s, false, true, now, 100 * USEC_PER_MSEC, "ada");
	assert_true(presence_update(&s, now));
	assert_true(s.is.here && s.is.evict);
	now = presence_next(&s, now);
	assert_int_equal(now, 100 * USEC_PER_MSEC);
	assert_true(presence_update(&s, now));
	assert_true(s.is.here && !s.is.evict);
	come_to(&s, &now, PRESENCE_LEAST);
	AWAY(&s);
}

static void who_cannot_tell_counts_as_there(void **state)
{
	struct presence_signs s;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	presence_lost(&s, PRESENCE_SESSION, true);
	assert_true(presence_update(&s, now));
	HERE(&s);
	assert_int_equal(s.is.cause, PRESENCE_UNREADABLE);
	assert_int_equal(s.is.lost, PRESENCE_SESSION);
	come_to(&s, &now, 100000 * S);
	HERE(&s);
	presence_say(&s, false, false, now, 3600 * S, "ada");
	presence_update(&s, now);
	HERE(&s);
	presence_lost(&s, PRESENCE_SESSION, false);
	assert_true(presence_update(&s, now));
	AWAY(&s);
	assert_int_equal(s.is.lost, PRESENCE_NOBODY);
}

/* Words that change 100 times a second. */
static void flapping_words_change_it_once_a_second(void **state)
{
	struct presence_signs s;
	unsigned changes = 0;
	usec_t now = 0;

	presence_init(&s, QUIET, now);
	for (unsigned i = 0; i < 1000; i++) {
		now += 10 * USEC_PER_MSEC;
		presence_say(&s, i % 2, false, now, S, "");
		changes += presence_update(&s, now);
	}
	assert_in_range(changes, 2, 20);
}

/* ---- whatever comes */

static void anything(struct presence_signs *s, struct random_stream *r,
		     usec_t now)
{
	unsigned c = 1 + random_below(r, PRESENCE_CAUSES - 1);
	bool yes = random_below(r, 2);

	switch (random_below(r, 5)) {
	case 0:
		presence_sign(s, c,
			      now + (usec_t)random_below(r, 100) * S - 80 * S,
			      now, "x");
		break;
	case 1:
		presence_hold(s, c, yes, now, "x");
		break;
	case 2:
		presence_lost(s, c, yes && random_below(r, 2));
		break;
	default:
		presence_say(s, yes, yes && random_below(r, 2), now,
			     (usec_t)random_below(r, 90) * S, "x");
	}
}

static bool any_lost(const struct presence_signs *s)
{
	bool lost = false;

	for (unsigned c = 0; c < PRESENCE_CAUSES; c++)
		lost |= s->sign[c].lost;
	return lost;
}

static void check_state(const struct presence_signs *s, usec_t now)
{
	const struct presence *is = &s->is;

	assert_true(is->here == (is->cause != PRESENCE_NOBODY));
	assert_true(is->here || !any_lost(s));
	assert_true(is->here || !is->evict);
	assert_true(is->since <= now);
	assert_true(is->here ? is->idle_since == USEC_MAX
			     : is->idle_since <= now);
	for (unsigned c = 1; c < PRESENCE_CAUSES; c++)
		assert_true(is->here || s->said || !s->sign[c].held);
}

static void laws(uint64_t seed)
{
	struct random_stream stream, *r = &stream;
	struct presence_signs s, between;
	usec_t now = 0, gone = -PRESENCE_LEAST;

	random_init(r, seed, "presence", 0);
	presence_init(&s, QUIET, now);
	for (unsigned i = 0; i < 500; i++) {
		usec_t until = now + (usec_t)random_below(r, 40 * S), next;
		bool was;

		/* Nothing changes before the time that presence_next() told. */
		while ((next = presence_next(&s, now)) < until) {
			assert_true(next > now);
			between = s;
			assert_false(presence_update(
				&between,
				now + (usec_t)random_below(
					      r, (uint64_t)(next - now))));
			was = s.is.here;
			presence_update(&s, now = next);
			if (was && !s.is.here) {
				assert_true(now - gone >= PRESENCE_LEAST);
				gone = now;
			}
			check_state(&s, now);
		}
		now = until;
		anything(&s, r, now);
		was = s.is.here;
		presence_update(&s, now);
		if (was && !s.is.here) {
			assert_true(now - gone >= PRESENCE_LEAST);
			gone = now;
		}
		check_state(&s, now);
	}
}

/* It is news if the host goes sooner than was told. */
static void an_instant_that_comes_nearer_is_news(void **state)
{
	struct presence_signs s;

	presence_init(&s, QUIET, 0);
	presence_hold(&s, PRESENCE_NOTICE, true, 0, NULL);
	s.sign[PRESENCE_NOTICE].by = 120 * S;
	assert_true(presence_update(&s, 0));
	assert_false(presence_update(&s, S));
	s.sign[PRESENCE_NOTICE].by =
		120 * S - S / 2; /* as near as clocks tell */
	assert_false(presence_update(&s, S));
	assert_int_equal(s.is.going_by, 120 * S);
	s.sign[PRESENCE_NOTICE].by = 60 * S;
	assert_true(presence_update(&s, S));
	assert_int_equal(s.is.going_by, 60 * S);
	/* It is shut down, too, and then before that, or after. */
	s.sign[PRESENCE_GOING].by = 30 * S;
	assert_false(presence_update(&s, S));
	presence_hold(&s, PRESENCE_GOING, true, S, NULL);
	assert_true(presence_update(&s, S));
	assert_int_equal(s.is.going_by, 30 * S);
	s.sign[PRESENCE_GOING].by = 90 * S;
	assert_true(presence_update(&s, S));
	assert_int_equal(s.is.going_by, 60 * S);
	presence_hold(&s, PRESENCE_GOING, false, S, NULL);
	assert_false(presence_update(&s, S));
	/* Not known any more, and it flaps, as it came just now. */
	s.sign[PRESENCE_NOTICE].by = 0;
	presence_hold(&s, PRESENCE_NOTICE, false, S / 2, NULL);
	assert_true(presence_update(&s, S / 2));
	assert_int_equal(s.is.going_by, 0);
}

static void laws_hold_whatever_comes(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		laws(seed);
}

static void each_cause_has_its_words(void **state)
{
	for (unsigned c = 0; c < PRESENCE_CAUSES; c++) {
		assert_true(strlen(presence_cause_name(c)) > 0);
		assert_true(strlen(presence_cause_text(c)) > 0);
	}
	assert_null(presence_cause_name(PRESENCE_CAUSES));
	assert_null(presence_cause_text(PRESENCE_CAUSES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_at_once_and_goes_when_quiet),
		cmocka_unit_test(signs_of_long_ago_and_of_the_future),
		cmocka_unit_test(what_is_held_lasts),
		cmocka_unit_test(words_hold_for_their_time),
		cmocka_unit_test(away_is_not_above_what_happens_later),
		cmocka_unit_test(away_is_above_what_was_there),
		cmocka_unit_test(idle_since_the_last_that_is_known),
		cmocka_unit_test(a_short_eviction_is_over),
		cmocka_unit_test(who_cannot_tell_counts_as_there),
		cmocka_unit_test(flapping_words_change_it_once_a_second),
		cmocka_unit_test(an_instant_that_comes_nearer_is_news),
		cmocka_unit_test(laws_hold_whatever_comes),
		cmocka_unit_test(each_cause_has_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
