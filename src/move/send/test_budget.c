/*
 * test_budget.c - tests of the rounds: when they end, and how long a pause they
 * predict
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/precopy.h"
#include "move/send/test_bed.h"
#include "move/send/throttle.h"
#include "move/send/track.h"

#define MIB UINT64_C(0x100000)

#define WRAP(name) __wrap_##name
int WRAP(track_trees)(struct track *t, struct error *err);
int WRAP(proc_read_maps)(pid_t pid, struct vma_list *ret, struct error *err);
int WRAP(proc_read_advice)(pid_t pid, struct vma_list *maps, struct error *err);

int WRAP(track_trees)(struct track *t, struct error *err)
{
	return 0;
}

/*
 * Three mappings: 4 MiB, as much of which no page is there, and one of a file.
 */
int WRAP(proc_read_maps)(pid_t pid, struct vma_list *ret, struct error *err)
{
	ret->v = xcalloc(3, sizeof(*ret->v));
	ret->nr = ret->cap = 3;
	for (size_t i = 0; i < 3; i++)
		ret->v[i] = (struct vma){ .start = i * 8 * MIB,
					  .end = i * 8 * MIB + 4 * MIB,
					  .kind = i == 2 ? VMA_SHARED_FILE
							 : VMA_ANON };
	return 0;
}

int WRAP(proc_read_advice)(pid_t pid, struct vma_list *maps, struct error *err)
{
	maps->v[1].empty = true;
	return 0;
}

/* ---- when the rounds end */

static void takes(unsigned rounds, const unsigned *written, size_t n)
{
	struct bed b;

	bed_init(&b, 0, written, n);
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(world.round, rounds);
	bed_clear(&b);
}

#define TAKES(rounds, ...)                               \
	takes(rounds, (const unsigned[]){ __VA_ARGS__ }, \
	      sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void test_rounds_end_when_little_is_left(void **state)
{
	TAKES(2, MUCH, 128, 100, 100);
	TAKES(3, MUCH, 129, 100, 100);
	/* the first round tells nothing: it sends all pages */
	TAKES(2, 100, 50, 20);
}

static void test_rounds_end_when_they_help_no_more(void **state)
{
	TAKES(3, 1000, 900, 880, 700, 500);
	TAKES(3, 1000, 876, 770, 300, 300);
	/*
	 * an eighth less counts as progress, after which there are two more
	 * tries
	 */
	TAKES(4, 1000, 875, 800, 790, 300);
	TAKES(5, 1000, 900, 700, 690, 680, 300);
	/* less than the round before, but not than the best one */
	TAKES(4, 1000, 500, 900, 700, 300, 300);
}

/* Each round is an eighth shorter than the one before. */
static void test_rounds_send_no_more_than_six_times_the_longest(void **state)
{
	TAKES(11, 1000, 870, 757, 659, 573, 499, 434, 378, 329, 286, 249, 210,
	      180);
	TAKES(12, 1000, 870, 757, 659, 573, 499, 434, 378, 329, 286, 215, 180,
	      150);
}

static void test_rounds_are_forty_at_most(void **state)
{
	unsigned written[ROUNDS] = { 100000, 4000 };

	/* every other round is progress */
	for (unsigned i = 2; i < ROUNDS; i++)
		written[i] = i % 2 ? written[i - 2] - written[i - 2] / 8
				   : written[i - 1];
	takes(40, written, ROUNDS);
}

/* ---- the pause */

static void test_pause_is_the_sum_of_its_parts(void **state)
{
	struct bed b;

	/*
	 * 1500, 40 a thread, the time of a short round, and that of its pages
	 * again
	 */
	BED(&b, 0, MUCH, 100);
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.report.predicted, 1500 + 40 + 400 + 400);
	bed_clear(&b);
	/* and the bytes in queues, 160 in a microsecond */
	BED(&b, 0, MUCH, 100);
	world.threads = 30;
	world.content = 16000;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.report.predicted, 1500 + 1200 + 400 + 100 + 400);
	bed_clear(&b);
}

/*
 * No round was long enough to measure the link by: 1000 bytes a microsecond are
 * assumed.
 */
static void test_pause_of_little_needs_no_measurement(void **state)
{
	struct bed b;

	BED(&b, 0, 2047, 100);
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.report.predicted, 1500 + 40 + 400 + 409);
	bed_clear(&b);
	BED(&b, 0, 2048, 100);
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.report.predicted, 1500 + 40 + 400 + 400);
	bed_clear(&b);
}

static void test_budget_is_met_or_the_move_refused(void **state)
{
	const usec_t pause = 1500 + 40 + 400 + 400;
	struct bed b;

	BED(&b, pause, MUCH, 100);
	b.src.throttle = true;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(throttle.begun, 0);
	bed_clear(&b);
	BED(&b, pause - 1, MUCH, 100);
	assert_int_equal(precopy_run(&b.s, &b.err), -EDQUOT);
	assert_non_null(strstr(b.err.text, "stand still for 2.3 ms"));
	assert_non_null(strstr(b.err.text, "(100 pages"));
	assert_int_equal(throttle.begun, 0);
	bed_clear(&b);
}

