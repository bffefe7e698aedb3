/*
 * simulate.c - one run of a sweep's cell, and what it measures
 *
 * The measures are those of Ismail 1995: mean response time, scheduling
 * effectiveness S_e, folding fragmentation (section 1.1), mean actual folding
 * factor n / P_alloc (section 2.3.2.2), allocation changes (section 4.4.2),
 * and the usual ones.  Warm-up jobs are not counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policies.h"
#include "sim/engine/paging.h"
#include "sim/engine/sim.h"
#include "sim/sweep/sweep.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"
#include "sim/workload/swf.h"

static const double bound = 10; /* seconds, of the bounded slowdown */

/* Which quarter of the machine a job of that size needs. */
static int quarter(uint32_t size, uint32_t procs)
{
	int q = procs ? (int)(((uint64_t)size * 4 + procs - 1) / procs) - 1 : 3;

	return q < 0 ? 0 : q > 3 ? 3 : q;
}

static void add_job(const struct sim_record *job, uint32_t procs, double *value,
		    double *count)
{
	double response = usec_to_seconds(job->end - job->submit);
	double run = usec_to_seconds(job->run);
	double wait = usec_to_seconds(job->start - job->submit);
	double floor_run = run > bound ? run : bound;
	int q = quarter(job->size, procs);

	value[METRIC_RESPONSE] += response;
	value[METRIC_WAIT] += wait;
	value[METRIC_SLOWDOWN] += run > 0 ? response / run : 1;
	value[METRIC_BOUNDED] +=
		response > floor_run ? response / floor_run : 1;
	value[METRIC_EXECUTION] += usec_to_seconds(job->end - job->start);
	value[METRIC_COMPUTE] += usec_to_seconds(job->end - job->start) -
				 (double)job->stood_secs;
	value[METRIC_FOLDING] +=
		job->procs ? (double)job->size / job->procs : 1;
	value[METRIC_CHANGES] += job->resizes;
	value[METRIC_CHANGED] += job->resizes > 0;
	value[METRIC_SMALL + q] += response;
	count[METRIC_SMALL + q]++;
}

/* What passes did to running jobs. */
struct changes {
	uint64_t instants;   /* with any change of a running job's processors */
	uint64_t processors; /* that such jobs got or gave up */
};

static void note_plan(void *data, const struct view *view,
		      const struct plan *plan)
{
	struct changes *changes = data;
	bool any = false;

	(void)view;
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_entry *e = &plan->entry[i];

		if (e->type != PLAN_RESIZE)
			continue;
		any = true;
		changes->processors +=
			e->n > e->job->n ? e->n - e->job->n : e->job->n - e->n;
	}
	changes->instants += any;
}

/* Without any migration the gap is the whole run: it is at least that. */
static void measure_migrations(const struct sim_result *r, double *value)
{
	double events = (double)r->migration_events;

	value[METRIC_MIGRATED] =
		r->starts_of_ranks
			? (double)r->migrations / (double)r->starts_of_ranks
			: 0;
	value[METRIC_MIGRATION_GAP] =
		usec_to_seconds(r->end - r->begin) / (events > 0 ? events : 1);
	value[METRIC_MIGRATION_RANKS] =
		events > 0 ? (double)r->migrations / events : 0;
}

/* Where the time of jobs went, with memory. */
static void measure_memory(const struct sim_result *r, double *value)
{
	double n = (double)(r->nr - r->nr_warmup);

	for (size_t i = r->nr_warmup; r->memory && i < r->nr; i++) {
		const struct sim_split *s = &r->split[i];
		usec_t others = s->queue + s->run - s->cpu - s->page;

		value[METRIC_PAGE] += usec_to_seconds(s->page) / n;
		value[METRIC_QUEUEING] += usec_to_seconds(others) / n;
		value[METRIC_MOVING] += usec_to_seconds(s->still) / n;
	}
	value[METRIC_IDLE_MEMORY] = r->averages.idle_memory;
	value[METRIC_SKEW] = r->averages.skew;
}

static void measure(const struct sim_result *r, const struct changes *changes,
		    double *value)
{
	double count[NR_METRICS] = { 0 }, jobs = 0;
	double all = r->nr ? (double)r->nr : 1;

	for (size_t i = r->nr_warmup; i < r->nr; i++)
		if (r->record[i].end >= 0 && r->record[i].start >= 0) {
			add_job(&r->record[i], r->procs, value, count);
			jobs++;
		}
	for (int m = 0; m < NR_METRICS; m++) {
		if (m < METRIC_SMALL)
			count[m] = jobs;
		if (count[m] > 0)
			value[m] /= count[m];
	}
	measure_migrations(r, value);
	measure_memory(r, value);
	value[METRIC_INSTANTS] = (double)changes->instants / all;
	value[METRIC_REASSIGNED] = (double)changes->processors / all;
	value[METRIC_UTILIZATION] = r->averages.utilization;
	value[METRIC_EFFECTIVENESS] = r->averages.effectiveness;
	value[METRIC_FRAGMENTATION] = r->averages.fragmentation;
}

/* What follows this beginning of a name; NULL: it begins otherwise. */
static const char *name_after(const char *name, const char *begin)
{
	size_t n = strlen(begin);

	return strncmp(name, begin, n) ? NULL : name + n;
}

