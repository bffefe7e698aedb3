/*
 * proof.c - what Schnor 1997 published: section 4.3.2, computing
 * times under the Proof workload (S-4d)
 *
 * The text reckons computing times of states that a queue which never empties
 * keeps a system in.  They are computed here as it does: the system is brought
 * to the state, then more jobs than it can ever serve come at once, and the
 * mean is taken over whole cycles of its jobs.  Curves over Poisson arrivals
 * come after that.
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/engine/sim.h"
#include "sim/reproduce/schnor.h"
#include "sim/workload/machine.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* A hundred minutes on one fastest host, whoever it is. */
enum { DEMAND = 6000, MAXSIZE = 30 };

/* ---- states under a queue that never empties ---- */

/* Some jobs that come one by one, then very many at once. */
struct flood {
	struct workload base;
	const int *arrival; /* seconds; the last is when the flood comes */
	int nr_arrivals;
	int64_t id, last;
};

static int flood_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	struct flood *f = (struct flood *)workload;
	int64_t i = f->id < f->nr_arrivals ? f->id : f->nr_arrivals - 1;

	(void)err;
	if (f->id == f->last)
		return 0;
	*ret = (struct workload_job){ .id = ++f->id,
				      .submit = f->arrival[i] * USEC_PER_SEC,
				      .run = DEMAND * USEC_PER_SEC / MAXSIZE,
				      .estimate =
					      DEMAND * USEC_PER_SEC / MAXSIZE,
				      .size = MAXSIZE,
				      .min_size = 1,
				      .kind = JOB_MOLDABLE };
	return 1;
}

static const struct workload_ops flood_ops = { .name = "flood",
					       .next = flood_next };

/*
 * Mean computing time of the jobs that start within whole cycles.  By
 * AFTER each job of the prologue has ended, and CYCLES later the flood has not.
 */
enum { AFTER = 9600, CYCLE = 4800, CYCLES = 10, FLOOD = 500 };

static double mean_in_cycles(const struct sim_result *r)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < r->nr; i++) {
		double start = usec_to_seconds(r->record[i].start);
		double end = usec_to_seconds(r->record[i].end);

		if (start < AFTER || start >= AFTER + CYCLES * CYCLE)
			continue;
		sum += end - start;
		n++;
	}
	return sum / n;
}

struct saturated {
	const char *what, *policy, *hosts;
	int arrival[4], nr; /* prologue and flood, in seconds */
	double published, precision;
};

static int run_saturated(const struct saturated *s, double *ret,
			 struct error *err)
{
	struct flood f = { .base = { .ops = &flood_ops },
			   .arrival = s->arrival,
			   .nr_arrivals = s->nr,
			   .last = FLOOD };
	struct sim_config config = { .workload = &f.base, .policy = s->policy };
	struct sim_result result = { 0 };
	struct host *hosts = NULL;
	int rc = machine_parse(s->hosts, &hosts, &config.nr_hosts, err);

	config.hosts = hosts;
	if (!rc)
		rc = sim_run(&config, &result, err);
	if (!rc)
		*ret = mean_in_cycles(&result);
	sim_result_clear(&result);
	free(hosts);
	return rc;
}

#define SYSTEM1 "5x1,25x4"
#define SYSTEM2 "20x1,10x4"

/* (5,0,0,25): the second job is left alone at 800 s, while nobody waits.
 * (10+10,0,0,10): the first ends at 300 s, and the second moves. */
static const struct saturated states[] = {
	{ "system 1, SED1-NU in (0,5,0,30)",
	  "sed1:upgrade=no",
	  SYSTEM1,
	  { 0 },
	  1,
	  1200,
	  0.5 },
	{ "system 1, SED1 in (5,0,0,25)",
	  "sed1",
	  SYSTEM1,
	  { 0, 100, 900, 1000 },
	  4,
	  1067,
	  0.5 },
	{ "system 2, SED-NM in (20,0,0,10)",
	  "sed2:migrate=no",
	  SYSTEM2,
	  { 0 },
	  1,
	  533.3,
	  0.05 },
	{ "system 2, SED in (10+10,0,0,10)",
	  "sed2",
	  SYSTEM2,
	  { 0, 100, 310, 320 },
	  4,
	  800,
	  0.5 },
};

static int tell_states(struct reproduce *r, struct error *err)
{
	for (size_t i = 0; i < NR(states); i++) {
		double mean;
		int rc = run_saturated(&states[i], &mean, err);

		if (rc < 0)
			return rc;
		reproduce_number(r, reproduce_text("%s", states[i].what),
				 states[i].published, states[i].precision,
				 (struct estimate){ mean, mean, mean }, NULL);
	}
	return 0;
}

/* ---- curves ---- */

/*
 * Up to which arrival rate migration shortens the mean computing time under
 * Proof on system 2: slow hosts are left, but the fast ones stay divided.
 */
static int rate_of_turn(struct reproduce *r, struct sim_costs costs, int metric,
			struct estimate *ret, struct error *err)
{
	static const char *const policies[] = { "sed2:migrate=no", "sed2",
						NULL };
	static const double rates[] = { 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8 };
	double loads[NR(rates)];
	struct estimate saved[NR(rates)];
	struct reproduce_grid g;
	int rc;

