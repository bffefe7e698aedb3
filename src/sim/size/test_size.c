/* test_size.c - how many hosts are enough, and what is told of those that were tried */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/terms.h"
#include "sim/engine/sim.h"
#include "sim/size/size.h"

/* A light load of small jobs among owners who come often. */
static struct days light(void)
{
	struct days d;

	days_init(&d);
	d.workload = "lanl:size=4,longest=60";
	d.load = 0.05;
	return d;
}

static struct days_result run(const struct days *d, uint32_t hosts,
			      uint64_t replication)
{
	struct days_result r;
	struct error err;

	if (days_run(d, hosts, replication, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

/* Delays of owners are kept within what they bear, and more where there is no limit. */
static void owners_bear_no_more_than_they_said(void **state)
{
	struct days d = light();
	double most = run(&d, 5, 0).delays_most;

	(void)state;
	assert_true(most > 10);
	for (uint32_t delays = 1; delays < most; delays *= 3) {
		struct days_result r;

		d.delays = delays;
		r = run(&d, 12, 0);
		assert_true(r.delays_most <= delays);
		assert_true(r.delays_third <= r.delays_most);
		assert_true(r.delays <= r.delays_most);
	}
}

/* A job that stands still for longer when its ranks move is slowed down by more. */
static void moves_cost_what_is_said(void **state)
{
	struct days d = light(), dear = light();
	struct days_result a, b;

	(void)state;
	dear.move = 60 * USEC_PER_SEC;
	a = run(&d, 6, 0);
	b = run(&dear, 6, 0);
	assert_true(a.moves > 0);
	assert_true(b.response > a.response && b.slowdown > a.slowdown);
	assert_true(a.dedicated == b.dedicated);
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * (1 + fabs(b)))
		fail_msg("%.12f is not %.12f", a, b);
}

/* What is told of a number of hosts are the means of its runs. */
static void check_point(const struct size_question *q,
			const struct size_point *p)
{
	double slowdown = 0, delays = 0, most = 0, moves = 0;

	for (uint32_t i = 0; i < q->runs; i++) {
		struct days_result r = run(&q->days, p->hosts, i);

		slowdown += r.response / q->runs;
		delays += r.delays / q->runs;
		most += r.delays_most / q->runs;
		moves += r.moves / q->runs;
	}
	near(p->slowdown.value, slowdown);
	near(p->delays, delays);
	near(p->delays_most, most);
	near(p->moves, moves);
	assert_true(p->slowdown.low <= slowdown &&
		    slowdown <= p->slowdown.high);
}

static void what_is_told_are_means_of_the_runs(void **state)
{
	struct size_question q = { .days = light(),
				   .slowdown = 1.5,
				   .level = 0.95,
				   .most = 40,
				   .runs = 3,
				   .workers = 1 };
	struct size_answer a;
	struct error err;

	(void)state;
	q.days.delays = 30;
	if (size_find(&q, &a, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(a.dedicated, 4);
	assert_true(a.low <= a.hosts && a.hosts <= a.high);
	assert_true(a.nr > 2);
	for (size_t i = 0; i < a.nr; i++) {
		check_point(&q, &a.point[i]);
		assert_true(!i || a.point[i - 1].hosts < a.point[i].hosts);
	}
	size_clear(&a);
}

static const struct estimate *slowdown_of(const struct size_answer *a,
					  uint32_t hosts)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->point[i].hosts == hosts)
			return &a->point[i].slowdown;
	return NULL;
}

/* The end of the interval, or its middle, that the answer is about. */
static double part_of(const struct estimate *e, int part)
{
	return part < 0 ? e->low : part ? e->high : e->value;
}

/* With so many it is as was asked for, with one less it is not; both were tried. */
static void check_least(const struct size_question *q,
			const struct size_answer *a, uint32_t hosts, int part)
{
	const struct estimate *e = slowdown_of(a, hosts);

	assert_non_null(e);
	assert_true(part_of(e, part) <= q->slowdown);
	if (hosts == a->dedicated)
		return;
	e = slowdown_of(a, hosts - 1);
	assert_non_null(e);
	assert_true(part_of(e, part) > q->slowdown);
}

/* Where fewer than are surely enough may be tried there is no answer. */
static void check_too_few(const struct size_question *asked, uint32_t most)
{
	struct size_question q = *asked;
	struct size_answer a;
	struct error err;

	q.most = most;
	assert_int_equal(size_find(&q, &a, &err), -ERANGE);
}

static void each_answer_is_the_least_that_will_do(void **state)
{
	struct size_question q = { .days = light(),
				   .level = 0.95,
				   .most = 100,
				   .runs = 3,
				   .workers = 1 };
	unsigned unsure = 0;

	(void)state;
	for (q.slowdown = 1.05; q.slowdown < 3; q.slowdown *= 1.2) {
		struct size_answer a;
		struct error err;

		if (size_find(&q, &a, &err) < 0)
			fail_msg("%s", err.text);
		check_least(&q, &a, a.low, -1);
		check_least(&q, &a, a.hosts, 0);
		check_least(&q, &a, a.high, 1);
		if (a.high > a.dedicated)
			check_too_few(&q, a.high - 1);
		unsure += a.low < a.hosts && a.hosts < a.high;
		size_clear(&a);
	}
	assert_true(unsure); /* or the three were never told apart */
}

/* ---- against the parts of it, put together by hand ---- */

/* The owners of a run are those of the law's drawing of that number. */
static struct activity owners_of(const struct days *d, uint32_t hosts,
				 uint32_t days, uint64_t replication)
{
	struct activity raw, seen;

	owners_law_draw(&d->law, hosts, days, d->seed, replication, &raw);
	owners_as_seen(&raw, d->sign, &seen);
	activity_clear(&raw);
	for (uint32_t i = 0; i < hosts; i++)
		activity_add(&seen, days * USEC_PER_DAY, i, ACTIVITY_OWNER, 0);
	return seen;
}

static void simulate(const struct days *d, uint64_t replication,
		     const struct activity *a, struct sim_result *ret)
{
	const struct workload_setup setup = { .load = d->load,
					      .seed = d->seed,
					      .replication = replication };
	struct owner_terms terms;
	struct sim_config c = { .policy = d->policy,
				.seed = d->seed,
				.costs = { .migrate = d->move,
					   .aside = !d->in_turn },
				.activity = a,
				.terms = &terms,
				.requeue = d->requeue };
	struct error err;

	owner_terms_init(&terms);
	terms.quiet = d->quiet;
	terms.load = LOAD_ANY;
	terms.disturb = d->delays;
	terms.give_back = USEC_PER_DAY;
	if (workload_create(d->workload, &setup, &c.workload, &err) < 0 ||
	    sim_run(&c, ret, &err) < 0)
		fail_msg("%s", err.text);
	workload_destroy(c.workload);
	owner_terms_clear(&terms);
}

/* Each of them is another one than light() has, now and then. */
static struct days draw_days(struct random_stream *r)
{
	static const char *const policies[] = { "borrow:slice=2",
						"stint:gain=100",
						"stint:leave=anew,gain=100" };
	struct days d = light();

	d.policy = policies[random_below(r, 3)];
	d.load = random_uniform(r, 0.05, 0.3);
	d.sign = random_below(r, 2) ? OWNERS_CPU : OWNERS_CPU_KEYBOARD;
	d.quiet = (usec_t)random_below(r, 400) * USEC_PER_SEC;
	d.delays = random_below(r, 2) ? UINT32_MAX
				      : 3 + (uint32_t)random_below(r, 20);
	d.move = (usec_t)random_below(r, 90) * USEC_PER_SEC;
	d.in_turn = random_below(r, 2);
	d.requeue = random_below(r, 2);
	d.seed = random_below(r, 100);
	return d;
}

static double time_of(const struct sim_record *r)
{
	return usec_to_seconds(r->end - r->submit);
}

/* Responses among owners, and on the dedicated machine. */
static void check_responses(const struct days_result *got,
			    const struct sim_result *here,
			    const struct sim_result *there)
{
	double a = 0, b = 0, ratios = 0, slow = 0;

	assert_int_equal(here->nr, there->nr);
	for (size_t i = 0; i < here->nr; i++) {
		double x = time_of(&here->record[i]);
		double y = time_of(&there->record[i]);

		a += x;
		b += y;
		ratios += x / y;
		slow += y / usec_to_seconds(there->record[i].run);
	}
	near(got->response, a / b);
	near(got->slowdown, ratios / (double)here->nr);
	near(got->dedicated, slow / (double)here->nr);
}

static void each_run_has_jobs_and_owners_of_its_own(void **state)
{
	struct random_stream s;
	unsigned moved = 0;

	(void)state;
	random_init(&s, 1, "size", 0);
	for (uint64_t i = 0; i < 16; i++) {
		const struct days d = i < 3 ? light() : draw_days(&s);
		uint32_t hosts = 4 + (uint32_t)(i % 3);
		struct days_result r = run(&d, hosts, i);
		struct sim_result here, there;
		struct activity a;

		a = owners_of(&d, hosts, 3,
			      i); /* the day of the jobs, and two */
		simulate(&d, i, &a, &here);
		simulate(&d, i, NULL, &there);
		moved += here.migrations > 0;
		check_responses(&r, &here, &there);
		near(r.moves, (double)here.migrations);
		near(r.delays, (double)here.owners.disturbed / hosts /
				       (double)(here.end / USEC_PER_DAY + 1));
		near(r.delays_most, here.owners.disturbed_most);
		near(r.delays_third, here.owners.disturbed_third);
		sim_result_clear(&here);
		sim_result_clear(&there);
		activity_clear(&a);
	}
	assert_true(moved > 6); /* or nothing was tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_bear_no_more_than_they_said),
		cmocka_unit_test(moves_cost_what_is_said),
		cmocka_unit_test(what_is_told_are_means_of_the_runs),
		cmocka_unit_test(each_answer_is_the_least_that_will_do),
		cmocka_unit_test(each_run_has_jobs_and_owners_of_its_own),
	};

	return cmocka_run_group_tests_name("size", tests, NULL, NULL);
}
