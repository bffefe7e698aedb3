/*
 * test_profile.c - profiles, ends and kinds, compared with plain
 * implementations
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/alike.h"
#include "policy/kit/ends.h"
#include "policy/kit/profile.h"

#define SPAN 400

/* One value for each instant; beyond SPAN all values are as at its end. */
static int64_t plain[SPAN + 1];

static usec_t plain_earliest(usec_t from, usec_t length, int64_t n)
{
	for (usec_t t = from; t <= SPAN; t++) {
		usec_t u = t;

		while (u <= SPAN && u - t < length && plain[u] >= n)
			u++;
		if (u > SPAN || u - t >= length)
			return t;
	}
	return USEC_MAX;
}

static usec_t plain_until(usec_t from, int64_t n)
{
	for (usec_t t = from; t <= SPAN; t++)
		if (plain[t] < n)
			return t;
	return USEC_MAX;
}

/* The longest run that overlaps [from, to); the plain values begin at now. */
static struct profile_longest plain_longest(usec_t now, usec_t from, usec_t to,
					    int64_t n)
{
	struct profile_longest l = { 0 };
	usec_t start = now,
	       before = 0; /* the longest of the runs that have ended */

	for (usec_t t = now; t <= SPAN; t++) {
		usec_t length = t == SPAN ? USEC_MAX : t + 1 - start;

		if (plain[t] < n) {
			start = t + 1;
			before = l.longest;
			continue;
		}
		if (start < to && t >= from && length > l.longest)
			l = (struct profile_longest){ length, start, before };
	}
	return l;
}

static void check_longest(const struct profile *p, usec_t now, usec_t from,
			  usec_t to, int64_t n, struct profile_spot *spot)
{
	struct profile_longest is = profile_longest(p, from, to, n, spot);
	struct profile_longest want = plain_longest(now, from, to, n);

	assert_true(is.longest == want.longest);
	assert_true(is.start == want.start);
	assert_true(is.before == want.before);
}

static usec_t plain_since(usec_t now, usec_t to, int64_t n)
{
	while (to > now && plain[to - 1] >= n)
		to--;
	return to;
}

static void check(const struct profile *p, struct random_stream *r, usec_t now)
{
	static struct profile_spot spot;
	static struct profile_place near;
	usec_t from = now + (usec_t)random_below(r, (uint64_t)(SPAN - now));
	usec_t to = from + 1 + (usec_t)random_below(r, 100), t, start, end;
	usec_t length = 1 + (usec_t)random_below(r, 60);
	int64_t n = (int64_t)random_below(r, 24) - 4, min, max;

	if (to > SPAN)
		to = SPAN;
	min = max = plain[from];
	for (t = from; t < to; t++) {
		min = plain[t] < min ? plain[t] : min;
		max = plain[t] > max ? plain[t] : max;
	}
	assert_true(profile_min(p, from, to) == min);
	assert_true(profile_max(p, from, to) == max);
	assert_true(profile_earliest(p, from, length, n) ==
		    plain_earliest(from, length, n));
	assert_true(profile_until(p, from, n) == plain_until(from, n));
	check_longest(p, now, from, to, n, &spot);
	assert_true(profile_since(p, to, n, &near) == plain_since(now, to, n));
	/*
	 * The spot may be of this or another time, from before a change or
	 * after it.
	 */
	if (!profile_run(p, from, to, n, length, &spot, &start, &end)) {
		assert_true(max < n || from >= to);
		return;
	}
	for (t = from; plain[t] < n; t++)
		;
	if (plain_until(t, n) >= t + length)
		assert_true(end == USEC_MAX);
	else
		assert_true(end == plain_until(t, n));
	while (t > now && plain[t - 1] >= n)
		t--;
	assert_true(start == t);
}

