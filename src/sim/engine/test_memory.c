/* test_memory.c - hosts that page, and the policies
 * that mind it */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/engine/paging.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"

#define MB 1000000

/* Jobs of one process, or of size, from a table. */
struct line {
	usec_t submit, run;
	uint32_t home, size;
	const struct workload_phases *phases;
	uint64_t memory;
};

struct table {
	struct workload base;
	const struct line *line;
	size_t nr, at;
};

static int table_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	struct table *t = (struct table *)workload;
	const struct line *l = &t->line[t->at];

	(void)err;
	if (t->at == t->nr)
		return 0;
	*ret = (struct workload_job){ .id = (int64_t)++t->at,
				      .submit = l->submit,
				      .run = l->run,
				      .estimate = l->run,
				      .size = l->size ? l->size : 1,
				      .min_size = l->size ? l->size : 1,
				      .memory = l->memory,
				      .home = l->home,
				      .phases = l->phases };
	return 1;
}

static void run_with(const struct line *line, size_t nr, const char *machine,
		     const char *paging, struct sim_config c,
		     struct sim_result *ret)
{
	static const struct workload_ops ops = { .name = "table",
						 .next = table_next };
	struct table t = { .base = { .ops = &ops }, .line = line, .nr = nr };
	struct paging p = make_paging(paging);
	struct host *hosts;

	c.workload = &t.base;
	c.paging = &p;
	assert_int_equal(machine_parse(machine, &hosts, &c.nr_hosts, NULL), 0);
	c.hosts = hosts;
	simulate(&c, ret);
	free(hosts);
}

static void run_table(const struct line *line, size_t nr, const char *machine,
		      const char *paging, const char *policy,
		      const struct sim_observer *observer,
		      struct sim_result *ret)
{
	run_with(line, nr, machine, paging,
		 (struct sim_config){ .policy = policy, .observer = observer },
		 ret);
}

/* p = 1/2 * 200 pages / 100 s * 0.1 s = 0.1 */
static void a_job_alone_pages_alone(void **state)
{
	static const struct line one[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 200 * MB }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=0.1", "g-loadsharing",
		  NULL, &r);
	assert_int_equal(r.record[0].end, 1100 * USEC_PER_SEC);
	assert_int_equal(r.split[0].cpu, 1000 * USEC_PER_SEC);
	assert_int_equal(r.split[0].page, 100 * USEC_PER_SEC);
	assert_int_equal(r.split[0].run, 1100 * USEC_PER_SEC);
	assert_int_equal(sum_of(&r.split[0]), 1100 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * For the first half of the run the job needs 50 MB of 100, for the second 200:
 * it pages in the second.
 */
static void phases_begin_when_their_work_is_done(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 50 * MB }, { 0.5, 200 * MB } }
	};
	static const struct line one[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .phases = &two }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=0.1", "g-loadsharing",
		  NULL, &r);
	assert_int_equal(r.record[0].end, 1050 * USEC_PER_SEC);
	assert_int_equal(r.split[0].page, 50 * USEC_PER_SEC);
	/* 500 s with 50 MB idle, 550 s with none. */
	assert_true(fabs(r.averages.idle_memory - 50. * MB * 500 / 1050) < 1);
	sim_result_clear(&r);
}

/*
 * p = 1: the job pages half of the time. Phases begin at an odd microsecond, of
 * which the half that is left over is counted only once.
 */
static void no_microsecond_counts_twice(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 200 * MB }, { 0.5, 200 * MB } }
	};
	static const struct line one[] = {
		{ .run = 2001, .home = 1, .phases = &two }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=1", "g-loadsharing",
		  NULL, &r);
	assert_int_equal(r.split[0].cpu + r.split[0].page, r.split[0].run);
	sim_result_clear(&r);
}

/*
 * Each job gets half of the processor, whatever memory the other needs; but
 * both page once the first has grown.
 */
static void a_neighbour_that_grows(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 50 * MB }, { 0.5, 150 * MB } }
	};
	static const struct line both[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .phases = &two },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 50 * MB },
	};
	struct sim_result r;

	(void)state;
	run_table(both, 2, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=1000,fault=0.1,switch=0",
		  "g-loadsharing", NULL, &r);
	/*
	 * Half of it is missing for the last 500 s of work of each: 0.5 * 150
	 * and 50 pages / 1000 s * 0.1 s.
	 */
	assert_int_equal(r.split[0].page, 3750 * USEC_PER_MSEC);
	assert_int_equal(r.split[1].page, 1250 * USEC_PER_MSEC);
	assert_int_equal(r.record[0].end, 2000 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * The rank on the slower host sets the pace, in whatever order the hosts come.
 */
static void the_slowest_rank_sets_the_pace(void **state)
{
	static const char *const machine[] = {
		"1x2x1x100000000,1x1x1x100000000",
		"1x1x1x100000000,1x2x1x100000000"
	};
	static const struct line one[] = {
		{ .run = 100 * USEC_PER_SEC, .size = 2, .memory = 1 * MB }
	};
	struct sim_result r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		run_table(one, 1, machine[i], "system=0,switch=0", "spread",
			  NULL, &r);
		assert_int_equal(r.record[0].end, 200 * USEC_PER_SEC);
		sim_result_clear(&r);
	}
}

