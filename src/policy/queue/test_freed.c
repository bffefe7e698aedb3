/*
 * test_freed.c - stretches that touch are joined, and what was known of each still holds
 *
 * Knowledge may be forgotten, and a stretch may be searched in vain; but a stretch that
 * was passed over because of what holds for another one would cost a job its better start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/queue/backfill.h"

enum { ROUNDS = 3000, SPAN = 2000 };

static void add_random(struct freed_list *list, struct random_stream *r,
		       uint64_t longest)
{
	usec_t from = (usec_t)random_below(r, SPAN);
	struct freed *f = backfill_freed_add(
		list, from, from + 1 + (usec_t)random_below(r, longest),
		random_below(r, 3) ? (int64_t)random_below(r, 9) : INT64_MAX);

	if (random_below(r, 3))
		f->upto = (usec_t)random_below(r, 9);
	for (uint32_t i = 0; i < FREED_SIZES; i++)
		if (random_below(r, 4)) {
			f->known |= UINT32_C(1) << i;
			list->runs[f->seat].run[i].longest =
				(usec_t)random_below(r, 9);
		}
}

/* The stretch of the list that contains f; NULL: there is none. */
static const struct freed *find(const struct freed_list *list,
				const struct freed *f)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->f[i].from <= f->from && f->to <= list->f[i].to)
			return &list->f[i];
	return NULL;
}

static void nothing_is_lost(const struct freed_list *list,
			    const struct freed *is,
			    const struct freed_list *before,
			    const struct freed *was)
{
	assert_non_null(is);
	assert_true(is->most >= was->most);
	assert_true(is->upto >= was->upto);
	assert_int_equal(is->known & ~was->known, 0);
	for (uint32_t i = 0; i < FREED_SIZES; i++)
		if (is->known >> i & 1)
			assert_true(list->runs[is->seat].run[i].longest >=
				    before->runs[was->seat].run[i].longest);
}

/*
 * Each stretch with runs has an element of its own, and no other one is in use.
 */
static void they_have_seats(const struct freed_list *list)
{
	uint64_t seats = 0;

	for (size_t i = 0; i < list->nr; i++) {
		assert_int_equal(seats >> list->f[i].seat & 1, 0);
		seats |= UINT64_C(1) << list->f[i].seat;
	}
	assert_true(list->seats == seats);
}

static void they_lie_apart(const struct freed_list *list)
{
	assert_true(list->nr <= MAX_FREED);
	for (size_t i = 1; i < list->nr; i++)
		assert_true(list->f[i - 1].to < list->f[i].from);
}

/*
 * With few stretches and, as most are short then, with more than there is room
 * for.
 */
static void joined_at_random(void **state)
{
	struct random_stream r;
	unsigned too_many = 0;

	(void)state;
	random_init(&r, 1, "freed", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct freed_list list = { 0 }, before;
		size_t nr = 1 + random_below(&r, 2 * MAX_FREED);

		while (list.nr < nr)
			add_random(&list, &r, round % 2 ? 10 : 200);
		before = list;
		backfill_freed_join(&list);
		assert_int_equal(list.joins, 1);
		they_lie_apart(&list);
		they_have_seats(&list);
		for (size_t i = 0; i < before.nr; i++)
			nothing_is_lost(&list, find(&list, &before.f[i]),
					&before, &before.f[i]);
		too_many += list.nr == MAX_FREED;
	}
	assert_true(too_many > 100);
}

/*
 * Stretches that touch are one; what lies between others did not come free, and
 * is left out.
 */
static void only_what_touches(void **state)
{
	struct freed_list list = { 0 };

	(void)state;
	backfill_freed_add(&list, 20, 30, 4);
	backfill_freed_add(&list, 31, 40, 2);
	backfill_freed_add(&list, 10, 20, 3);
	list.f[0].upto = 5;
	list.f[1].upto = 7;
	list.f[2].upto = 6;
	backfill_freed_join(&list);
	assert_int_equal(list.nr, 2);
	assert_true(list.f[0].from == 10 && list.f[0].to == 30);
	assert_true(list.f[0].most == 4 && list.f[0].upto == 6);
	assert_true(list.f[1].from == 31 && list.f[1].to == 40);
	assert_true(list.f[1].most == 2 && list.f[1].upto == 7);
}

/*
 * Where a slot was given back more processors are free, if it is known how many
 * were.
 */
static void raised(void **state)
{
	struct freed_list list = { 0 };

	(void)state;
	backfill_freed_add(&list, 10, 20, 4);
	backfill_freed_add(&list, 30, 40, 4);
	backfill_freed_add(&list, 30, 40, INT64_MAX);
	backfill_freed_raise(&list, 20, 31, 3);
	assert_int_equal(list.f[0].most, 4);
	assert_int_equal(list.f[1].most, 7);
	assert_true(list.f[2].most == INT64_MAX);
}

/* The same in a list of which only a part is in order, at random. */
static void raised_at_random(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "freed", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct freed_list list = { 0 }, before;
		usec_t from = (usec_t)random_below(&r, SPAN);
		usec_t to = from + 1 + (usec_t)random_below(&r, 300);
		size_t nr = random_below(&r, MAX_FREED);

		while (list.nr < nr)
			add_random(&list, &r, 100);
		backfill_freed_tidy(&list);
		while (list.nr < nr + nr / 2)
			add_random(&list, &r, 100);
		before = list;
		backfill_freed_raise(&list, from, to, 3);
		for (size_t i = 0; i < list.nr; i++) {
			const struct freed *was = &before.f[i];
			bool both = was->from < to && from < was->to &&
				    was->most != INT64_MAX;

			assert_true(list.f[i].most == was->most + 3 * both);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_at_random),
		cmocka_unit_test(only_what_touches),
		cmocka_unit_test(raised),
		cmocka_unit_test(raised_at_random),
	};

	return cmocka_run_group_tests_name("policy/freed", tests, NULL, NULL);
}