static void a_profile_is_its_values(void **state)
{
	struct profile p = { 0 };
	struct random_stream r;

	(void)state;
	random_init(&r, 5, "profile", 0);
	for (int round = 0; round < 20; round++) {
		usec_t now = 0;

		profile_init(&p, 0, 10);
		for (int t = 0; t <= SPAN; t++)
			plain[t] = 10;
		for (int step = 0; step < 1500; step++) {
			usec_t from = (usec_t)random_below(&r, SPAN);
			usec_t to = from + (usec_t)random_below(&r, 80);
			int64_t d = (int64_t)random_below(&r, 9) - 4;

			if (from < now)
				from = now;
			if (to >= SPAN)
				to = USEC_MAX;
			profile_add(&p, from, to, d);
			for (usec_t t = from; t <= SPAN && t < to; t++)
				plain[t] += d;
			if (step % 50 == 49 && now < SPAN - 50)
				profile_trim(&p, ++now);
			check(&p, &r, now);
		}
	}
	profile_clear(&p);
}

static void add_both(struct profile *p, usec_t from, usec_t to, int64_t d)
{
	profile_add(p, from, to, d);
	for (usec_t t = from; t < to; t++)
		plain[t] += d;
}

/* Slots that begin where others end slide ahead, and back: steps only move. */
static void slots_slide(void **state)
{
	enum { SLOTS = 30, LENGTH = 40 };
	struct profile p = { 0 };
	struct random_stream r;
	usec_t at[SLOTS];

	(void)state;
	random_init(&r, 5, "slides", 0);
	profile_init(&p, 0, SLOTS);
	for (int t = 0; t <= SPAN; t++)
		plain[t] = SLOTS;
	for (int i = 0; i < SLOTS; i++) {
		at[i] = LENGTH * (1 + i % 8);
		add_both(&p, at[i], at[i] + LENGTH, -1 - i % 3);
	}
	for (int step = 0; step < 20000; step++) {
		size_t i = (size_t)random_below(&r, SLOTS);
		usec_t by = 1 + (usec_t)random_below(&r, 4);
		int64_t n = 1 + (int64_t)i % 3;

		if (random_below(&r, 2) && at[i] > 4) {
			add_both(&p, at[i] - by, at[i], -n);
			add_both(&p, at[i] + LENGTH - by, at[i] + LENGTH, n);
			at[i] -= by;
		} else if (at[i] + LENGTH + 4 < SPAN) {
			add_both(&p, at[i] + LENGTH, at[i] + LENGTH + by, -n);
			add_both(&p, at[i], at[i] + by, n);
			at[i] += by;
		}
		check(&p, &r, 0);
	}
	profile_clear(&p);
}

static void ends_add_up(void **state)
{
	struct {
		usec_t at;
		uint32_t n;
	} in[40] = { { 0 } };
	struct ends e = ENDS_INIT;
	struct random_stream r;

	(void)state;
	random_init(&r, 5, "ends", 0);
	for (int step = 0; step < 20000; step++) {
		uint32_t ix = (uint32_t)random_below(&r, 40);
		usec_t at = (usec_t)random_below(&r, 30), reach = USEC_MAX;
		int64_t need = (int64_t)random_below(&r, 80), by = 0;

		in[ix].at = at;
		in[ix].n = (uint32_t)random_below(&r, 5);
		if (in[ix].n)
			ends_insert(&e, ix, at, in[ix].n);
		else
			ends_remove(&e, ix);
		for (int i = 0; i < 40; i++)
			by += in[i].n && in[i].at <= at ? in[i].n : 0;
		assert_true(ends_by(&e, at) == by);
		for (usec_t t = 29; t >= 0; t--) {
			int64_t sum = 0;

			for (int i = 0; i < 40; i++)
				sum += in[i].n && in[i].at <= t ? in[i].n : 0;
			/*
			 * Only instants at which a slot gives processors back
			 * count.
			 */
			for (int i = 0; sum >= need && i < 40; i++)
				if (in[i].n && in[i].at == t)
					reach = t;
		}
		assert_true(ends_reach(&e, need) == reach);
	}
	ends_clear(&e);
}