/*
 * One of two hosts is in use all the time: each is half a process from the
 * mean.
 */
static void skew_is_a_mean_over_time(void **state)
{
	static const struct line one[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 1 * MB }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "2x1x1x100000000", "system=0", "g-loadsharing", NULL,
		  &r);
	assert_true(fabs(r.averages.skew - 0.5) < 1e-9);
	sim_result_clear(&r);
}

/* What was planned, as text. */
static void write_plan(void *data, const struct view *view,
		       const struct plan *plan)
{
	char text[300];

	for (size_t i = 0; i < plan->nr; i++) {
		if (plan->entry[i].type == PLAN_WAKE)
			continue;
		plan_print(view, &plan->entry[i], text, sizeof(text));
		*strchr(text, ':') = '\0';
		fprintf(data, "%" PRId64 " %s\n", view->now / USEC_PER_SEC,
			text);
	}
}

static char *plans_of(const struct line *line, size_t nr, const char *machine,
		      const char *policy, struct sim_result *ret)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	const struct sim_observer observer = { .plan = write_plan, .data = f };

	assert_non_null(f);
	run_table(line, nr, machine, "system=0,sweep=10,switch=0", policy,
		  &observer, ret);
	fclose(f);
	return text;
}

/*
 * The home host has not enough memory for both jobs. The larger one leaves once it has
 * settled, and is on its way for 0.1 s + 8 * 80 MB / 10 Mbit/s.
 */
static void the_largest_that_fits_leaves(void **state)
{
	static const struct line two[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 80 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 90 * USEC_PER_SEC, .home = 2, .memory = 5 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(two, 3, "2x1x1x100000000", "g-loadsharing:settle=30",
			&r);
	assert_string_equal(text, "0 start job 1 with 1 on 0\n"
				  "0 start job 2 with 1 on 0\n"
				  "0 start job 3 with 1 on 1\n"
				  "30 migrate job 1 rank 0 to 1\n");
	/* A rank on its way uses no processor at its destination. */
	assert_int_equal(r.record[2].end, 90 * USEC_PER_SEC);
	assert_int_equal(r.split[0].still, 64100 * USEC_PER_MSEC);
	assert_int_equal(r.split[1].still, 0);
	assert_true(r.split[0].page > r.split[1].page);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(sum_of(&r.split[i]), r.record[i].end);
	free(text);
	sim_result_clear(&r);
}

/*
 * The job is submitted at no host: of hosts with as few processes the one with
 * the most memory is taken.
 */
static void the_place_has_the_most_memory(void **state)
{
	static const struct line one[] = {
		{ .run = 10 * USEC_PER_SEC, .memory = 50 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(one, 1,
			"1x1x1x100000000,1x1x1x300000000,1x1x1x200000000",
			"g-loadsharing", &r);
	assert_string_equal(text, "0 start job 1 with 1 on 1\n");
	free(text);
	sim_result_clear(&r);
}

/*
 * Jobs of 70 and 65 MB page, and no host of 100 MB has room for them (60 or 50
 * are idle). The host with fewer processes is held back until its process ends;
 * jobs that come meanwhile go elsewhere. The largest process moves there, and
 * the host is released when that ends.
 */
static void a_host_is_held_back_for_the_largest(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
		{ .submit = 100 * USEC_PER_SEC,
		  .run = 10 * USEC_PER_SEC,
		  .home = 2,
		  .memory = 1 * MB },
	};
	struct sim_result r;
	char *text, *wanted;

	(void)state;
	text = plans_of(jobs, 6, "3x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	wanted = xasprintf("0 start job 1 with 1 on 0\n"
			   "0 start job 2 with 1 on 0\n"
			   "0 start job 3 with 1 on 1\n"
			   "0 start job 4 with 1 on 2\n"
			   "0 start job 5 with 1 on 2\n"
			   "30 reserve 1\n"
			   "100 start job 6 with 1 on 2\n"
			   "150 migrate job 1 rank 0 to 1\n"
			   "%" PRId64 " release 1\n",
			   r.record[0].end / USEC_PER_SEC);
	assert_string_equal(text, wanted);
	free(wanted);
	free(text);
	sim_result_clear(&r);
}

/* The host that is held back does not get empty. */
static void who_waits_too_long_lets_it_go(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000",
			"v-reconfiguration:settle=30,patience=50", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n80 release 1\n"));
	free(text);
	sim_result_clear(&r);
}

/* The second is on its way, far from home, until 100: the first has the processor for
 * itself until then, and half of it for the 50 s that are left of its work. */
static void what_stands_still_takes_nothing(void **state)
{
	static const struct line two[] = {
		{ .run = 150 * USEC_PER_SEC, .home = 1, .memory = 1 * MB },
		{ .run = 50 * USEC_PER_SEC, .home = 2, .memory = 1 * MB },
	};
	struct sim_result r;

	(void)state;
	run_table(two, 2, "1x1x1x100000000", "system=0,switch=0,remote=100",
		  "g-loadsharing", NULL, &r);
	assert_int_equal(r.record[0].end, 200 * USEC_PER_SEC);
	assert_int_equal(r.record[1].end, 200 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * Processes by host: 2, 1 and 2; the second is held back from 30 on until the first of
 * 1 and 2 has ended, as then nothing pages any more.
 */
static void skew_is_of_hosts_that_take_jobs(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
	};
	struct sim_result r;
	double first, last, area;
	char *text;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000",
			"v-reconfiguration:settle=30,patience=1000000", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"));
	first = fmin(r.record[0].end, r.record[1].end) / USEC_PER_SEC;
	last = fmax(r.record[0].end, r.record[1].end) / USEC_PER_SEC;
	/* 2 1 2; 2 - 2; 1 1 2; 0 1 2; 0 0 2 */
	area = 30 * sqrt(2. / 9) + (last - first) * sqrt(2. / 9) +
	       (20000 - last) * sqrt(6. / 9) + 20000 * sqrt(8. / 9);
	assert_int_equal(r.record[4].end, 40000 * USEC_PER_SEC);
	assert_true(fabs(r.averages.skew - area / 40000) < 1e-6);
	free(text);
	sim_result_clear(&r);
}

/* It pages, but all that is idle is no more than one host has: 5 of 100. */
static void little_idle_memory_is_not_worth_a_host(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 2, .memory = 95 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 3, "2x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_string_equal(text, "0 start job 1 with 1 on 0\n"
				  "0 start job 2 with 1 on 0\n"
				  "0 start job 3 with 1 on 1\n");
	free(text);
	sim_result_clear(&r);
}

/*
 * 40 + 39 + 38 + 37 page, and no host has 37 idle; the second is ready at 150.  With the
 * largest there the first still pages, and 39 fit beside 40; then it pages no more.
 */
static void others_follow_as_far_as_they_fit(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 40 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 39 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 38 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 37 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 70 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 3, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 3, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 4, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 4, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 5, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 5, .memory = 32 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 11, "5x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"
				     "150 migrate job 1 rank 0 to 1\n"
				     "150 migrate job 2 rank 0 to 1\n"));
	assert_null(strstr(text, "migrate job 3"));
	free(text);
	sim_result_clear(&r);
}

