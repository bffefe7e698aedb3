/* test_fitset.c - the set against a sorted array */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/fitset.h"

enum { NR = 300 };

static struct job jobs[NR];
static int64_t keys[NR];
static bool in[NR];

static bool comes_before(int a, int b)
{
	return keys[a] != keys[b] ? keys[a] < keys[b]
				  : job_before(&jobs[a], &jobs[b]);
}

/* First in order after `after` (-1: of all) with size <= limit, or -1. */
static int naive_fit(int after, int64_t limit)
{
	int best = -1;

	for (int i = 0; i < NR; i++)
		if (in[i] && jobs[i].size <= limit &&
		    (after < 0 || comes_before(after, i)) &&
		    (best < 0 || comes_before(i, best)))
			best = i;
	return best;
}

/* The same for jobs that fit a gap: beside the spare processors, or in time. */
static int naive_hole(int after, int64_t free, int64_t spare, usec_t within)
{
	int best = -1;

	for (int i = 0; i < NR; i++) {
		usec_t run = jobs[i].estimate ? jobs[i].estimate : USEC_MAX;

		if (in[i] && jobs[i].size <= free &&
		    (jobs[i].size <= spare || run <= within) &&
		    (after < 0 || comes_before(after, i)) &&
		    (best < 0 || comes_before(i, best)))
			best = i;
	}
	return best;
}

static void check_holes(const struct fitset *set, struct random_stream *r)
{
	int64_t free = (int64_t)random_below(r, 70);
	int64_t spare = (int64_t)random_below(r, 4);
	usec_t within = (usec_t)random_below(r, 100);
	const struct job *got = NULL;
	int want = -1;

	do {
		want = naive_hole(want, free, spare, within);
		got = fitset_backfill(set, got, free, spare, within);
		assert_ptr_equal(got, want < 0 ? NULL : &jobs[want]);
	} while (got);
}

static void check(const struct fitset *set, struct random_stream *r)
{
	int64_t limit = (int64_t)random_below(r, 70);
	int want = naive_fit(-1, limit), nr = 0;
	const struct job *got = fitset_fit(set, NULL, limit);

	assert_ptr_equal(got, want < 0 ? NULL : &jobs[want]);
	if (got) {
		limit = (int64_t)random_below(r, 70);
		want = naive_fit(want, limit);
		got = fitset_fit(set, got, limit);
		assert_ptr_equal(got, want < 0 ? NULL : &jobs[want]);
	}
	want = -1;
	for (got = fitset_first(set); got; got = fitset_next(set, got)) {
		want = naive_fit(want, UINT32_MAX);
		assert_ptr_equal(got, &jobs[want]);
		nr++;
	}
	assert_int_equal(nr, set->nr);
}

static void like_an_array(void **state)
{
	struct fitset set = FITSET_INIT;
	struct random_stream r;

	random_init(&r, 1, "fitset", 0);
	assert_null(fitset_first(&set));
	for (int i = 0; i < NR; i++)
		jobs[i] = (struct job){
			.ix = (uint32_t)i,
			.id = i * 7 % NR,
			.size = 1 + (uint32_t)random_below(&r, 64),
			.submit = (usec_t)random_below(&r, 20),
			.estimate = (usec_t)random_below(&r, 100),
		};
	for (int step = 0; step < 3000; step++) {
		int i = (int)random_below(&r, NR);

		if (in[i] && random_below(&r, 4)) {
			fitset_remove(&set, &jobs[i]);
			in[i] = false;
		} else { /* sometimes put in again, with another key */
			keys[i] = (int64_t)random_below(&r, 10);
			fitset_insert(&set, &jobs[i], keys[i]);
			in[i] = true;
		}
		assert_int_equal(fitset_has(&set, &jobs[i]), in[i]);
		if (step % 10 == 0) {
			check(&set, &r);
			check_holes(&set, &r);
		}
	}
	fitset_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(like_an_array) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