static void kinds_keep_two_orders(void **state)
{
	struct job jobs[] = {
		{ .id = 1, .ix = 0, .size = 2, .estimate = 5, .submit = 10 },
		{ .id = 2, .ix = 1, .size = 2, .estimate = 5, .submit = 5 },
		{ .id = 3, .ix = 2, .size = 2, .estimate = 6, .submit = 1 },
		{ .id = 4, .ix = 3, .size = 2, .estimate = 5, .submit = 7 },
	};
	struct alikes a = { 0 };
	struct alike *k;
	int64_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		alikes_insert(&a, &jobs[i], 0);
	k = alikes_of(&a, &jobs[0]);
	assert_int_equal(k->nr_jobs, 3);
	assert_ptr_equal(k->head, &jobs[1]);
	assert_ptr_equal(alikes_next(&a, k->head), &jobs[3]);
	assert_ptr_equal(k->tail, &jobs[0]);
	alikes_remove(&a, &jobs[1]);
	assert_ptr_equal(k->head, &jobs[3]);
	for (usec_t t = 100; t > 0; t--)
		alike_add(k, t);
	assert_true(alike_first(k) == 1 && alike_last(k) == 100);
	assert_int_equal(alike_find(k, 50), 49);
	assert_int_equal(alike_find(k, 0), -1);
	assert_int_equal(alike_before(k, 0), -1);
	assert_int_equal(alike_before(k, 49), 48);
	alike_take(k, 0);
	alike_take(k, 0);
	alike_take(k, 97);
	assert_true(alike_first(k) == 3 && alike_last(k) == 99);
	alike_add(k, 2);
	assert_int_equal(alike_find(k, 2), 0);
	for (i = 0; i < 5; i++)
		alike_add(k, i % 2 ? 2 : 50);
	assert_int_equal(alike_before(k, 2), -1);
	i = alike_find(k, 50);
	assert_int_equal(alike_before(k, (size_t)i), i - 4);
	assert_int_equal(alike_before(k, (size_t)i - 2), i - 4);
	alikes_clear(&a);
}

static struct alike *put(struct alikes *a, const struct job *job, usec_t at)
{
	struct alike *k = alikes_insert(a, job, at);

	alike_add(k, at);
	return k;
}

/*
 * A row has equal jobs that stand right behind each other, with slots in the
 * same order.
 */
static void rows_are_of_the_queue(void **state)
{
	struct job jobs[] = {
		{ .id = 1, .ix = 0, .size = 2, .estimate = 5, .submit = 1 },
		{ .id = 2, .ix = 1, .size = 2, .estimate = 5, .submit = 2 },
		{ .id = 3, .ix = 2, .size = 2, .estimate = 5, .submit = 5 },
		{ .id = 4, .ix = 3, .size = 2, .estimate = 5, .submit = 6 },
		{ .id = 5, .ix = 4, .size = 3, .estimate = 5, .submit = 4 },
		{ .id = 6, .ix = 5, .size = 2, .estimate = 5, .submit = 3 },
	};
	struct alikes a = { .each = true };
	struct alike *k, *end;

	(void)state;
	k = put(&a, &jobs[0], 10);
	assert_ptr_equal(put(&a, &jobs[1], 20), k);
	assert_ptr_equal(put(&a, &jobs[2], 20), k);
	end = put(&a, &jobs[3], 15); /* earlier than the one before */
	assert_ptr_not_equal(end, k);
	assert_ptr_equal(k->behind, end);
	/* A job of another kind comes in between, which cuts the row in two. */
	end = alikes_cut(&a, &jobs[4]);
	assert_ptr_equal(end->head, &jobs[2]);
	assert_ptr_equal(k->tail, &jobs[1]);
	assert_true(k->nr == 2 && end->nr == 1 && alike_last(end) == 20);
	put(&a, &jobs[4], 30);
	assert_null(alikes_cut(&a, &jobs[5]));
	assert_ptr_equal(put(&a, &jobs[5], 25), k);
	assert_ptr_equal(k->behind->head, &jobs[4]);
	assert_ptr_equal(k->behind->behind, end);
	assert_int_equal(alikes_place(&a, k, &jobs[5]), 2);
	/* A row whose jobs have all left is removed. */
	alikes_remove(&a, &jobs[4]);
	assert_ptr_equal(k->behind, end);
	assert_ptr_equal(end->before, k);
	assert_ptr_equal(alikes_of(&a, &jobs[2]), end);
	alikes_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_is_its_values),
		cmocka_unit_test(slots_slide),
		cmocka_unit_test(ends_add_up),
		cmocka_unit_test(kinds_keep_two_orders),
		cmocka_unit_test(rows_are_of_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
