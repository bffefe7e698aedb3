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
#include "move/send/test_rounds.h"
#include "move/send/throttle.h"
#include "move/send/track.h"

#define MUCH 20000 /* pages: 80 ms, enough to measure the link by */
#define MIB  UINT64_C(0x100000)

static struct throttle {
	unsigned begun, ended, ticks;
	usec_t budget;
} throttle;

#define WRAP(name) __wrap_##name
struct throttle *WRAP(throttle_create)(struct tracee *t, usec_t budget);
void WRAP(throttle_tick)(struct throttle *th);
void WRAP(throttle_destroy)(struct throttle *th);
int WRAP(track_trees)(struct track *t, struct error *err);
void WRAP(page_sender_on_flush)(struct page_sender *p, void (*fn)(void *ctx),
				void *ctx);
int WRAP(proc_read_maps)(pid_t pid, struct vma_list *ret, struct error *err);
int WRAP(proc_read_advice)(pid_t pid, struct vma_list *maps, struct error *err);

struct throttle *WRAP(throttle_create)(struct tracee *t, usec_t budget)
{
	throttle.begun++;
	throttle.budget = budget;
	return &throttle;
}

void WRAP(throttle_tick)(struct throttle *th)
{
	throttle.ticks += th != NULL;
}

void WRAP(throttle_destroy)(struct throttle *th)
{
	throttle.ended += th != NULL;
}

void WRAP(page_sender_on_flush)(struct page_sender *p, void (*fn)(void *ctx),
				void *ctx)
{
	world.look = fn;
	world.look_arg = ctx;
}

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

struct bed {
	struct move_report report;
	struct move_source src;
	struct tracee tracee;
	struct error err;
	struct sending s;
};

static void bed_init(struct bed *b, usec_t budget, const unsigned *written,
		     size_t n)
{
	*b = (struct bed){ .report = { .tracked = true },
			   .src = { .budget = budget } };
	b->s = (struct sending){ .src = &b->src,
				 .report = &b->report,
				 .process = { .tracee = &b->tracee },
				 .ch = channel_from_fd(-1), /* no rate */
				 .ahead = ahead_create(),
				 .precopy = precopy_create() };
	throttle = (struct throttle){ 0 };
	world = (struct world){ .threads = 1 };
	assert_true(n <= ROUNDS);
	memcpy(world.written, written, n * sizeof(*written));
}

