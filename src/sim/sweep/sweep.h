/*
 * sweep.h - policies x workloads x loads, replicated until it is known
 *
 * A cell is one combination.  Replication r of any cell draws its jobs from
 * (seed, r): all policies meet the same jobs (common random numbers), at every
 * load the same sizes and times.  A cell is done at the first number n of
 * replications, from min on, at which the half-width of every aimed-at mean is
 * small enough; cells of the same group are done together, so that they can be
 * compared pair by pair.  Only replications 0..n-1 count.  So the outcome
 * depends on the plan alone, never on the number of workers, nor on what was
 * computed beyond what was needed, nor on interruptions.
 *
 * Every run is appended to the results file, if there is one, as it is done
 * (one write a run).  A sweep with the same file takes from it what is there.
 *
 * Several processes, on any machines that share the results file's directory,
 * do one sweep together if each is given its rank among them: that needs a
 * results file.  Each returns the same results; ranks from 1 on keep their
 * runs in files beside the results file, which rank 0 takes in at the end.
 */
#ifndef SIM_SWEEP_SWEEP_H
#define SIM_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "core/units.h"
#include "sim/engine/sim.h"
#include "sim/report/stats.h"

/* What a run measures; sweep_metrics[] tells their names. */
enum sweep_metric {
	METRIC_RESPONSE, /* mean of end - submit, seconds */
	METRIC_WAIT,
	METRIC_SLOWDOWN,
	METRIC_BOUNDED,	      /* bounded slowdown, 10 s */
	METRIC_UTILIZATION,   /* share of processors allocated, over time */
	METRIC_EFFECTIVENESS, /* S_e */
	METRIC_FRAGMENTATION, /* folding fragmentation */
	METRIC_FOLDING,	      /* mean actual folding factor n / P_alloc */
	METRIC_CHANGES,	      /* allocation changes a job, starts not counted */
	METRIC_CHANGED,	      /* share of jobs with any such change */
	METRIC_INSTANTS,      /* instants with such a change, a job */
	METRIC_REASSIGNED, /* processors running jobs got or gave up, a job */
	METRIC_EXECUTION,  /* mean of end - first start, seconds */
	METRIC_COMPUTE,	   /* that, less what it stood still for changes */
	METRIC_MIGRATED,   /* ranks migrated / ranks started */
	METRIC_MIGRATION_GAP,	/* seconds between instants of migration */
	METRIC_MIGRATION_RANKS, /* ranks that migrate at such an instant */
	METRIC_SMALL,		/* mean response of jobs by size: quarters of */
	METRIC_MEDIUM,		/* the machine (a coarse fairness curve) */
	METRIC_LARGE,
	METRIC_HUGE,
	METRIC_PAGE,	 /* with memory: mean seconds a job paged, waited for */
	METRIC_QUEUEING, /* a host or its processors, and was on its way; */
	METRIC_MOVING,
	METRIC_IDLE_MEMORY, /* bytes that are idle, of all hosts */
	METRIC_SKEW,	    /* standard deviation of hosts' jobs */
	NR_METRICS
};

struct sweep_metric_info {
	const char *name, *unit, *summary;
};
extern const struct sweep_metric_info sweep_metrics[NR_METRICS];

/* The metric called name, or -1. */
int sweep_metric_find(const char *name);

/* What begins the name of a trace's workload; the same where jobs come after one another
 * (workload_follower). */
#define SWEEP_SWF    "swf:"
#define SWEEP_FOLLOW "swf+follow:"

struct sweep_cell {
	const char *policy; /* "NAME:key=value,..." */
	const char *
		workload; /* likewise, or SWEEP_SWF or SWEEP_FOLLOW and a file */
	double load;	  /* 0: as the workload is */
	const char
		*speedup; /* for sim/workload/attach.h; NULL: as the jobs are */
	const char
		*hosts; /* for sim/workload/machine.h; NULL: the workload's */
	const char *paging; /* for sim/engine/paging.h; NULL: the workload's */
	struct sim_costs costs;
	uint32_t group; /* cells with one number are done together */
};

struct sweep {
	const struct sweep_cell *cell;
	size_t nr;
	uint64_t seed;
	uint64_t nr_jobs;   /* a run; 0: the workload's own number */
	uint32_t procs;	    /* 0: the workload's */
	bool extra_ignored; /* of traces of more than 18 columns; else refused */

	double level;		   /* of confidence: 0.95 */
	double target[NR_METRICS]; /* half-width over mean to reach; 0: any */
	uint32_t min, max;	   /* replications; 2 <= min <= max */
	unsigned workers;	   /* at least 1 */
	const char *results;	   /* file, or NULL */
	unsigned rank, ranks;	   /* see below; 0, 0 for one process */

	/* Told after every run, if set: runs done, and a guess of how many
	 * there will be. */
	void (*progress)(void *arg, uint64_t done, uint64_t guess);
	void *arg;
};

/* Of one cell: n replications of every metric. */
struct sweep_result {
	uint32_t n;
	bool met;		     /* every target; false: stopped at max */
	double (*value)[NR_METRICS]; /* by replication */
};

/* Are its policies and workloads understood?  -errno and why, if not. */
int sweep_check(const struct sweep *sweep, struct error *err) must_check;

/*
 * Do it: *ret is sweep->nr results, for sweep_free().  Errors: a policy or
 * workload that is not understood, a results file that is none or of another
 * version, a worker that died, no room on the disk; what the results file
 * holds stays good.
 */
int sweep_run(const struct sweep *sweep, struct sweep_result **ret,
	      struct error *err) must_check;
void sweep_free(struct sweep_result *result, size_t nr);

/* One run, in this process. */
int sweep_simulate(const struct sweep *sweep, uint32_t cell,
		   uint32_t replication, double *value,
		   struct error *err) must_check;

struct estimate sweep_mean(const struct sweep_result *r, int metric,
			   double level);
/* mean(a) / mean(b), pair by pair over the replications both have. */
struct estimate sweep_ratio(const struct sweep_result *a,
			    const struct sweep_result *b, int metric,
			    double level);
struct estimate sweep_difference(const struct sweep_result *a,
				 const struct sweep_result *b, int metric,
				 double level);

enum sweep_format { SWEEP_JSON, SWEEP_CSV, SWEEP_TSV };

/* All means with intervals, the configuration with them. */
void sweep_print(const struct sweep *sweep, const struct sweep_result *result,
		 enum sweep_format format, FILE *to);

/* A curve a policy of metric over the load, of the cells that are as cell
 * `like` in everything else. */
void sweep_plot(const struct sweep *sweep, const struct sweep_result *result,
		size_t like, int metric, FILE *to);

#endif
