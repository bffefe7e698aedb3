/*
 * test_alike.c - rows and kinds of waiting jobs against a plain queue
 *
 * The plain queue is an array of jobs in their order, each with the slot that it was
 * given. Rows are to have the same jobs in the same order with the same slots;
 * kinds have the same slots, earliest first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/alike.h"

enum { MOST = 40, STEPS = 4000, SEEDS = 20 };

struct plain {
	struct job job[MOST];
	usec_t slot[MOST];
	uint32_t queue[MOST]; /* indices into job, in the queue's order */
	uint32_t nr;
	bool in[MOST];
};

static void make_jobs(struct plain *p, struct random_stream *r)
{
	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < MOST; i++) {
		p->job[i].ix = i;
		p->job[i].id = i + 1;
		p->job[i].submit = i / 3;
		p->job[i].size = 1 + (uint32_t)random_below(r, 2);
		p->job[i].estimate = (usec_t)random_below(r, 2) * 60;
	}
}

static uint32_t place_for(const struct plain *p, uint32_t i)
{
	uint32_t at = p->nr;

	while (at && job_before(&p->job[i], &p->job[p->queue[at - 1]]))
		at--;
	return at;
}

static void put_in(struct plain *p, struct alikes *a, uint32_t i, usec_t slot)
{
	uint32_t at = place_for(p, i);

	memmove(&p->queue[at + 1], &p->queue[at],
		(p->nr - at) * sizeof(*p->queue));
	p->queue[at] = i;
	p->nr++;
	p->in[i] = true;
	p->slot[i] = slot;
	alikes_cut(a, &p->job[i]);
	alike_add(alikes_insert(a, &p->job[i], slot), slot);
}

/* Within a kind the k-th job has the k-th slot, so that slot is taken out. */
static usec_t take_out(struct plain *p, struct alikes *a, uint32_t at)
{
	uint32_t i = p->queue[at];
	struct alike *k = alikes_of(a, &p->job[i]);
	size_t n = alikes_place(a, k, &p->job[i]);
	usec_t slot = k->slot[k->first + n];

	alike_take(k, n);
	alikes_remove(a, &p->job[i]);
	memmove(&p->queue[at], &p->queue[at + 1],
		(p->nr - at - 1) * sizeof(*p->queue));
	p->nr--;
	p->in[i] = false;
	return slot;
}

/* ---- rows ---- */

static const struct alike *first_row(const struct alikes *a)
{
	const struct alike *k = a->last;

	while (k && k->before)
		k = k->before;
	return k;
}

static void rows_are_the_queue(const struct plain *p, const struct alikes *a)
{
	uint32_t at = 0;

	for (const struct alike *k = first_row(a); k; k = k->behind) {
		size_t n = 0;

		assert_true(k->nr_jobs > 0);
		assert_int_equal(k->nr, k->nr_jobs);
		for (const struct job *j = k->head; j;
		     j = alikes_next(a, j), n++, at++) {
			assert_true(at < p->nr);
			assert_ptr_equal(j, &p->job[p->queue[at]]);
			assert_int_equal(j->size, k->size);
			assert_true(k->slot[k->first + n] == p->slot[j->ix]);
			assert_true(!n || k->slot[k->first + n] >=
						  k->slot[k->first + n - 1]);
			assert_int_equal(alikes_place(a, k, j), n);
		}
		assert_int_equal(n, k->nr_jobs);
	}
	assert_int_equal(at, p->nr);
}

static void step(struct plain *p, struct alikes *a, struct random_stream *r)
{
	uint32_t i = (uint32_t)random_below(r, MOST);
	usec_t slot = (usec_t)random_below(r, 8) * 10;

	if (!p->in[i])
		put_in(p, a, i, slot);
	else if (a->each)
		assert_true(take_out(p, a, (uint32_t)random_below(r, p->nr)) <
			    80);
}

static void rows_keep_order_and_slots(void **state)
{
	size_t longest = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct alikes a = { .each = true };
		struct random_stream r;
		struct plain p;

		random_init(&r, seed, "alike", 0);
		make_jobs(&p, &r);
		for (int s = 0; s < STEPS; s++) {
			step(&p, &a, &r);
			rows_are_the_queue(&p, &a);
			for (const struct alike *k = a.last; k; k = k->before)
				longest = k->nr > longest ? k->nr : longest;
		}
		alikes_clear(&a);
	}
	assert_true(longest >= 3); /* there was a row of three jobs at least */
}

