/* test_place.c - places for ranks, against a search that looks at every host each time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/place.h"

enum { HOSTS = 12, MOST = 40 };

static bool better(const struct host *a, uint32_t on_a, const struct host *b,
		   uint32_t on_b)
{
	double x = host_delay(a, a->load + on_a);
	double y = host_delay(b, b->load + on_b);

	return x != y ? x < y : on_a < on_b;
}

static bool naive(const struct view *view, uint32_t n, uint32_t *ret)
{
	uint32_t here[HOSTS];
	const struct host *h, *best;

	for_each_host (h, view)
		here[h->ix] = h->nr_active;
	for (uint32_t i = 0; i < n; i++) {
		best = NULL;
		for_each_host (h, view)
			if (here[h->ix] < host_cores(h) &&
			    (!best ||
			     better(h, here[h->ix], best, here[best->ix])))
				best = h;
		if (!best)
			return false;
		ret[i] = best->ix;
		here[best->ix]++;
	}
	return true;
}

/* Half of the machines are of hosts that are alike. */
static void make_hosts(struct random_stream *r, struct host *h)
{
	bool alike = random_below(r, 2);

	for (uint32_t i = 0; i < HOSTS; i++)
		h[i] = (struct host){
			.name = "",
			.speed = alike ? 1 : 1 + (double)random_below(r, 3) / 2,
			.cores = alike ? 1 : 1 + (uint32_t)random_below(r, 3),
			.load = alike ? 0 : (double)random_below(r, 3) / 2,
			.slots = MOST,
			.up = random_below(r, 5),
		};
}

static void the_best_each_time(void **state)
{
	struct random_stream r;
	unsigned nr_placed = 0, nr_refused = 0;

	(void)state;
	random_init(&r, 1, "place", 0);
	for (int run = 0; run < 4000; run++) {
		uint32_t want[MOST], got[MOST];
		uint32_t n = 1 + (uint32_t)random_below(&r, HOSTS + 4);
		struct host h[HOSTS];
		struct view view;
		bool can;

		make_hosts(&r, h);
		view_init_hosts(&view, h, HOSTS);
		for (uint32_t i = 0; i < HOSTS; i++)
			view.hosts[i].nr_active = view.hosts[i].nr_ranks =
				(uint32_t)random_below(&r, 2);
		can = naive(&view, n, want);
		assert_int_equal(place_on_cores(&view, NULL, n, got), can);
		if (can)
			assert_memory_equal(got, want, n * sizeof(*got));
		nr_placed += can;
		nr_refused += !can;
		view_clear(&view);
	}
	assert_true(nr_placed > 500 && nr_refused > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
