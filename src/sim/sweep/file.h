/*
 * file.h - the runs of a sweep, kept so that none is done twice
 *
 * A text file: a heading that names the version and the metrics, then a line a
 * run, of tab-separated fields:
 *	seed replication jobs procs load resize-cost migrate-cost rank-cost
 *	policy workload speedup hosts paging value... .
 * Costs are microseconds; the point ends a line that is whole.  Numbers are written so that they read back exactly.  Each line is one write
 * to a descriptor opened for appending, so several sweeps may share a file,
 * and a run that was interrupted leaves at most a line without its end, which
 * is passed over.
 */
#ifndef SIM_SWEEP_FILE_H
#define SIM_SWEEP_FILE_H

#include "sim/sweep/sweep.h"

struct sweep_file;

/* A run that was read: of cell, told apart by everything that shapes it. */
typedef void (*sweep_file_found)(void *arg, uint32_t cell, uint32_t replication,
				 const double *value);

/* Open or make the file at path to append runs of sweep, which outlives it, to. */
int sweep_file_open(const struct sweep *sweep, const char *path,
		    struct sweep_file **ret, struct error *err) must_check;

/* To read what another process appends; the file need not be there yet. */
struct sweep_file *sweep_file_follow(const struct sweep *sweep,
				     const char *path);

/* Tell every run of a cell of the sweep that was appended since last asked. */
int sweep_file_read(struct sweep_file *file, sweep_file_found found, void *arg,
		    struct error *err) must_check;

int sweep_file_append(struct sweep_file *file, uint32_t cell,
		      uint32_t replication, const double *value,
		      struct error *err) must_check;

void sweep_file_close(struct sweep_file *file); /* NULL is allowed */

#endif