/*
 * The rounds are made once more with the process slowed down, as long as it
 * takes.
 */
static void test_budget_is_tried_for_by_slowing_down(void **state)
{
	struct bed b;

	BED(&b, 5000, MUCH, MUCH, MUCH, MUCH, 100, 10, 10);
	b.src.throttle = true;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(world.round, 5);
	assert_int_equal(throttle.begun, 1);
	assert_int_equal(throttle.budget, 5000);
	assert_int_equal(throttle.ended, 0);
	assert_int_equal(precopy_last(&b.s, &b.err), 0);
	assert_int_equal(throttle.ended, 1);
	assert_null(b.s.throttle);
	bed_clear(&b);
}

static void test_who_cannot_be_slowed_down_enough_runs_on(void **state)
{
	struct bed b;

	BED(&b, 5000, MUCH, MUCH, MUCH, MUCH, MUCH, MUCH);
	b.src.throttle = true;
	assert_int_equal(precopy_run(&b.s, &b.err), -EDQUOT);
	assert_int_equal(world.round, 6);
	assert_int_equal(throttle.begun, 1);
	assert_int_equal(throttle.ended, 1);
	assert_null(b.s.throttle);
	bed_clear(&b);
}

static void test_without_tracking_all_of_it_counts(void **state)
{
	/* 500 bytes and 40 entries of page tables a microsecond */
	const usec_t pause = 1500 + 2000 + 1024 / 40;
	struct bed b;

	BED(&b, pause, 0);
	b.report.tracked = false;
	b.report.bytes_held = 1000000;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.report.predicted, pause);
	assert_int_equal(world.round, 0);
	b.src.budget = pause - 1;
	assert_int_equal(precopy_run(&b.s, &b.err), -EDQUOT);
	b.src.budget = 0;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	bed_clear(&b);
}

/* ---- the last rounds */

static void last(usec_t budget, int want, unsigned rounds,
		 const unsigned *written, size_t n)
{
	struct bed b;

	bed_init(&b, budget, written, n);
	assert_int_equal(precopy_last(&b.s, &b.err), want);
	assert_int_equal(world.round, rounds);
	bed_clear(&b);
}

#define LAST(budget, want, rounds, ...)                               \
	last(budget, want, rounds, (const unsigned[]){ __VA_ARGS__ }, \
	     sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void test_last_rounds_go_on_while_they_help(void **state)
{
	LAST(0, 0, 2, MUCH, 128, 50);
	LAST(0, 0, 3, MUCH, 129, 50, 50);
	LAST(0, 0, 2, 1600, 1400, 1000, 1000);
	LAST(0, 0, 3, 1600, 1399, 1300, 1000);
	/* three after the first, however little they help */
	LAST(0, 0, 4, MUCH, 10000, 5000, 2500, 1000);
}

/*
 * A process that begins to write more is refused: pages alone count, 4 us each.
 */
static void test_last_round_is_held_against_the_budget(void **state)
{
	LAST(400, 0, 2, MUCH, 100);
	LAST(399, -EDQUOT, 2, MUCH, 100);
}

/* Nobody is put ahead for more than 10 ms. */
static void test_ahead_for_ten_milliseconds(void **state)
{
	struct bed b;

	BED(&b, 0, 2499, 2000, 100);
	assert_int_equal(precopy_last(&b.s, &b.err), 0);
	assert_true(world.ahead[1]);
	bed_clear(&b);
	BED(&b, 0, 2501, 2000, 100);
	assert_int_equal(precopy_last(&b.s, &b.err), 0);
	assert_false(world.ahead[1]);
	bed_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds_end_when_little_is_left),
		cmocka_unit_test(test_rounds_end_when_they_help_no_more),
		cmocka_unit_test(
			test_rounds_send_no_more_than_six_times_the_longest),
		cmocka_unit_test(test_rounds_are_forty_at_most),
		cmocka_unit_test(test_pause_is_the_sum_of_its_parts),
		cmocka_unit_test(test_pause_of_little_needs_no_measurement),
		cmocka_unit_test(test_budget_is_met_or_the_move_refused),
		cmocka_unit_test(test_budget_is_tried_for_by_slowing_down),
		cmocka_unit_test(test_who_cannot_be_slowed_down_enough_runs_on),
		cmocka_unit_test(test_without_tracking_all_of_it_counts),
		cmocka_unit_test(test_last_rounds_go_on_while_they_help),
		cmocka_unit_test(test_last_round_is_held_against_the_budget),
		cmocka_unit_test(test_ahead_for_ten_milliseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
