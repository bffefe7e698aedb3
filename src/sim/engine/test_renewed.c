/*
 * test_renewed.c - what policies save is all they remember
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"

/* Jobs of five users, of whom the first has every other. */
struct crowd {
	struct workload base;
	struct workload *of;
};

static int crowd_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	int r = workload_next(((struct crowd *)workload)->of, ret, err);

	ret->user = ret->id % 2 ? 0 : (int32_t)(ret->id % 10) / 2;
	return r;
}

static const struct workload_ops crowd_ops = { .name = "crowd",
					       .next = crowd_next };

/* With a policy that is made anew now and then, and with one that lives. */
static void check_renewed(const char *policy, const char *speedup,
			  const char *machine)
{
	struct sim_result r[2];
	struct host *hosts;
	uint32_t nr_hosts;

	assert_int_equal(machine_parse(machine, &hosts, &nr_hosts, NULL), 0);
	for (int k = 0; k < 2; k++) {
		struct crowd jobs = {
			.base = { .ops = &crowd_ops, .procs = 16 },
			.of = make_workload("poisson:overestimate=3", 16, 0.9,
					    300, speedup),
		};
		struct sim_config c = { .workload = &jobs.base,
					.policy = policy,
					.hosts = hosts,
					.nr_hosts = nr_hosts,
					.renew = k ? 3 : 0 };

		simulate(&c, &r[k]);
		workload_destroy(jobs.of);
	}
	check_same_records(&r[0], &r[1], policy);
	sim_result_clear(&r[0]);
	sim_result_clear(&r[1]);
	free(hosts);
}

/* A policy that is made anew from what it saved goes on as it would have. */
static void what_is_saved_is_all(void **state)
{
	/* Where memory has more to say than by default. */
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
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		check_renewed(p->name, NULL, "16x1");
		check_renewed(p->name, "misp", "8x1,8x3");
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		check_renewed(more[i], "linear:kind=moldable", "8x1,8x3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_all),
	};

	return cmocka_run_group_tests_name("renewed", tests, NULL, NULL);
}
