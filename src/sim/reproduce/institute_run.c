/* institute_run.c - one long job on the institute's hosts, see institute_run.h */
#include "sim/reproduce/institute_run.h"

#include <errno.h>
#include <math.h>

#include "model/job.h"
#include "model/terms.h"
#include "policy/hosts/sed_state.h"
#include "sim/engine/sim.h"
#include "sim/reproduce/schnor.h"
#include "sim/workload/script.h"

enum { DAYS = 4 };

static const double load_reserv = 0.5; /* of dynamic-sed, by default */

/* ---- the job ---- */

struct one_job {
	struct workload base;
	usec_t submit;
	uint32_t size, min_size;
	bool given;
};

/* It has work for longer than it is let run. */
static int one_next(struct workload *workload, struct workload_job *ret,
		    struct error *err)
{
	struct one_job *one = (struct one_job *)workload;

	(void)err;
	if (one->given)
		return 0;
	one->given = true;
	*ret = (struct workload_job){
		.id = 1,
		.submit = one->submit,
		.run = 100 * DAYS * USEC_PER_DAY,
		.estimate = 100 * DAYS * USEC_PER_DAY,
		.size = one->size,
		.min_size = one->min_size,
		.kind = one->size > one->min_size ? JOB_MOLDABLE : JOB_RIGID,
	};
	return 1;
}

static const struct workload_ops one_ops = { .name = "one job",
					     .next = one_next };

/* ---- what is seen of it ---- */

struct watch {
	struct institute_result *ret;
	usec_t start, since; /* -1: it does not run yet */
	double delay;	     /* of its most delayed rank, since then */
	double sum;
	unsigned hour[24 * DAYS + 1];
};

/* (5.12), and the same with what SED2 counts beside it. */
static void measure(const struct view *view, const struct job *job,
		    double *delay, double *reserved)
{
	*delay = *reserved = 0;
	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *h = &view->hosts[job->hosts[i]];
		double load = h->load + h->nr_ranks;

		*delay = fmax(*delay, h->speed * load);
		*reserved =
			fmax(*reserved,
			     h->speed * (load + (h->users ? load_reserv : 0)));
	}
}

static void note_event(void *data, const struct view *view,
		       const struct event *e)
{
	struct watch *w = data;
	const struct job *j;
	double reserved = 0;

	if (e->type == EVENT_START)
		w->start = w->since = view->now;
	if (w->start < 0)
		return;
	w->sum += w->delay * usec_to_seconds(view->now - w->since);
	w->since = view->now;
	for_each_running(j, view) measure(view, j, &w->delay, &reserved);
	if (e->type == EVENT_START) {
		w->ret->size = e->job->n;
		w->ret->promised = sed_class(reserved);
	}
	if (e->type == EVENT_MIGRATE)
		w->hour[(view->now - w->start) / (3600 * USEC_PER_SEC)]++;
}

static void sum_up(const struct watch *w)
{
	struct institute_result *ret = w->ret;
	double hours = usec_to_seconds(w->since - w->start) / 3600;

	ret->delay = w->sum / 3600 / hours;
	for (unsigned i = 0; i < 24 * DAYS; i++) {
		ret->moves += w->hour[i] / hours;
		ret->moves_most = fmax(ret->moves_most, w->hour[i]);
	}
}

/* ---- a run ---- */

static int run_job(const struct institute_setup *s,
		   const struct activity *people, uint32_t size,
		   uint32_t min_size, struct institute_result *ret,
		   struct error *err)
{
	struct host hosts[INSTITUTE_HOSTS];
	struct one_job one = {
		.base = { .ops = &one_ops, .procs = INSTITUTE_HOSTS },
		.submit = llround(s->start * 3600) * USEC_PER_SEC,
		.size = size,
		.min_size = min_size
	};
	struct watch w = { .ret = ret, .start = -1 };
	const struct sim_observer observer = { .event = note_event,
					       .data = &w };
	/* After four days its user takes it away. */
	struct script_event end = { .at = one.submit + DAYS * USEC_PER_DAY,
				    .type = SCRIPT_CANCEL,
				    .target = 1 };
	const struct sim_script script = { .event = &end, .nr = 1 };
	struct owner_terms terms;
	const struct sim_config c = {
		.workload = &one.base,
		.policy = s->policy,
		.hosts = hosts,
		.nr_hosts = INSTITUTE_HOSTS,
		.costs = { .migrate = SCHNOR_MIGRATE,
			   .migrate_rank = SCHNOR_MIGRATE_RANK },
		.seed = s->seed,
		.observer = &observer,
		.script = &script,
		.activity = people,
		.terms = &terms,
		.no_terms = true,
	};
	struct sim_result result;
	int rc;

	*ret = (struct institute_result){ .size = 0 };
	institute_hosts(hosts);
	owner_terms_init(&terms);
	rc = sim_run(&c, &result, err);
	if (!rc) {
		if (w.start < 0)
			rc = error_set(err, -ERANGE,
				       "a job of %u nodes was never started",
				       (unsigned)size);
		else
			sum_up(&w);
		sim_result_clear(&result);
	}
	owner_terms_clear(&terms);
	return rc;
}

int institute_run(const struct institute_setup *setup, uint64_t replication,
		  struct institute_result ret[INSTITUTE_JOBS],
		  struct error *err)
{
	static const double share[] = { 1, 0.7, 0.5 };
	struct activity people;
	int rc;

	institute_draw(&setup->law, DAYS + 2, setup->seed, replication,
		       &people);
	rc = run_job(setup, &people, 1000, 1, &ret[JOB_GREEDY], err);
	for (int j = JOB_70; j < INSTITUTE_JOBS && !rc; j++) {
		uint32_t size = (uint32_t)(share[j] * ret[JOB_GREEDY].size);

		size = size ? size : 1;
		rc = run_job(setup, &people, size, size, &ret[j], err);
	}
	activity_clear(&people);
	return rc;
}
