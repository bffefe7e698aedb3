/* test_renewed.c - what policies save is all that they remember */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/laws/laws.h"

static void check_renewed(const char *policy)
{
	struct error err;

	if (law_find("saved")->check(policy, &err) < 0)
		fail_msg("%s: %s", policy, err.text);
}

/* A policy that is made anew from what it saved goes on as it would have. */
static void what_is_saved_is_all(void **state)
{
	/* Parameters with which policies remember more than by default. */
	static const char *const more[] = {
		"pvm:start=next",
		"conservative:replan=50",
		"backfill:depth=3",
		"loadleveler:reserve=30,defer=20",
		"ls:maxprio=40",
		"multifactor:half-life=500,fit=block",
		"lst:slice=50",
		"matrix:slice=50",
		"sed2:eager=1",
		"nqs:age=100",
		"conservative:slots=kinds",
		"conservative:slots=kinds,replan=50",
		"backfill:depth=3,slots=kinds"
	};
	const struct policy_ops *p;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++)
		check_renewed(p->name);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		check_renewed(more[i]);
}

/* What a policy that is made anew after each pass asks for. */
struct asked {
	usec_t at;    /* of the last pass that planned anything */
	bool renewed; /* it was that with which a controller begins */
	usec_t due;   /* the first time that was asked for, still to come */
	unsigned again, forgotten;
};

static usec_t first_wake(const struct plan *plan)
{
	usec_t first = USEC_MAX;

	for (size_t i = 0; i < plan->nr; i++)
		if (plan->entry[i].type == PLAN_WAKE &&
		    plan->entry[i].at < first)
			first = plan->entry[i].at;
	return first;
}

static void see_plan(void *data, const struct view *view,
		     const struct plan *plan)
{
	struct asked *a = data;
	usec_t wake = first_wake(plan);
	bool renewed = a->at == view->now && !a->renewed;

	a->forgotten +=
		a->due < USEC_MAX &&
		(renewed ? wake > a->due : !a->renewed && a->due > a->at);
	a->again += renewed && wake < USEC_MAX;
	if (renewed || wake < a->due || a->due <= view->now)
		a->due = wake;
	a->at = view->now;
	a->renewed = renewed;
}

static void check_wakes(const char *policy)
{
	struct asked a = { .due = USEC_MAX, .renewed = true };
	const struct sim_observer watch = { .plan = see_plan, .data = &a };
	struct sim_config c = { .policy = policy,
				.renew = 1,
				.renewal = RENEW_AND_FORGET,
				.observer = &watch };
	struct sim_result r;

	c.workload =
		make_workload("poisson:overestimate=3", 16, 0.9, 300, NULL);
	simulate(&c, &r);
	workload_destroy(c.workload);
	sim_result_clear(&r);
	if (a.again < 200 || a.forgotten > a.again / 20)
		fail_msg("%s: %u timers asked for again, %u forgotten", policy,
			 a.again, a.forgotten);
}

/*
 * A timer that was set is set again, unless it was in vain: a job that was waited for has
 * gone, or nobody waits any more.  Of these policies few are.
 */
static void who_waits_for_a_time_does_so_again(void **state)
{
	static const char *const waits[] = {
		"backfill",
		"backfill:depth=3",
		"backfill:depth=3,slots=kinds",
		"conservative",
		"conservative:replan=50",
		"conservative:slots=kinds",
		"lst:slice=50",
		"matrix:slice=50",
		"borrow:slice=50",
		"dynamite",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		check_wakes(waits[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_all),
		cmocka_unit_test(who_waits_for_a_time_does_so_again),
	};

	return cmocka_run_group_tests_name("renewed", tests, NULL, NULL);
}
