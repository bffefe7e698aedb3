/* test_list.c - see test_list.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/job.h"
#include "sim/engine/test_list.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"

struct list {
	struct workload base;
	const struct row *row;
	int64_t nr, at;
};

static int list_next(struct workload *workload, struct workload_job *ret,
		     struct error *err)
{
	struct list *l = (struct list *)workload;
	const struct row *r = &l->row[l->at];

	(void)err;
	if (l->at == l->nr)
		return 0;
	*ret = (struct workload_job){
		.id = ++l->at,
		.submit = r->submit * USEC_PER_SEC,
		.run = r->run * USEC_PER_SEC,
		.estimate = r->run * USEC_PER_SEC,
		.size = (uint32_t)r->size,
		.min_size = (uint32_t)(r->min ? r->min : r->size),
		.kind = r->min ? JOB_MALLEABLE : JOB_RIGID,
		.user = r->user,
	};
	return 1;
}

static const struct workload_ops list_ops = { .name = "list",
					      .next = list_next };

void simulate_list(const char *policy, const char *machine,
		   struct sim_config config, const struct row *row, int64_t nr,
		   struct sim_result *ret)
{
	struct list l = { .base = { .ops = &list_ops }, .row = row, .nr = nr };
	struct error err = ERROR_INIT;
	struct host *hosts = NULL;

	config.workload = &l.base;
	config.policy = policy;
	if (strchr(machine, 'x')) {
		assert_int_equal(
			machine_parse(machine, &hosts, &config.nr_hosts, &err),
			0);
		config.hosts = hosts;
	} else {
		config.procs = (uint32_t)strtoul(machine, NULL, 10);
	}
	if (sim_run(&config, ret, &err) < 0)
		fail_msg("%s", err.text);
	free(hosts);
}

void check(const char *policy, const char *machine, const struct row *row,
	   int64_t nr, const double *start)
{
	struct sim_result result;

	simulate_list(policy, machine, (struct sim_config){ 0 }, row, nr,
		      &result);
	for (int64_t i = 0; i < nr; i++)
		if (result.record[i].start != start[i] * USEC_PER_SEC)
			fail_msg("%s: job %d starts at %g, not %g", policy,
				 (int)i + 1,
				 usec_to_seconds(result.record[i].start),
				 start[i]);
	sim_result_clear(&result);
}

void check_split(const struct sim_result *result, int job, int queue,
		 int running, int still, int frozen, int lost)
{
	const struct sim_split *s = &result->split[job - 1];

	assert_int_equal(s->queue, queue * USEC_PER_SEC);
	assert_int_equal(s->run, running * USEC_PER_SEC);
	assert_int_equal(s->still, still * USEC_PER_SEC);
	assert_int_equal(s->frozen, frozen * USEC_PER_SEC);
	assert_int_equal(s->lost, lost * USEC_PER_SEC);
}

struct activity read_activity(const char *script)
{
	char *text = strdup(script);
	struct activity a;
	struct error err;

	if (activity_parse(text, strlen(text), "test", &a, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	return a;
}

void run_owned(const char *policy, const char *machine, const char *script,
	       struct sim_config config, const struct row *row, int64_t nr,
	       struct sim_result *ret)
{
	struct activity a = read_activity(script);

	config.activity = &a;
	config.terms = &test_terms;
	simulate_list(policy, machine, config, row, nr, ret);
	activity_clear(&a);
}