/* What rows are for: a later job may not have an earlier slot. */
static void a_row_is_joined_only_in_order(void **state)
{
	struct alikes a = { .each = true };
	struct random_stream r;
	struct plain p;

	(void)state;
	random_init(&r, 1, "alike", 0);
	make_jobs(&p, &r);
	for (int i = 0; i < 4; i++) {
		p.job[i].size = 1;
		p.job[i].estimate = 60;
	}
	p.job[3].size = 2;
	put_in(&p, &a, 0, 10);
	put_in(&p, &a, 1, 10);
	assert_ptr_equal(alikes_of(&a, &p.job[0]), alikes_of(&a, &p.job[1]));
	put_in(&p, &a, 2, 5);
	assert_ptr_not_equal(alikes_of(&a, &p.job[1]),
			     alikes_of(&a, &p.job[2]));
	put_in(&p, &a, 3, 20);
	assert_ptr_not_equal(alikes_of(&a, &p.job[2]),
			     alikes_of(&a, &p.job[3]));
	rows_are_the_queue(&p, &a);
	alikes_clear(&a);
}

/*
 * Moving several equal slots at once gives the same as moving them one by one.
 */
static void equal_slots_move_together(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "alike move", 0);
	for (int s = 0; s < STEPS; s++) {
		struct alike together = { 0 }, single = { 0 };
		size_t i, n, most = 1 + random_below(&r, 5);
		struct alike_moved moved;
		usec_t from, to;
		bool there;

		for (int j = 0; j < 12; j++) {
			usec_t slot = 1 + (usec_t)random_below(&r, 5);

			alike_add(&together, slot);
			alike_add(&single, slot);
		}
		i = random_below(&r, 12);
		from = single.slot[single.first + i];
		to = (usec_t)random_below(&r, (uint64_t)from);
		n = alike_equal(&together, i, most);
		assert_true(n <= most && n <= i + 1);
		assert_true(single.slot[single.first + i + 1 - n] == from);
		assert_true(n == most || n == i + 1 ||
			    single.slot[single.first + i - n] < from);
		there = alike_has(&together, to);
		moved = alike_move(&together, i, n, to);
		assert_true(moved.first_there == !there);
		assert_true(moved.last_here == !alike_has(&together, from));
		for (size_t j = 0; j < n; j++) {
			alike_take(&single, (size_t)alike_find(&single, from));
			alike_add(&single, to);
		}
		assert_memory_equal(together.slot + together.first,
				    single.slot + single.first,
				    12 * sizeof(*single.slot));
		free(together.slot);
		free(single.slot);
	}
}

/* ---- kinds ---- */

static void kinds_share_slots(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct alikes a = { .each = false };
		struct random_stream r;
		struct plain p;

		random_init(&r, seed, "alike kinds", 0);
		make_jobs(&p, &r);
		for (int s = 0; s < 200; s++)
			step(&p, &a, &r);
		for (size_t i = 0; i < a.nr; i++) {
			const struct alike *k = a.kind[i];
			const struct job *last = NULL;
			int64_t sum = 0;

			for (size_t n = 0; n < k->nr; n++) {
				sum += k->slot[k->first + n];
				assert_true(!n ||
					    k->slot[k->first + n] >=
						    k->slot[k->first + n - 1]);
			}
			for (const struct job *j = k->head; j;
			     j = alikes_next(&a, j)) {
				assert_true(!last || job_before(last, j));
				assert_int_equal(j->size, k->size);
				sum -= p.slot[j->ix];
				last = j;
			}
			assert_int_equal(sum, 0);
			assert_int_equal(k->nr, k->nr_jobs);
		}
		assert_true(a.nr <= 4); /* two sizes, two estimates */
		alikes_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_keep_order_and_slots),
		cmocka_unit_test(a_row_is_joined_only_in_order),
		cmocka_unit_test(equal_slots_move_together),
		cmocka_unit_test(kinds_share_slots),
	};

	return cmocka_run_group_tests_name("policy/alike", tests, NULL, NULL);
}
