/*
 * swf.h - traces in the Standard Workload Format, as they are found
 *
 * A line a job, 18 fields, ";" before comments, some of which say how large
 * the machine is.  Read as the Parallel Workloads Archive advises:
 * - size is the processors requested (field 8) where > 0, else allocated (5);
 *   run is field 4, the estimate field 9; -1 means unknown;
 * - jobs with run <= 0, size <= 0 or more than the machine has are left out,
 *   and counted;
 * - submits need not be sorted; equal ones keep the order of the file.
 * - a header that is meant to say how large the machine is and has no number is
 *   an error, unless another line or the caller says it (-1 and 0: not known).
 * gzip and CRLF are taken as they come.  Anything else is an error with file
 * and line: a wrong trace is never read half.  Where only the first jobs are
 * wanted and it is known how large the machine is, of the lines behind them no
 * more than the submit time is read: one that is earlier belongs to them.
 */
#ifndef SIM_WORKLOAD_SWF_H
#define SIM_WORKLOAD_SWF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

#define SWF_FIELDS 18

struct swf_job {
	int64_t id;
	usec_t submit, run;
	usec_t estimate; /* requested time, raised to run; run if unknown */
	int64_t memory;	 /* requested, KB a processor; -1 */
	uint32_t size;
	int32_t user, group, app, queue, partition; /* -1: not known */
};

enum swf_extra { SWF_EXTRA_REFUSE, SWF_EXTRA_IGNORE };

/* Of a job: it is submitted when another has ended and its user has thought. */
struct swf_link {
	int64_t after; /* that job's number; 0: it comes when its submit says */
	usec_t think;  /* -1: not known */
};

struct swf_options {
	uint32_t procs;	      /* of the machine; 0: as the header says, or the
				 largest job where it does not */
	enum swf_extra extra; /* what to do with more than 18 columns */
	bool drop_cancelled;  /* jobs with status 5, too, if they ran */
	bool exact;	      /* estimates are the run times */
	bool keep_low;	      /* leave estimates that are below the run time */
	bool keep_unknown;    /* an estimate that is not known is 0 */
	bool follow;	      /* fill in link */
	uint64_t nr_jobs;     /* only the first so many by submit; 0: all */
};

struct swf_trace {
	struct swf_job *job; /* by submit, then place in the file */
	size_t nr;
	uint32_t procs;
	int64_t unix_start; /* of time 0; 0: unknown */
	/* What was left out or changed. */
	size_t no_run, no_size, too_large, cancelled;
	size_t raised; /* estimates below the run time */
	size_t no_estimate;
	size_t follow; /* say which job they come after, and how long (17, 18):
			  submits stay as they are, unless link says so */
	struct swf_link *link; /* of each job; NULL: not asked for */
	/* Jobs of follow whose link is left out, as the other one is not there,
	 * is submitted later or itself, or think is not known. */
	size_t no_other, other_later, other_self, no_think;
	bool unsorted; /* submits were not in order */
};

/* path "-" is standard input.  swf_clear() frees *ret. */
int swf_read(const char *path, const struct swf_options *options,
	     struct swf_trace *ret, struct error *err) must_check;

/*
 * The same for size bytes in memory and a NUL after them; name stands for the
 * path in errors.
 */
int swf_parse(const char *text, size_t size, const char *name,
	      const struct swf_options *options, struct swf_trace *ret,
	      struct error *err) must_check;

/* By submit, then as they stand; swf_parse() has done so, as all that follows here. */
void swf_sort(struct swf_trace *trace);

/*
 * Leave out the jobs that the machine has not enough processors for, and count them.
 * -EINVAL if no job is left, with how many were left out for which reason.
 */
int swf_drop_too_large(struct swf_trace *trace, const char *name,
		       struct error *err) must_check;

/*
 * Leave out the links that cannot be followed, and count them; swf_parse() has done so.
 * -EINVAL if two jobs have one number, so that it names neither.
 */
int swf_check_links(struct swf_trace *trace, const char *name,
		    struct error *err) must_check;

/* Put the jobs into the order of these numbers, which are all of theirs. */
void swf_arrange(struct swf_trace *trace, const int64_t *id);

/* How many jobs have a number that an earlier one has; *ret_id: the first such.
 */
size_t swf_same_ids(const struct swf_trace *trace, int64_t *ret_id);

void swf_clear(struct swf_trace *trace);

struct workload;

/*
 * The trace as a workload, which takes it over.  load > 0 stretches the time
 * between arrivals so that the offered load, sum of size * run / (processors
 * * time from the first to the last arrival), becomes that.  Jobs with a link are its
 * followers; then there is no load to ask for.
 */
struct workload *swf_workload(struct swf_trace *trace, double load);

#endif
