/*
 * jobs_file.h - reading what output_jobs_csv() writes: a line a job, CSV
 *
 * The first line names the columns, which may stand in any order with others between them;
 * needed are id, submit, start, end, procs, size, run and outcome.
 */
#ifndef SIM_REPORT_JOBS_FILE_H
#define SIM_REPORT_JOBS_FILE_H

#include "core/error.h"
#include "sim/engine/sim.h"

/*
 * The records of a file ("-": standard input; gzip is unpacked), in its order; of the rest
 * of the result begin, end and busy.  Processor seconds are taken to be those of the last
 * number of processors.  Errors say the line, and leave *ret as it was;
 * sim_result_clear() frees it.
 */
int jobs_file_read(const char *path, struct sim_result *ret,
		   struct error *err) must_check;

#endif
