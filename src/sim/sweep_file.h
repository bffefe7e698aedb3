/*
 * sweep_file.h - the runs of a sweep, kept so that none is done twice
 *
 * A text file: a heading that names the version and the metrics, then a line a
 * run, of tab-separated fields:
 *	seed replication jobs procs load resize-cost migrate-cost rank-cost
 *	policy workload speedup hosts value...
 * Numbers are written so that they read back exactly.  Each line is one write
 * to a descriptor opened for appending, so several sweeps may share a file,
 * and a run that was interrupted leaves at most a line without its end, which
 * is passed over.
 */
#ifndef SIM_SWEEP_FILE_H
#define SIM_SWEEP_FILE_H

#include "sim/sweep.h"

/* A run that was read: of cell, told apart by everything that shapes it. */
typedef void (*sweep_file_found)(void *arg, uint32_t cell, uint32_t replication,
				 const double *value);

/*
 * Open or make the file at sweep->results and tell every run of one of
 * sweep's cells that it holds.  Returns a descriptor to append to, or -errno.
 */
int sweep_file_open(const struct sweep *sweep, sweep_file_found found,
		    void *arg, struct error *err) must_check;

int sweep_file_append(int fd, const struct sweep *sweep, uint32_t cell,
		      uint32_t replication, const double *value,
		      struct error *err) must_check;

#endif
