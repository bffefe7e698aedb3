/*
 * test_steps.c - moves that are tried together gain what is said, on random hosts
 *
 * All is computed again from where the ranks are after so many steps.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/talk.h"
#include "policy/migrate/steps.h"
#include "policy/policies.h"

#include "policy/migrate/test_pass.h" /* its view and plan are global */

enum { RANKS = PASS_RANKS, ROUNDS = 4000 };

static struct steps steps;
static const struct job *mine;

static void draw_hosts(struct random_stream *r)
{
	for (int i = 0; i < HOSTS; i++) {
		host[i].speed = 1 + (double)random_below(r, 5) / 2;
		host[i].cores = 1 + (uint32_t)random_below(r, 3);
		host[i].slots = 1 + (uint32_t)random_below(r, 6);
		host[i].load = random_below(r, 2) ? random_uniform(r, 0, 4) : 0;
		host[i].owner_active = !random_below(r, 8);
	}
}

/* The greatest delay of the job if its ranks are there, and so many on each host. */
static double worst_at(const uint32_t *place, const uint32_t *guests)
{
	double talk[RANKS] = { 0 }, worst = 0;

	if (mine->ranks->nr_talks)
		talk_delays(&view, mine, place, talk);
	for (uint32_t i = 0; i < mine->n; i++) {
		const struct host *h = &host[place[i]];
		double d = host_delay(h, h->load + guests[h->ix] - 1);

		worst = fmax(worst, mine->ranks->nr_talks ? d * talk[i] : d);
	}
	return worst;
}

/* The same after the first k steps. */
static double worst_after(uint32_t k)
{
	uint32_t place[RANKS], guests[HOSTS];

	memcpy(place, mine->hosts, mine->n * sizeof(*place));
	for (int h = 0; h < HOSTS; h++)
		guests[h] = host[h].nr_active;
	for (uint32_t i = 0; i < k; i++) {
		const struct step *s = &steps.step[i];

		assert_int_equal(place[s->rank], s->from);
		place[s->rank] = s->to;
		guests[s->from]--;
		guests[s->to]++;
	}
	return worst_at(place, guests);
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * (1 + fabs(b)))
		fail_msg("%.12f is not %.12f", a, b);
}

/*
 * What is kept is worth it by what was asked for, and no other number of the steps that
 * were tried is worth more.
 */
static void check_best(const struct prospect *p, double left, uint32_t tried)
{
	near(p->before, worst_after(0));
	if (p->steps) {
		near(p->after, worst_after(p->steps));
		near(p->saved,
		     left * (1 - p->after / p->before) - p->steps * p->cost);
		assert_true(p->saved > 0);
		if (p->after * steps.gain > p->before + 1e-9)
			fail_msg("%f is too little less than %f", p->after,
				 p->before);
	}
	for (uint32_t k = 1; k <= tried; k++) {
		double worst = worst_after(k);

		if (worst * steps.gain <= p->before - 1e-9)
			assert_true(left * (1 - worst / p->before) -
					    k * p->cost <=
				    p->saved + 1e-9);
	}
}

/* Nobody who is at a destination is slowed, nor has it more than it may hold. */
static void check_places(uint32_t tried)
{
	uint32_t ranks[HOSTS];

	for (int h = 0; h < HOSTS; h++)
		ranks[h] = host[h].nr_ranks;
	for (uint32_t i = 0; i < tried; i++) {
		const struct host *to = &host[steps.step[i].to];

		ranks[to->ix]++;
		assert_false(to->owner_active);
		assert_true(ranks[to->ix] <= to->slots);
		assert_true(ranks[to->ix] == 1 ||
			    ranks[to->ix] + to->load < to->cores + 0.4);
	}
}

static void check_undone(const uint32_t *guests, const double *delay)
{
	steps_undo(&steps, &view, 0);
	for (int h = 0; h < HOSTS; h++) {
		assert_int_equal(steps.guests[h], guests[h]);
		near(steps.delay[h], delay[h]);
	}
}

/* How many steps of a job were worth it. */
static uint32_t try_job(struct random_stream *r)
{
	double left = random_uniform(r, 0, 1000), delay[HOSTS];
	struct prospect p = { .cost = random_uniform(r, 0, 100) };
	uint32_t guests[HOSTS];

	steps.gain = 1 + random_uniform(r, 0, 1);
	steps_survey(&steps, &flights, &view, &plan);
	memcpy(guests, steps.guests, sizeof(guests));
	memcpy(delay, steps.delay, sizeof(delay));
	p.before = steps_look(&steps, &view, mine);
	steps_try(&steps, &targets, &view, mine, left, &p);
	check_best(&p, left, steps.nr);
	check_places(steps.nr);
	check_undone(guests, delay);
	return p.steps;
}

