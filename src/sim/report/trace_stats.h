/*
 * trace_stats.h - what a trace is like, before anything is simulated: of jobs, and
 * of the owners of hosts
 */
#ifndef SIM_REPORT_TRACE_STATS_H
#define SIM_REPORT_TRACE_STATS_H

#include <stdint.h>

#include <jansson.h>

#include "model/activity.h"
#include "sim/workload/swf.h"

/* Arpaci 1995 section 2.2 asks how many jobs are short, and how busy the machine
 * is. */
struct trace_stats {
	uint64_t jobs;
	double span; /* seconds from the first submission to the last */
	double load; /* processor seconds asked for in it, to what it has */
	double gap, gap_cv; /* of submissions: mean seconds, and variation */
	double run_mean, run_median, run_cv; /* seconds */
	double size_mean;
	double serial;	    /* share of jobs of one processor */
	double short_jobs;  /* of at most three minutes */
	double long_work;   /* share of all work, of jobs of 90 minutes on */
	uint64_t estimates; /* jobs that have one, */
	double estimate; /* and their mean of estimate / run; NaN: there is none */
};

/* Of a trace that was read with keep_unknown. */
void trace_stats_make(const struct swf_trace *trace, struct trace_stats *ret);
json_t *trace_stats_json(const struct trace_stats *s);

/*
 * A host is idle while nobody touches it and its own processes are less than 0.2
 * (the paper's CPU below 20 %).  From the first change of a script to its last;
 * an idle period that lasts until then counts as it is.
 */
struct activity_shares {
	double idle;		/* NaN where the script has none of that time */
	double idle_1, idle_15; /* for 1, 15 min by then */
};

struct activity_stats {
	uint32_t hosts;
	double span; /* seconds */
	double idle; /* share of hosts' time, */
	double idle_1,
		idle_15;   /* and that in which they were so for 1, 15 min */
	uint64_t periods;  /* idle ones, */
	double median;	   /* seconds of them, */
	double brief;	   /* share of them of at most 3 minutes, */
	double long_share; /* and share of idle time in those of 10 on */
	/* By the hour of the day; and by day, from 9 to 19 h of Mondays to Fridays, of which
	 * Arpaci's figures are.  Time 0 is the beginning of a Monday. */
	struct activity_shares hour[24], by_day;
};

void activity_stats_make(const struct activity *a, struct activity_stats *ret);
json_t *activity_stats_json(const struct activity_stats *s);

#endif