/* A trace, where some jobs may be left out (stint sim counts them). */
static int open_trace(const struct sweep *sweep, const struct sweep_cell *c,
		      struct workload **ret, struct error *err)
{
	struct swf_options options = { .procs = sweep->procs,
				       .nr_jobs = sweep->nr_jobs,
				       .extra = sweep->extra_ignored
							? SWF_EXTRA_IGNORE
							: SWF_EXTRA_REFUSE };
	const char *path = name_after(c->workload, SWEEP_SWF);
	struct swf_trace trace;
	int rc;

	if (!path) {
		path = name_after(c->workload, SWEEP_FOLLOW);
		options.follow = true;
	}
	rc = swf_read(path, &options, &trace, err);

	if (rc < 0)
		return rc;
	*ret = swf_workload(&trace, c->load);
	return 0;
}

static int open_workload(const struct sweep *sweep, const struct sweep_cell *c,
			 uint32_t replication, struct workload **ret,
			 struct error *err)
{
	struct workload_setup setup = { .procs = sweep->procs,
					.load = c->load,
					.nr_jobs = sweep->nr_jobs,
					.seed = sweep->seed,
					.replication = replication };
	struct workload *w;
	bool trace = name_after(c->workload, SWEEP_SWF) ||
		     name_after(c->workload, SWEEP_FOLLOW);
	int rc = trace ? open_trace(sweep, c, &w, err)
		       : workload_create(c->workload, &setup, &w, err);

	if (rc < 0)
		return rc;
	if (c->speedup)
		rc = attach_speedup(&w, c->speedup, sweep->seed, replication,
				    err);
	if (rc < 0) {
		workload_destroy(w);
		return rc;
	}
	*ret = w;
	return 0;
}

/* Hosts named by the cell or the workload; none leaves the outputs alone. */
static int open_machine(const struct sweep_cell *c, const struct workload *w,
			struct host **ret, uint32_t *ret_nr, struct error *err)
{
	const char *text = c->hosts ? c->hosts : w->hosts;

	return text ? machine_parse(text, ret, ret_nr, err) : 0;
}

/* How hosts page, if the cell or the workload says so. */
static int open_paging(const struct sweep_cell *c, const struct workload *w,
		       struct paging *model, const struct paging **ret,
		       struct error *err)
{
	const char *text = c->paging ? c->paging : w->paging;
	int rc = text ? paging_parse(text, model, err) : 0;

	if (!rc && text)
		*ret = model;
	return rc;
}

int sweep_simulate(const struct sweep *sweep, uint32_t cell,
		   uint32_t replication, double *value, struct error *err)
{
	const struct sweep_cell *c = &sweep->cell[cell];
	struct changes changes = { 0 };
	const struct sim_observer observer = { .plan = note_plan,
					       .data = &changes };
	struct sim_config config = { .policy = c->policy,
				     .procs = sweep->procs,
				     .costs = c->costs,
				     .seed = sweep->seed,
				     .observer = &observer };
	struct sim_result result = { 0 };
	struct host *hosts = NULL;
	struct paging model;
	int rc = open_workload(sweep, c, replication, &config.workload, err);

	if (!rc)
		rc = open_machine(c, config.workload, &hosts, &config.nr_hosts,
				  err);
	config.hosts = hosts;
	if (!rc)
		rc = open_paging(c, config.workload, &model, &config.paging,
				 err);
	if (!rc)
		rc = sim_run(&config, &result, err);
	if (!rc && result.nr_rejected)
		rc = error_set(err, -EINVAL, "%s", result.why_rejected);
	if (!rc)
		measure(&result, &changes, value);
	else
		error_prefix(err, rc, "%s on %s at load %g", c->policy,
			     c->workload, c->load);
	sim_result_clear(&result);
	workload_destroy(config.workload);
	free(hosts);
	return rc;
}

/* A policy made for the machine it would see. */
static int check_policy(const struct sweep_cell *c, uint32_t procs,
			const struct host *hosts, uint32_t nr_hosts,
			struct error *err)
{
	struct policy *policy;
	struct view view;
	int rc;

	if (nr_hosts)
		view_init_hosts(&view, hosts, nr_hosts);
	else
		view_init(&view, procs);
	rc = policy_create(c->policy, 0, &view, &policy, err);
	if (!rc)
		policy_destroy(policy);
	view_clear(&view);
	return rc;
}

static int check_cell(const struct sweep *sweep, const struct sweep_cell *c,
		      struct error *err)
{
	struct workload *w = NULL;
	struct host *hosts = NULL;
	const char *params;
	const struct policy_ops *ops = policy_of(c->policy, &params, err);
	uint32_t nr_hosts = 0;
	int rc;

	if (!ops)
		return -ENOENT;
	rc = open_workload(sweep, c, 0, &w, err);
	if (!rc)
		rc = open_machine(c, w, &hosts, &nr_hosts, err);
	if (!rc && w->nr_jobs && w->nr_warmup >= w->nr_jobs)
		rc = error_set(err, -EINVAL,
			       "%s: all of %" PRIu64 " jobs are warm-up (the "
			       "first %" PRIu64 " are not counted): take more",
			       c->workload, w->nr_jobs, w->nr_warmup);
	/* Hosts that are not described are made by the engine. */
	if (!rc && (nr_hosts || !(ops->flags & POLICY_HOSTS)))
		rc = check_policy(c, sweep->procs ? sweep->procs : w->procs,
				  hosts, nr_hosts, err);
	free(hosts);
	workload_destroy(w);
	return rc;
}

int sweep_check(const struct sweep *sweep, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < sweep->nr && !rc; i++)
		rc = check_cell(sweep, &sweep->cell[i], err);
	return rc;
}