static void moves_gain_what_is_said(void **state)
{
	struct random_stream r;
	unsigned some = 0, several = 0;

	random_init(&r, 5, "steps", 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct job *j;
		uint32_t n;

		pass_end(state);
		pass_begin(state);
		draw_hosts(&r);
		pass_runs_anywhere(&r, 2, RANKS, HOSTS);
		mine = j = pass_runs_anywhere(&r, 1, RANKS, HOSTS);
		if (random_below(&r, 2))
			pass_talks(&r, j, 1e8, 2e4);
		plan_reset(&plan, &view);
		targets_make(&targets, &view, &plan, &flights);
		steps_init(&steps, HOSTS, 1);
		n = try_job(&r);
		some += n > 0;
		several += n > 1;
		steps_clear(&steps);
	}
	/* Or nothing was tried. */
	if (some < ROUNDS / 10 || several < ROUNDS / 50)
		fail_msg("only %u, and %u together", some, several);
}

/* Half of the job's moves are under way, and some of them have failed. */
static void draw_flights(struct random_stream *r, const struct job *j)
{
	flights.flight = calloc(RANKS, sizeof(*flights.flight));
	assert_non_null(flights.flight);
	flights.cap = RANKS;
	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t from = j->hosts[i];
		uint32_t on = 1 + (uint32_t)random_below(r, HOSTS - 1);

		if (random_below(r, 2))
			flights.flight[flights.nr++] = (struct flight){
				.job = j->id,
				.ix = j->ix,
				.rank = i,
				.from = from,
				.to = (from + on) % HOSTS,
				.began = view.now,
				.until = view.now + SEC,
				.failed = random_below(r, 2),
			};
	}
}

/* Who is under way is where it goes, and who could not go is where it was. */
static void every_rank_is_counted_once(void **state)
{
	struct random_stream r;

	random_init(&r, 6, "steps", 0);
	for (int i = 0; i < ROUNDS / 4; i++) {
		uint32_t all = 0, counted = 0;

		pass_end(state);
		pass_begin(state);
		draw_hosts(&r);
		pass_runs_anywhere(&r, 2, RANKS, HOSTS);
		draw_flights(&r, pass_runs_anywhere(&r, 1, RANKS, HOSTS));
		plan_reset(&plan, &view);
		flights_begin_pass(&flights, &view, &plan);
		steps_init(&steps, HOSTS, 1);
		steps_survey(&steps, &flights, &view, &plan);
		for (int h = 0; h < HOSTS; h++) {
			all += host[h].nr_active;
			counted += steps.guests[h];
		}
		assert_int_equal(counted, all);
		steps_clear(&steps);
	}
}

/* ---- what stint makes of them ---- */

/* Each rank that moves is named once, and where they are then the job is as fast as said. */
static void check_entry(const struct plan_entry *e)
{
	uint32_t place[RANKS], guests[HOSTS];
	bool named[RANKS] = { false };
	double before, after;

	memcpy(place, mine->hosts, mine->n * sizeof(*place));
	for (int h = 0; h < HOSTS; h++)
		guests[h] = host[h].nr_active;
	before = worst_at(place, guests);
	assert_true(e->n > 0);
	for (uint32_t i = 0; i < e->n; i++) {
		assert_true(e->ranks[i] < mine->n && e->hosts[i] < HOSTS);
		assert_false(named[e->ranks[i]]);
		named[e->ranks[i]] = true;
		guests[place[e->ranks[i]]]--;
		place[e->ranks[i]] = e->hosts[i];
		guests[e->hosts[i]]++;
	}
	after = worst_at(place, guests);
	assert_true(after * 1.05 <= before * (1 + 1e-9));
	assert_int_equal(e->why.number[0], (int64_t)(before * 1000));
	assert_int_equal(e->why.number[1], (int64_t)(after * 1000));
	assert_int_equal(e->why.number[2], e->n);
}

/* A rank that was tried on two hosts goes to the last one. */
static void stint_names_each_rank_once(void **state)
{
	struct random_stream r;
	unsigned moves = 0;

	random_init(&r, 7, "steps", 0);
	for (int i = 0; i < 4 * ROUNDS; i++) {
		struct policy *stint;
		struct job *j;

		pass_end(state);
		pass_begin(state);
		draw_hosts(&r);
		mine = j = pass_runs_anywhere(&r, 1, RANKS, HOSTS);
		j->memory = 1; /* moves cost nothing */
		pass_talks(&r, j, 1e8, 2e4);
		for (int h = 0; h < HOSTS; h++)
			host[h].owner_active = false;
		assert_int_equal(
			policy_create(
				"stint:gain=0.05,rate=1e12,fixed=0,still=0", 1,
				&view, &stint, NULL),
			0);
		view.now += 10000 * SEC;
		plan_reset(&plan, &view);
		policy_decide(stint, &view, &plan);
		for (size_t k = 0; k < plan.nr; k++)
			if (plan.entry[k].type == PLAN_MIGRATE) {
				check_entry(&plan.entry[k]);
				moves++;
			}
		policy_destroy(stint);
	}
	assert_true(moves > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(moves_gain_what_is_said),
		PASS_TEST(every_rank_is_counted_once),
		PASS_TEST(stint_names_each_rank_once),
	};

	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
