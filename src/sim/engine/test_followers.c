/*
 * test_followers.c - who comes after whom: all whose job has ended are ready when they have
 * thought, in order, on random chains; against a search of all of them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/engine/followers.h"

enum { JOBS = 30, ROUNDS = 2000 };

struct one {
	int64_t after;
	usec_t think, ready; /* USEC_MAX: not yet; -1: taken */
	int told;	     /* at which step its job was over */
};

static void draw(struct random_stream *r, uint32_t nr, struct one *one,
		 struct workload_follower *ret)
{
	for (uint32_t i = 0; i < nr; i++) {
		one[i] = (struct one){
			.after = 1 + (int64_t)random_below(r, JOBS / 2),
			.think = (usec_t)random_below(r, 20),
			.ready = USEC_MAX,
		};
		ret[i] = (struct workload_follower){
			.job = { .id = 100 + i, .size = 1 + i },
			.after = one[i].after,
			.think = one[i].think,
		};
	}
	for (uint32_t i = nr - 1; i > 0; i--) { /* in any order */
		uint32_t k = (uint32_t)random_below(r, i + 1);
		struct workload_follower t = ret[i];

		ret[i] = ret[k];
		ret[k] = t;
	}
}

/* The first to come; of those of one instant whose job was over first, and then whose own
 * number is smaller. */
static int first_of(const struct one *one, uint32_t nr)
{
	int best = -1;

	for (uint32_t i = 0; i < nr; i++)
		if (one[i].ready >= 0 && one[i].ready < USEC_MAX &&
		    (best < 0 || one[i].ready < one[best].ready ||
		     (one[i].ready == one[best].ready &&
		      one[i].told < one[best].told)))
			best = (int)i;
	return best;
}

static void all_that_are_ready_come(void **state)
{
	struct random_stream r;
	unsigned taken = 0;

	(void)state;
	random_init(&r, 1, "followers", 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t nr = 1 + (uint32_t)random_below(&r, JOBS);
		struct workload_follower list[JOBS];
		struct workload w = { .follower = list, .nr_followers = nr };
		bool over[JOBS / 2 + 1] = { false };
		struct followers *f;
		struct one one[JOBS];
		usec_t now = 0;

		draw(&r, nr, one, list);
		f = followers_create(&w);
		for (int step = 0; step < 3 * JOBS; step++) {
			int64_t id = 1 + (int64_t)random_below(&r, JOBS / 2);
			int first = first_of(one, nr);

			now += (usec_t)random_below(&r, 3);
			assert_int_equal(followers_next(f),
					 first < 0 ? USEC_MAX
						   : one[first].ready);
			if (first >= 0 && random_below(&r, 2)) {
				struct workload_job j = followers_take(f);

				assert_int_equal(j.id, 100 + first);
				assert_int_equal(j.size, 1 + first);
				assert_int_equal(j.submit, one[first].ready);
				one[first].ready = -1;
				taken++;
			} else if (!over[id]) {
				over[id] = true;
				followers_over(f, id, now);
				for (uint32_t i = 0; i < nr; i++)
					if (one[i].after == id) {
						one[i].ready =
							now + one[i].think;
						one[i].told = step;
					}
			}
		}
		followers_destroy(f);
	}
	assert_true(taken > ROUNDS);
}

static void where_nobody_follows(void **state)
{
	struct workload w = { .nr_followers = 0 };

	(void)state;
	assert_null(followers_create(&w));
	followers_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_are_ready_come),
		cmocka_unit_test(where_nobody_follows),
	};

	return cmocka_run_group_tests_name("followers", tests, NULL, NULL);
}
