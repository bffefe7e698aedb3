/*
 * summary.h - what users and owners would have felt, in a few numbers
 *
 * Over the jobs that ran to an end and are not warm-up; those that were
 * cancelled before, or rejected, are counted.  With seconds:
 *	wait = start - submit		response = end - submit
 *	slowdown = response / run, at least 1, run as on its full size, alone on
 *	hosts of speed 1: what folding and sharing cost is in it
 *	bounded slowdown = max(1, response / max(run, 10)) (Feitelson's
 *	threshold of 10 s)
 */
#ifndef SIM_REPORT_SUMMARY_H
#define SIM_REPORT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/engine/sim.h"

/* Did it run to an end?  Then these are its times, in seconds, and its bounded slowdown. */
bool summary_ended(const struct sim_record *r);
double summary_wait(const struct sim_record *r);
double summary_response(const struct sim_record *r);
double summary_bounded_slowdown(const struct sim_record *r);

/* The class of a size among 1, 2, 3-4, 5-8, ...: from 0 on, up to 32. */
size_t summary_size_class(uint32_t size);

struct summary_stat {
	double mean, min, p50, p90, p95, p99, max;
	double half; /* of the 95 % interval of the mean, by batch means; NaN
			for fewer than 60 jobs */
};

/* Of n values that are not negative, in the order in which their jobs came; x is left in
 * another order. */
void summary_stat_make(double *x, size_t n, struct summary_stat *ret);

/* Half of the 95 % interval of their mean, by batch means: successive jobs are not
 * independent.  NaN below 60 values, which may be negative. */
double summary_half(const double *x, size_t n);

struct summary {
	uint64_t jobs, ended, killed, failed, cancelled, rejected, warmup;
	struct summary_stat wait, response, slowdown, bounded_slowdown;
	double makespan;    /* seconds, first arrival to last end */
	double utilization; /* busy processor seconds / (procs * makespan) */
	double folding;	    /* mean of size / processors had at last */
	double resizes;	    /* mean a job */
	double moves;	    /* mean a job */
	struct sim_averages averages;
	uint64_t migrations, migration_events;
	double moved_share; /* rank migrations / ranks started */
	uint64_t passes, events;
	uint32_t procs;
	/* Fairness curve: means by size, in classes 1, 2, 3-4, 5-8, ... */
	struct summary_class {
		uint32_t min, max; /* sizes */
		uint64_t jobs;
		double response, slowdown; /* means; bounded slowdown */
	} size_class[33];
	size_t nr_classes;
};

void summary_make(const struct sim_result *result, struct summary *ret);

/* For people: a small table. */
void summary_print(const struct summary *s, FILE *to);

/* A JSON object of all, for the caller to drop; members in a fixed order. */
struct json_t *summary_json(const struct summary *s);

#endif
