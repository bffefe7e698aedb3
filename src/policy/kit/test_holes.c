/*
 * test_holes.c - no hole is overlooked, and holes that are known are not invented
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/holes.h"

enum { MOST = 40, SPAN = 200 };

struct hole {
	usec_t start, end;
	uint32_t procs;
};

/* All holes that were added, one by one. */
static struct hole plain[MOST];
static size_t nr;

static usec_t length_of(const struct hole *hole)
{
	return hole->end == USEC_MAX ? USEC_MAX : hole->end - hole->start;
}

static void add(struct holes *h, usec_t start, usec_t end)
{
	struct hole hole = { start, end, 8 + (uint32_t)(start % 8) };

	plain[nr++] = hole;
	holes_add(h, 3, (struct hole_place){ start, end, length_of(&hole) });
}

/* Where the first hole begins that has room for a job that begins before `before`. */
static usec_t plain_find(uint32_t size, usec_t length, usec_t before)
{
	usec_t first = USEC_MAX;

	for (size_t i = 0; i < nr; i++)
		if (plain[i].procs >= size && length_of(&plain[i]) >= length &&
		    plain[i].start < before && plain[i].start < first)
			first = plain[i].start;
	return first;
}

static void check_all(const struct holes *h)
{
	for (usec_t length = 1; length < 70; length += 3)
		for (usec_t before = 1; before < SPAN + 20; before += 7) {
			uint32_t size = 8 + (uint32_t)(length + before) % 8;
			usec_t is = holes_find(h, 3, size, length, before);

			assert_true(is <= plain_find(size, length, before));
			assert_true(holes_may_hold(h, 3, size, length,
						   before) == (is != USEC_MAX));
		}
}

static void add_random(struct holes *h, struct random_stream *r, usec_t from)
{
	usec_t start = from + (usec_t)random_below(r, SPAN);

	add(h, start,
	    random_below(r, 12) ? start + 1 + (usec_t)random_below(r, 60)
				: USEC_MAX);
}

/* Up to now all is gone. */
static void trim(struct holes *h, usec_t now)
{
	size_t n = 0;

	holes_trim(h, now);
	for (size_t i = 0; i < nr; i++) {
		if (plain[i].end <= now)
			continue;
		if (plain[i].start < now)
			plain[i].start = now;
		plain[n++] = plain[i];
	}
	nr = n;
}

/*
 * No hole of so many processors that begins in [from, before) is longer; if they are 8, all of
 * the class, and with few holes, none is found after that.
 */
static void exclude(struct holes *h, uint32_t size, usec_t longest, usec_t from,
		    usec_t before)
{
	bool few = nr <= HOLES_OF_CLASS / 2 && !from;
	size_t n = 0;

	if (size == 8)
		holes_exclude(h, 3, longest, from, before);
	else
		holes_in_vain(h, 3, size, longest, from, before);
	for (size_t i = 0; i < nr; i++)
		if (plain[i].start < from || plain[i].start >= before ||
		    plain[i].procs < size || length_of(&plain[i]) <= longest)
			plain[n++] = plain[i];
	nr = n;
	assert_true(!few ||
		    holes_find(h, 3, size, longest + 1, before) == USEC_MAX);
}

static void exclude_some(struct holes *h, struct random_stream *r)
{
	exclude(h, random_below(r, 2) ? 8 : 9 + (uint32_t)random_below(r, 7),
		(usec_t)random_below(r, 60),
		random_below(r, 2) ? 0 : (usec_t)random_below(r, SPAN),
		(usec_t)random_below(r, SPAN));
}

static void none_is_overlooked(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "holes", 0);
	for (int round = 0; round < 3000; round++) {
		struct holes h = { 0 }, all = { 0 };

		nr = 0;
		for (int step = 0; step < MOST; step++) {
			unsigned what = (unsigned)random_below(&r, 10);

			if (what == 0)
				trim(&h, (usec_t)random_below(&r, SPAN / 4));
			else if (what == 1)
				exclude_some(&h, &r);
			else
				add_random(&h, &r, 0);
			check_all(&h);
		}
		holes_join(&all, &h);
		check_all(&all);
		assert_true(holes_find(&all, 2, 4, 1, USEC_MAX) == USEC_MAX);
	}
}

/* As long as there are few, each is known as it is. */
static void few_are_exact(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "holes", 0);
	for (int round = 0; round < 3000; round++) {
		struct holes h = { 0 };

		nr = 0;
		while (nr < HOLES_OF_CLASS)
			add_random(&h, &r, 0);
		for (usec_t length = 1; length < 70; length++)
			for (usec_t before = 1; before < SPAN; before += 5)
				assert_true(
					holes_find(&h, 3, 8, length, before) ==
					plain_find(8, length, before));
	}
}

/* A long time after all that ends only what does not is left. */
static void time_goes_by(void **state)
{
	struct holes h = { 0 };

	(void)state;
	nr = 0;
	add(&h, 10, 30);
	add(&h, 20, 60);
	trim(&h, 25);
	assert_true(holes_find(&h, 3, 8, 35, 100) == 25);
	assert_true(holes_find(&h, 3, 8, 36, 100) == USEC_MAX);
	add(&h, 70, USEC_MAX);
	trim(&h, 65);
	assert_true(holes_find(&h, 3, 8, 1, 70) == USEC_MAX);
	trim(&h, 1000);
	assert_true(holes_find(&h, 3, 8, 1, 1001) == 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_overlooked),
		cmocka_unit_test(few_are_exact),
		cmocka_unit_test(time_goes_by),
	};

	return cmocka_run_group_tests_name("policy/holes", tests, NULL, NULL);
}
