/* test_targets.c - the hosts to which a rank could move */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/migrate/test_pass.h"

static void best_targets(void **state)
{
	struct job *j = pass_arrive(1, 1);
	bool among[HOSTS] = { [2] = true, [3] = true };

	(void)state;
	pass_runs(2, 1, (uint32_t[]){ 2 });
	host[0].owner_active = true; /* the terms let guests in, or not yet */
	plan_reset(&plan, &view);
	targets_make(&targets, &view, &plan, &flights);
	assert_int_equal(targets.nr, HOSTS - 1);
	assert_int_equal(targets_best(&targets, j, 0, false)->host->ix, 1);
	assert_int_equal(targets_best(&targets, j, 1, false)->host->ix, 3);
	targets_clear(&targets);
	targets_make_among(&targets, &view, &plan, &flights, among);
	assert_int_equal(targets.nr, 1);
	assert_int_equal(targets.target[0].room, 1);
}

static void gentle_is_a_core_for_each(void **state)
{
	struct target t = { .host = host, .ranks = 1 };

	(void)state;
	host[0].load = 0.3; /* noise */
	assert_true(target_gentle(&t));
	host[0].load = 0.5;
	assert_false(target_gentle(&t));
	t.ranks = 0; /* nobody's guest */
	assert_true(target_gentle(&t));
}

/* ---- against a search that looks at every host each time ---- */

static void draw_hosts(struct random_stream *r)
{
	for (int i = 0; i < HOSTS; i++) {
		host[i].speed = 1 + (double)random_below(r, 3) / 2;
		host[i].cores = 1 + (uint32_t)random_below(r, 3);
		host[i].slots = 1 + (uint32_t)random_below(r, 4);
		host[i].load = (double)random_below(r, 8) / 4;
		host[i].memory = random_below(r, 2) * 1000;
		host[i].memory_free = random_below(r, 1000);
		host[i].open_until = (usec_t)random_below(r, 3) * 80 * SEC;
		host[i].owner_active = !random_below(r, 6);
		host[i].drain = !random_below(r, 8);
	}
}

/* By host: what was taken already. */
static uint32_t more[HOSTS];
static uint64_t bytes[HOSTS];

static double delay_on(const struct host *h)
{
	return host_delay(h, h->load + h->nr_active + more[h->ix]);
}

static bool may_go(const struct host *h, const struct job *job, bool gentle)
{
	double busy = h->nr_active + more[h->ix] + 1 + h->load;

	if (h->owner_active || h->drain ||
	    h->nr_ranks + more[h->ix] >= h->slots)
		return false;
	if (h->memory && job->memory &&
	    job->memory + bytes[h->ix] > h->memory_free)
		return false;
	if (h->open_until && view.now + job->estimate > h->open_until)
		return false;
	return !gentle || !(h->nr_active + more[h->ix]) ||
	       busy <= h->cores + 0.3;
}

static const struct host *naive_best(const struct job *job, uint32_t not,
				     bool gentle)
{
	const struct host *h, *best = NULL;

	for_each_host (h, &view) {
		uint32_t here = h->nr_active + more[h->ix];
		uint32_t there =
			best ? best->nr_active + more[best->ix] : UINT32_MAX;

		if (h->ix == not || !may_go(h, job, gentle))
			continue;
		if (!best || delay_on(h) < delay_on(best) ||
		    (delay_on(h) == delay_on(best) && here < there))
			best = h;
	}
	return best;
}

static void take_some(struct random_stream *r, const struct job *job,
		      unsigned *nr)
{
	for (int i = 0; i < 6; i++) {
		uint32_t not = (uint32_t)random_below(r, HOSTS);
		uint32_t at = (uint32_t)random_below(r, HOSTS);
		bool gentle = random_below(r, 2);
		const struct host *best = naive_best(job, not, gentle);
		struct target *t = targets_best(&targets, job, not, gentle);

		if ((t ? t->host : NULL) != best) {
			fprintf(stderr,
				"job mem %lu gentle %d not %u t %d best %d\n",
				job->memory, gentle, not,
				t ? (int)t->host->ix : -1,
				best ? (int)best->ix : -1);
			for (int h = 0; h < HOSTS; h++)
				fprintf(stderr,
					"%d: mem %lu free %lu more %u bytes %lu slots %u ranks %u load %g speed %g cores %u\n",
					h, host[h].memory, host[h].memory_free,
					more[h], bytes[h], host[h].slots,
					host[h].nr_ranks, host[h].load,
					host[h].speed, host[h].cores);
		}
		assert_ptr_equal(t ? t->host : NULL, best);
		assert_int_equal(targets_at(&targets, job, at, gentle) != NULL,
				 may_go(&host[at], job, gentle));
		if (!t)
			continue;
		assert_true(t->delay == delay_on(best));
		targets_take(&targets, t, job);
		more[best->ix]++;
		bytes[best->ix] += job->memory;
		++*nr;
	}
}

/*
 * Ranks of it are under way or have failed, and before it another one was started in the
 * same pass: slots and memory are promised to those that will be there.
 */
static void promise_some(struct random_stream *r, struct job *flies,
			 struct job *starts)
{
	uint32_t *on = plan_hosts(&plan, 2);

	flies->memory = random_below(r, 300);
	starts->memory = random_below(r, 300);
	flights.flight = calloc(2, sizeof(*flights.flight));
	assert_non_null(flights.flight);
	for (uint32_t i = 0; i < 2; i++) {
		struct flight *f = &flights.flight[flights.nr++];

		*f = (struct flight){
			.job = flies->id,
			.ix = flies->ix,
			.rank = i,
			.from = flies->hosts[i],
			.to = (uint32_t)random_below(r, HOSTS),
			.until = USEC_MAX,
			.failed = random_below(r, 3) == 0,
		};
		on[i] = (uint32_t)random_below(r, HOSTS);
		more[on[i]]++;
		bytes[on[i]] += starts->memory;
		if (f->failed || f->to == f->from)
			continue;
		more[f->to]++;
		bytes[f->to] += flies->memory;
	}
	flights_begin_pass(&flights, &view, &plan);
	plan_start_on(&plan, starts, 2, on, (struct because){ .reason = NULL });
}

static void the_best_that_takes_it(void **state)
{
	struct random_stream r;
	unsigned nr = 0;

	random_init(&r, 4, "targets", 0);
	for (int i = 0; i < 4000; i++) {
		struct job *j, *flies;

		pass_end(state);
		pass_begin(state);
		draw_hosts(&r);
		memset(more, 0, sizeof(more));
		memset(bytes, 0, sizeof(bytes));
		flies = pass_runs(
			2, 2,
			(uint32_t[]){ (uint32_t)random_below(&r, HOSTS),
				      (uint32_t)random_below(&r, HOSTS) });
		j = pass_arrive(1, 1);
		j->memory = random_below(&r, 500);
		j->estimate = (usec_t)(1 + random_below(&r, 60)) * SEC;
		plan_reset(&plan, &view);
		promise_some(&r, flies, pass_arrive(3, 2));
		targets_make(&targets, &view, &plan, &flights);
		take_some(&r, j, &nr);
	}
	assert_true(nr > 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(best_targets),
		PASS_TEST(gentle_is_a_core_for_each),
		PASS_TEST(the_best_that_takes_it),
	};

	return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
