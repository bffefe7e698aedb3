/*
 * sacct.h - jobs as Slurm's accounting tells them, made a trace
 *
 * The text is what `sacct -P` prints: a line that names the columns, and a line a job, with
 * '|' between fields.  Columns are found by their names, in any order: JobIDRaw or JobID,
 * Submit, Start, End, AllocCPUS or NCPUS must be there; used where they are: ReqCPUS,
 * TimelimitRaw (minutes) or Timelimit, State, User, Group or Account, JobName, QOS, Partition.
 * Times are local ones as Slurm writes them, taken as if the clocks were never changed, or
 * seconds since 1970 (SLURM_TIME_FORMAT=%s), which is exact.
 */
#ifndef SIM_WORKLOAD_SACCT_H
#define SIM_WORKLOAD_SACCT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"

struct sacct_counts {
	size_t jobs;
	size_t steps;	  /* of jobs: lines that are left out */
	size_t never_ran; /* jobs that are left out */
	size_t still_ran; /* likewise */
};

/*
 * Write the jobs of text (size bytes and a NUL; it is changed) as a trace in the Standard
 * Workload Format: by submit, the first of which is 0.  Names become numbers in the order of
 * the lines.  procs: of the machine; 0: not known.  What is wrong is an error with the line's
 * number, name standing for the file, and nothing is written.
 */
int sacct_convert(char *text, size_t size, const char *name, uint32_t procs,
		  FILE *to, struct sacct_counts *ret,
		  struct error *err) must_check;

#endif
