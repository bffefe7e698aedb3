/* test_kinds.c - ends, kinds and rows of jobs, compared with plain implementations */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/alike.h"
#include "policy/kit/ends.h"

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
		cmocka_unit_test(ends_add_up),
		cmocka_unit_test(kinds_keep_two_orders),
		cmocka_unit_test(rows_are_of_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
