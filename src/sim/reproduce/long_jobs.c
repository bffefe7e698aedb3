/*
 * long_jobs.c - what Schnor 1997 published: section 5.6, the most nodes that long
 * jobs may have, P_max, in the text's example
 */
#include "model/job.h"
#include "sim/engine/sim.h"
#include "sim/reproduce/schnor.h"
#include "sim/workload/plain_host.h"
#include "sim/workload/script.h"

/* One host of factor 1 and six of 4: idle, (1, 2, 3, 10) nodes are available. */
enum { HOSTS = 7, NODES = 10, JOBS_MOST = 2 };

struct example {
	struct workload base;
	const uint32_t *most, *least; /* of each job, of which there are nr */
	uint32_t nr, next;
	uint32_t got[JOBS_MOST];
};

static int example_next(struct workload *workload, struct workload_job *ret,
			struct error *err)
{
	struct example *e = (struct example *)workload;
	uint32_t i = e->next;

	(void)err;
	if (i == e->nr)
		return 0;
	e->next++;
	*ret = (struct workload_job){
		.id = i + 1,
		.submit = i * USEC_PER_SEC,
		.run = 30 * USEC_PER_DAY,
		.estimate = 30 * USEC_PER_DAY,
		.size = e->most[i],
		.min_size = e->least[i],
		.kind = e->most[i] > e->least[i] ? JOB_MOLDABLE : JOB_RIGID,
	};
	return 1;
}

static const struct workload_ops example_ops = { .name = "long jobs",
						 .next = example_next };

static void note_start(void *data, const struct view *view,
		       const struct event *e)
{
	struct example *x = data;

	(void)view;
	if (e->type == EVENT_START)
		x->got[e->job->id - 1] = e->job->n;
}

/* One after the other, while those before it run. */
static int run_example(const uint32_t *most, const uint32_t *least, uint32_t nr,
		       struct example *ret, struct error *err)
{
	struct script_event end[JOBS_MOST];
	const struct sim_script script = { .event = end, .nr = nr };
	const struct sim_observer observer = { .event = note_start,
					       .data = ret };
	struct host hosts[HOSTS];
	const struct sim_config c = { .workload = &ret->base,
				      .policy = "dynamic-sed-1997",
				      .hosts = hosts,
				      .nr_hosts = HOSTS,
				      .observer = &observer,
				      .script = &script };
	struct sim_result result;
	int rc;

	*ret = (struct example){ .base = { .ops = &example_ops,
					   .procs = HOSTS },
				 .most = most,
				 .least = least,
				 .nr = nr };
	for (uint32_t i = 0; i < HOSTS; i++)
		hosts[i] = plain_host("", i ? 4 : 1, 1, 0);
	for (uint32_t i = 0; i < nr; i++)
		end[i] = (struct script_event){ .at = 3600 * USEC_PER_SEC,
						.type = SCRIPT_CANCEL,
						.target = i + 1 };
	rc = sim_run(&c, &result, err);
	if (!rc)
		sim_result_clear(&result);
	return rc;
}

static void tell_nodes(struct reproduce *r, const char *what,
		       uint32_t published, uint32_t ours)
{
	reproduce_number(r, reproduce_text("%s", what), published, 0,
			 (struct estimate){ ours, ours, ours }, NULL);
}

int schnor_pmax(struct reproduce *r, struct error *err)
{
	static const uint32_t most[] = { NODES }, least[] = { 1 };
	static const uint32_t most2[] = { 4, NODES }, least2[] = { 4, 1 };
	struct example one, two;
	int rc = run_example(most, least, 1, &one, err);

	if (!rc)
		rc = run_example(most2, least2, 2, &two, err);
	if (rc < 0)
		return rc;
	tell_nodes(r,
		   "idle (1, 2, 3, 10): nodes of a long job that asks for all",
		   7, one.got[0]);
	tell_nodes(r, "the same while a long job has 4", 3, two.got[1]);
	return 0;
}
