/*
 * compare.h - runs of the same jobs beside each other
 *
 * A job is the same in two runs by its number.  Each run has its own means and percentiles,
 * over the jobs that ran to an end there; and what differs from the first run is the mean of
 * the differences of the jobs that did in both.  That is far sharper than comparing two means:
 * what one job has from its size or its time of day is in both.  Its interval is by batch
 * means over the jobs in the first run's order, since neighbours wait for the same reasons.
 */
#ifndef SIM_REPORT_COMPARE_H
#define SIM_REPORT_COMPARE_H

#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "sim/report/summary.h"

enum compare_metric {
	COMPARE_WAIT,	  /* seconds */
	COMPARE_RESPONSE, /* seconds */
	COMPARE_SLOWDOWN, /* bounded: summary.h */
	NR_COMPARE_METRICS,
};

/* "wait", "response", "bounded_slowdown", NULL: for PARAM_CHOICE and the like. */
extern const char *const compare_metrics[];

/* What jobs are told apart by. */
enum compare_by {
	COMPARE_BY_SIZE, /* processors: 1, 2, 3-4, 5-8, ... */
	COMPARE_BY_RUN,	 /* run time: up to 1 min, 10 min, 1 h, 10 h, more */
};

struct compare_run {
	const char *name;
	struct sim_result result;
	size_t *match; /* of the first run's records: its own; SIZE_MAX: none */
};

/*
 * Pair the jobs of run[1..nr) with those of run[0].  -EINVAL, with one line, if a number is
 * there twice, a job has another size or run time in another run, or there is no pair.
 * The caller frees match.
 */
int compare_pair(struct compare_run *run, size_t nr,
		 struct error *err) must_check;

/* A row of the table: one metric of one run over a class of jobs. */
struct compare_row {
	char class[32]; /* "all", "3-4", "up to 1 h" */
	enum compare_metric metric;
	size_t run;
	uint64_t jobs; /* that ended in it */
	struct summary_stat stat;
	uint64_t pairs; /* with the first run; 0: it is the first */
	double difference,
		half; /* from it: mean, half of the 95 % interval; NaN: not known */
};

typedef void compare_take(void *arg, const struct compare_row *row);

/* All rows: class by class, the first of them all jobs, metric by metric, run by run. */
void compare_rows(const struct compare_run *run, size_t nr, enum compare_by by,
		  compare_take *take, void *arg);

/* Processors in use on average, from the first submission to the last end. */
double compare_busy(const struct compare_run *run);

/* The metric over the share of jobs that have no more, a curve a run, SVG. */
void compare_plot(const struct compare_run *run, size_t nr,
		  enum compare_metric metric, FILE *to);

#endif
