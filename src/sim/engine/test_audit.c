/*
 * test_audit.c - whole runs among owners, audited: what jobs did with their time and what
 * owners bore is computed a second time, from the events and plans that one who watches sees
 *
 * On random hosts that fail, with owners who come and go, and moves that are over at once or
 * take their time on links: each job ends when its work is done at the speed of its slowest
 * rank, its time is accounted for to the microsecond, and owners' figures are sums over
 * what happened.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/engine/test_books.h"
#include "sim/engine/testing.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(b));
}

static void check_job(const struct sim_record *r, const struct sim_split *s)
{
	const struct tally *t = &books.job[r->id];

	if (r->start != t->start || r->end != t->end || r->moves != t->moves ||
	    !near(r->stood_secs, t->stood))
		books_wrong("its record is another one", r->id);
	if (s->queue != t->split.queue || s->run != t->split.run ||
	    s->still != t->split.still || s->frozen != t->split.frozen ||
	    s->lost != t->split.lost)
		books_wrong("its time is divided otherwise", r->id);
	if (s->queue + s->run + s->still + s->frozen + s->lost !=
	    r->end - r->submit)
		books_wrong("its time is not all of it", r->id);
}

static void check_owner(const struct sim_owners *o, uint32_t i)
{
	const struct sim_owners *s = &books.host[i].sum;

	if (o->returns != s->returns || o->given_back != s->given_back ||
	    !near(o->give_back, s->give_back) ||
	    o->give_back_most != s->give_back_most ||
	    !near(o->beside, s->beside) || !near(o->waited, s->waited) ||
	    !near(o->refill, s->refill))
		fail_msg("%s, seed %u: the owner of host %u bore %u, %u, %g, "
			 "%g, %g, %g, and not %u, %u, %g, %g, %g, %g",
			 books.policy, (unsigned)books.a->seed, i,
			 (unsigned)o->returns, (unsigned)o->given_back,
			 o->give_back, o->beside, o->waited, o->refill,
			 (unsigned)s->returns, (unsigned)s->given_back,
			 s->give_back, s->beside, s->waited, s->refill);
}

static uint64_t audit(const char *policy, uint64_t seed)
{
	static const struct sim_observer watch = { books_saw_event,
						   books_saw_plan, NULL };
	struct among a;
	struct sim_result r;

	among_begin(&a, seed);
	books_begin(&a, policy);
	among_run(&a, policy, &watch, &r);
	books_go_to(r.end);
	for (size_t i = 0; i < r.nr; i++)
		check_job(&r.record[i], &r.split[i]);
	for (uint32_t i = 0; i < r.nr_owners; i++)
		check_owner(&r.owner[i].bore, i);
	assert_int_equal(r.migrations, books.migrations);
	assert_int_equal(r.restarts, books.restarts);
	assert_int_equal(r.starts_of_ranks, books.ranks_started);
	sim_result_clear(&r);
	among_end(&a);
	return books.migrations;
}

static void what_is_reported_is_what_happened(void **state)
{
	static const char *const policies[] = {
		"stint",
		"harvest:recruit=5,load=2",
		"dynamic-sed",
		"dynamite",
		"borrow:slice=20",
		"lst:slice=20",
		"matrix:slice=20",
		"spread",
		"stint:leave=still",
		"stint:leave=anew",
	};
	uint64_t moves = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		for (uint64_t seed = 0; seed < 12; seed++)
			moves += audit(policies[i], seed);
	assert_true(moves > 3000); /* or little would have been tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_reported_is_what_happened, begin_terms,
			end_terms),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