/* Its home is drained: it begins elsewhere, and at once. */
static void hosts_that_are_drained_take_nobody(void **state)
{
	static const struct line one[] = { { .submit = 10 * USEC_PER_SEC,
					     .run = 100 * USEC_PER_SEC,
					     .home = 1,
					     .memory = 1 * MB } };
	static const char *const policy[] = { "g-loadsharing",
					      "v-reconfiguration" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char events[] = "5 drain 0\n";
		struct sim_script script;
		struct sim_result r;

		assert_int_equal(script_parse(events, strlen(events), "test",
					      &script, NULL),
				 0);
		run_with(one, 1, "2x1x1x100000000",
			 "system=0,switch=0,remote=7",
			 (struct sim_config){ .policy = policy[i],
					      .script = &script },
			 &r);
		assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
		assert_int_equal(r.record[0].end, 117 * USEC_PER_SEC);
		sim_result_clear(&r);
		script_clear(&script);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_alone_pages_alone),
		cmocka_unit_test(phases_begin_when_their_work_is_done),
		cmocka_unit_test(no_microsecond_counts_twice),
		cmocka_unit_test(a_neighbour_that_grows),
		cmocka_unit_test(the_slowest_rank_sets_the_pace),
		cmocka_unit_test(skew_is_a_mean_over_time),
		cmocka_unit_test(the_largest_that_fits_leaves),
		cmocka_unit_test(the_place_has_the_most_memory),
		cmocka_unit_test(a_host_is_held_back_for_the_largest),
		cmocka_unit_test(who_waits_too_long_lets_it_go),
		cmocka_unit_test(what_stands_still_takes_nothing),
		cmocka_unit_test(skew_is_of_hosts_that_take_jobs),
		cmocka_unit_test(little_idle_memory_is_not_worth_a_host),
		cmocka_unit_test(others_follow_as_far_as_they_fit),
		cmocka_unit_test(hosts_that_are_drained_take_nobody),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