	for (size_t i = 0; i < NR(rates); i++)
		loads[i] = SCHNOR_RATE2(rates[i], DEMAND);
	g = schnor_grid4(policies, "schnor:kind=proof,system=2", loads,
			 NR(rates));
	g.costs = costs;
	g.precision = 0.02;
	rc = reproduce_grid_run(r, &g, err);
	for (size_t i = 0; !rc && i < NR(rates); i++)
		saved[i] = reproduce_difference(r, &g, 0, 1, i, metric);
	if (!rc)
		*ret = reproduce_crossing(rates, saved, NR(rates));
	reproduce_grid_clear(&g);
	return rc;
}

#define TURN_COSTS                                                             \
	{                                                                      \
		.migrate = SCHNOR_MIGRATE, .migrate_rank = SCHNOR_MIGRATE_RANK \
	}

/* Its row, and how it depends on what a migration costs, and on whether a job
 * that stands still for it counts as computing. */
static int tell_turn(struct reproduce *r, struct error *err)
{
	static const struct {
		const char *text; /* NULL: the row */
		struct sim_costs costs;
		int metric;
	} readings[] = {
		{ NULL, TURN_COSTS, METRIC_COMPUTE },
		{ "the standstill counted as computing", TURN_COSTS,
		  METRIC_EXECUTION },
		{ "the same, the ranks' transfers at the same time, 22.7 s in "
		  "all",
		  { .migrate = SCHNOR_MIGRATE + SCHNOR_MIGRATE_RANK },
		  METRIC_EXECUTION },
		{ "no standstill", { 0 }, METRIC_COMPUTE },
	};
	int rc = 0;

	for (size_t i = 0; i < NR(readings) && !(i && r->quick); i++) {
		struct estimate e;

		rc = rate_of_turn(r, readings[i].costs, readings[i].metric, &e,
				  err);
		if (rc < 0)
			break;
		if (i)
			reproduce_note(r,
				       reproduce_text("%s: %.2f (%.2f to %.2f)",
						      readings[i].text, e.value,
						      e.low, e.high));
		else
			reproduce_number(
				r,
				reproduce_text("system 2, jobs in 1000 s up to "
					       "which migration shortens the "
					       "computing"),
				2.3, 0.1, e, NULL);
	}
	return rc;
}

/*
 * System 1.  Upgrading comes first (eager), which section 4.3.2 takes for
 * granted; the other reading is in the note.
 */
static int tell_upgrades(struct reproduce *r, struct error *err)
{
	/* More than the system can carry, and where it is stable even without
	 * upgrading (up to 0.889). */
	static const double loads[] = { 3, 0.5, 0.8 };
	static const char *const policies[] = { "sed1:upgrade=no",
						"sed1:eager=yes", "sed1",
						NULL };
	struct reproduce_grid g = schnor_grid4(
		policies, "schnor:kind=proof,system=1", loads, NR(loads));
	double mean[3][NR(loads)];
	int rc;

	/* No precision is asked of response times that grow without end. */
	g.precision = INFINITY;
	rc = reproduce_grid_run(r, &g, err);
	if (rc < 0)
		goto out;
	for (size_t p = 0; p < 3; p++)
		for (size_t l = 0; l < NR(loads); l++)
			mean[p][l] = reproduce_mean(r, &g, p, l, METRIC_COMPUTE)
					     .value;
	reproduce_number(r, reproduce_text("system 1, SED1-NU, high load"),
			 1200, 12, reproduce_mean(r, &g, 0, 0, METRIC_COMPUTE),
			 NULL);
	reproduce_range(
		r, reproduce_text("system 1, SED1, upper bound of the curve"),
		0, 1077, reproduce_mean(r, &g, 1, 0, METRIC_COMPUTE),
		reproduce_text("upgrading comes before the queue is looked at "
			       "(sed1:eager=yes): %.0f s at load 0.5, %.0f s "
			       "at 0.8, and never above the bound",
			       mean[1][1], mean[1][2]));
	reproduce_note(
		r, reproduce_text(
			   "upgrading only when nobody waits: %.0f s at load "
			   "0.5, %.0f s at 0.8, and %.0f s under a queue that "
			   "never empties and so keeps the system in "
			   "(0,5,0,30), where the curve of SED1 would meet "
			   "that of SED1-NU",
			   mean[2][1], mean[2][2], mean[2][0]));
out:
	reproduce_grid_clear(&g);
	return rc;
}

static int tell_migrations(struct reproduce *r, struct error *err)
{
	static const double load = 0.98;
	static const char *const policies[] = { "sed2:migrate=no", "sed2",
						NULL };
	struct reproduce_grid g =
		schnor_grid4(policies, "schnor:kind=proof,system=2", &load, 1);
	int rc;

	g.precision = INFINITY;
	rc = reproduce_grid_run(r, &g, err);
	if (!rc) {
		reproduce_number(
			r, reproduce_text("system 2, SED-NM, high load"), 533,
			6, reproduce_mean(r, &g, 0, 0, METRIC_COMPUTE), NULL);
		reproduce_range(
			r,
			reproduce_text("system 2, SED, high load: between "
				       "(20,0,0,10)'s 533 and "
				       "(10+10,0,0,10)'s 800"),
			533, 800, reproduce_mean(r, &g, 1, 0, METRIC_COMPUTE),
			NULL);
	}
	reproduce_grid_clear(&g);
	return rc;
}

int schnor_s4d(struct reproduce *r, struct error *err)
{
	int rc = tell_states(r, err);

	if (!rc)
		rc = tell_upgrades(r, err);
	if (!rc)
		rc = tell_migrations(r, err);
	return rc < 0 ? rc : tell_turn(r, err);
}