#define BED(b, budget, ...)                                    \
	bed_init(b, budget, (const unsigned[]){ __VA_ARGS__ }, \
		 sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void bed_clear(struct bed *b)
{
	ahead_destroy(b->s.ahead);
	precopy_destroy(b->s.precopy);
	channel_close(b->s.ch);
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

/* ---- a deadline */

/* When the process is stopped for the deadline; 0: it is not. */
static usec_t stops_at(usec_t deadline, uint64_t held, unsigned rounds,
		       const unsigned *written, size_t n)
{
	struct bed b;
	usec_t at;

	bed_init(&b, 0, written, n);
	b.report.bytes_held = held;
	b.s.deadline = deadline;
	world.now = 1;
	world.step = 1000; /* 4 ms */
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	at = b.s.halted;
	assert_int_equal(world.round, rounds);
	assert_int_equal(throttle.begun, at ? 1 : 0);
	assert_int_equal(throttle.budget, 0);
	bed_clear(&b);
	return at;
}

#define STOPS_AT(deadline, held, rounds, ...)                               \
	stops_at(deadline, held, rounds, (const unsigned[]){ __VA_ARGS__ }, \
		 sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void test_deadline_far_away_changes_nothing(void **state)
{
	assert_int_equal(STOPS_AT(0, 0, 3, MUCH, MUCH, MUCH), 0);
	assert_int_equal(STOPS_AT(USEC_PER_SEC, 0, 3, MUCH, MUCH, MUCH), 0);
}

/*
 * 80 ms each: another round, and sending what is written during it, would end
 * after 240.
 */
static void test_no_round_that_would_end_too_late(void **state)
{
	assert_int_equal(STOPS_AT(241000, 0, 1, MUCH, MUCH, MUCH), 80001);
	assert_int_equal(STOPS_AT(242000, 0, 2, MUCH, MUCH, MUCH), 160001);
	assert_int_equal(STOPS_AT(242000, 0, 2, MUCH, 100, MUCH), 0);
}

static void test_deadline_that_comes_in_a_round(void **state)
{
	assert_int_equal(STOPS_AT(1, 0, 1, MUCH, MUCH), 4001);
	assert_int_equal(STOPS_AT(40000, 0, 1, MUCH, MUCH), 40001);
}

/*
 * Once 1024 pages have been sent since the first, or an eighth of the time is over, it is known
 * that the round will last 80 ms.
 */
static void test_first_round_that_will_be_too_long(void **state)
{
	const uint64_t held = MUCH * UINT64_C(4096);

	assert_int_equal(STOPS_AT(70000, held, 1, MUCH, MUCH), 12001);
	assert_int_equal(STOPS_AT(15000, held, 1, MUCH, MUCH), 8001);
	assert_int_equal(STOPS_AT(70000, 0, 1, MUCH, MUCH), 72001);
	assert_int_equal(STOPS_AT(90000, held, 1, MUCH, MUCH), 80001);
}

/* Half a second until there is a landing process is no sign of a slow link. */
static void test_a_late_first_page_is_no_slow_link(void **state)
{
	const uint64_t held = MUCH * UINT64_C(4096);

	world.start = USEC_PER_SEC / 2;
	assert_int_equal(STOPS_AT(2 * USEC_PER_SEC, held, 2, MUCH, 0), 0);
}

/*
 * What was left is sent while the process stands still, which ends with the
 * freeze.
 */
static void test_stands_still_to_the_last_round(void **state)
{
	struct bed b;

	BED(&b, 0, MUCH, MUCH, 0, 0);
	b.s.deadline = 1000;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(throttle.ended, 0);
	assert_int_equal(precopy_last(&b.s, &b.err), 0);
	assert_int_equal(world.round, 3);
	assert_int_equal(throttle.begun, 1);
	assert_int_equal(throttle.ended, 1);
	bed_clear(&b);
}

/* ---- an owner is there */

/* When it is stopped beside an owner, with a deadline far away, as it sends that much. */
static usec_t stops_beside(bool owner, usec_t budget, unsigned pages)
{
	struct bed b;
	usec_t at;

	BED(&b, budget, pages, 100, 0);
	world.owner = owner;
	b.report.bytes_held = pages * UINT64_C(4096);
	b.s.deadline = 60 * USEC_PER_SEC;
	world.now = 1;
	world.step = 1000; /* 4 ms */
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	at = b.s.halted;
	/* It sends what there is, and leaves the rest to the last rounds. */
	assert_int_equal(world.round, at ? 1 : 2);
	bed_clear(&b);
	return at;
}

static void test_little_is_copied_while_it_stands_still(void **state)
{
	assert_int_equal(stops_beside(true, 0, 1000), 4001);
	/* The link's rate is known as soon as 1024 pages have been sent since the first. */
	assert_int_equal(stops_beside(true, 0, 10000), 12001);
}

/* But for what takes 0.3 s. */
static void test_much_is_copied_once_while_it_runs(void **state)
{
	assert_int_equal(stops_beside(true, 0, 200 * 1000), 500001);
}

static void test_without_an_owner_it_runs_on(void **state)
{
	assert_int_equal(stops_beside(false, 0, 1000), 0);
	/* Who gave a budget has said how long it may stand still. */
	assert_int_equal(stops_beside(true, USEC_PER_SEC, 1000), 0);
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
		cmocka_unit_test(test_deadline_far_away_changes_nothing),
		cmocka_unit_test(test_no_round_that_would_end_too_late),
		cmocka_unit_test(test_deadline_that_comes_in_a_round),
		cmocka_unit_test(test_a_late_first_page_is_no_slow_link),
		cmocka_unit_test(test_first_round_that_will_be_too_long),
		cmocka_unit_test(test_stands_still_to_the_last_round),
		cmocka_unit_test(test_little_is_copied_while_it_stands_still),
		cmocka_unit_test(test_much_is_copied_once_while_it_runs),
		cmocka_unit_test(test_without_an_owner_it_runs_on),
		cmocka_unit_test(test_last_rounds_go_on_while_they_help),
		cmocka_unit_test(test_last_round_is_held_against_the_budget),
		cmocka_unit_test(test_ahead_for_ten_milliseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
