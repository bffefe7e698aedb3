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
			if (here[h->ix] < host_cores(h) && !h->reserved &&
			    here[h->ix] - h->nr_active + h->nr_ranks <
				    h->slots &&
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
		/* Or some stand still, and hold their slots. */
		for (uint32_t i = 0; run % 2 && i < HOSTS; i++) {
			view.hosts[i].nr_ranks += (uint32_t)random_below(&r, 2);
			view.hosts[i].slots = 2 + (uint32_t)random_below(&r, 3);
			view.hosts[i].reserved = !random_below(&r, 8);
		}
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

/* ---- for a policy that chooses hosts ---- */

enum { USERS = 3 };

/* In any state in which a host can be: some of them are lent by an owner who is there. */
static void draw_state(struct random_stream *r, struct host *h)
{
	h->slots = 1 + (uint32_t)random_below(r, 4);
	h->drain = !random_below(r, 8);
	h->booked = (uint32_t)random_below(r, 4) / 3;
	h->owner_active = !random_below(r, 3);
	h->closed = (uint8_t)(random_below(r, 3) ? CLOSED_NOT : CLOSED_OWNER);
	h->open_until = (usec_t)random_below(r, 4) * 100;
	h->nr_owners = (uint32_t)random_below(r, 2);
	h->owner[0] = (int32_t)random_below(r, USERS);
	h->nr_active = (uint32_t)random_below(r, 2);
	h->nr_ranks = h->nr_active;
}

/* May a rank of the job go there, as it was said? */
static bool may_go(const struct host *h, const struct job *job, bool home,
		   bool owners, uint32_t more)
{
	bool own = home && h->nr_owners && h->owner[0] == job->user;
	usec_t end = 200 + job->estimate;

	if (!h->up || h->drain || h->booked >= h->cores ||
	    h->nr_ranks + more >= h->slots || (h->closed && !own))
		return false;
	if (job->estimate && h->open_until && end > h->open_until)
		return false;
	return owners || own || !h->owner_active;
}

/* One rank after the other where it is delayed least; owners who are there come last. */
static bool naive_choice(const struct view *view, const struct job *job,
			 bool home, bool owners, uint32_t n, uint32_t *ret)
{
	uint32_t more[HOSTS] = { 0 };
	const struct host *h, *best;

	for (uint32_t i = 0; i < n; i++) {
		best = NULL;
		for_each_host (h, view) {
			bool own = home && job_is_home(job, h);
			bool last = best && best->owner_active &&
				    !(home && job_is_home(job, best));
			bool owned = h->owner_active && !own;

			if (!may_go(h, job, home, owners, more[h->ix]))
				continue;
			if (!best ||
			    (owned != last
				     ? last
				     : better(h, h->nr_active + more[h->ix],
					      best,
					      best->nr_active +
						      more[best->ix])))
				best = h;
		}
		if (!best)
			return false;
		ret[i] = best->ix;
		more[best->ix]++;
	}
	return true;
}

static void where_it_may_go_and_is_delayed_least(void **state)
{
	unsigned nr_placed = 0, nr_refused = 0;
	struct plan plan = PLAN_INIT;
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "place", 0);
	for (int run = 0; run < 20000; run++) {
		bool home = random_below(&r, 2), owners = random_below(&r, 2);
		uint32_t n = 1 + (uint32_t)random_below(&r, 8);
		uint32_t want[MOST], got[MOST];
		struct job job = { .size = n,
				   .estimate = (usec_t)random_below(&r, 3) * 50,
				   .user = (int32_t)random_below(&r, USERS) };
		struct host h[HOSTS];
		struct view view;
		bool can;

		make_hosts(&r, h);
		view_init_hosts(&view, h, HOSTS);
		view.now = 200;
		for (uint32_t i = 0; i < HOSTS; i++)
			draw_state(&r, &view.hosts[i]);
		plan_reset(&plan, &view);
		can = naive_choice(&view, &job, home, owners, n, want);
		assert_int_equal(place_least_delay_of(&view, &plan, &job, home,
						      n, owners, got),
				 can);
		if (can)
			assert_memory_equal(got, want, n * sizeof(*got));
		nr_placed += can;
		nr_refused += !can;
		view_clear(&view);
	}
	plan_clear(&plan);
	assert_true(nr_placed > 2000 && nr_refused > 2000);
}

/* A job that runs on hosts of which some are not usable any more gives these up first. */
static void who_shrinks_gives_up_what_is_closed(void **state)
{
	uint32_t on[HOSTS], kept[HOSTS];
	unsigned some = 0;
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "place", 0);
	for (int run = 0; run < 1000; run++) {
		uint32_t n = 1 + (uint32_t)random_below(&r, HOSTS);
		uint32_t good = 0, still = 0;
		struct host h[HOSTS];
		struct job job = { .n = HOSTS, .hosts = on };
		struct view view;

		make_hosts(&r, h);
		view_init_hosts(&view, h, HOSTS);
		for (uint32_t i = 0; i < HOSTS; i++) {
			on[i] = (uint32_t)random_below(&r, HOSTS);
			good += host_usable(&view.hosts[on[i]]);
		}
		assert_true(place_on_cores(&view, &job, n, kept));
		for (uint32_t i = 0; i < n; i++)
			still += host_usable(&view.hosts[kept[i]]);
		assert_int_equal(still, good < n ? good : n);
		some += good < HOSTS && n < HOSTS;
		view_clear(&view);
	}
	assert_true(some > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_each_time),
		cmocka_unit_test(where_it_may_go_and_is_delayed_least),
		cmocka_unit_test(who_shrinks_gives_up_what_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
