/*
 * output.h - files that are whole or not there
 *
 * Everything is written to a file without a name in the target's directory,
 * which takes the target's name only when all of it is on the way to the disk.
 * A full disk is an error and leaves what was there before; whoever is killed
 * leaves nothing, but for TARGET.stint-new if it was in the very act of
 * replacing TARGET: the next who does takes that away.  (Where the file system
 * knows no files without names, as NFS, it is called TARGET.XXXXXX meanwhile.)
 * "-" is standard output.
 */
#ifndef SIM_REPORT_OUTPUT_H
#define SIM_REPORT_OUTPUT_H

#include <stdio.h>

#include "core/error.h"
#include "sim/engine/sim.h"

struct output;

/* Begin (before a long run: a wrong path should be known at once); *ret is for
 * output_end() or output_abort() to free. */
int output_open(const char *path, struct output **ret,
		struct error *err) must_check;
/* A stream into it; errors are noticed at the end. */
FILE *output_stream(struct output *out);
/*
 * After r is 0, *out is to be there as a whole: r, or the error of that.  After an
 * error, which is returned, it is aborted.  *out is NULL then, and may be before.
 */
int output_end(struct output **out, int r, struct error *err) must_check;
void output_abort(struct output *out); /* NULL is allowed */

/*
 * A line a job, in the order of arrival:
 *	id,submit,start,end,procs,size,run,resizes,moves,outcome,seed,version
 * Times are in seconds; start and end of a job that never ran are empty.  seed and version
 * are the run's, so that a file, or some lines of it, can be made again.
 */
void output_jobs_csv(struct output *out, const struct sim_result *result);

struct swf_trace;

/*
 * The schedule as a trace of its own: wait, run and processors are what the
 * simulation gave, the rest is trace's (NULL: not from a trace, unknown).
 * comment is put into the header.
 */
void output_jobs_swf(struct output *out, const struct sim_result *result,
		     const struct swf_trace *trace, const char *comment);

#endif
