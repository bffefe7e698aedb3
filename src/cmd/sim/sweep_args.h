/*
 * sweep_args.h - the options of stint sweep
 */
#ifndef CMD_SIM_SWEEP_ARGS_H
#define CMD_SIM_SWEEP_ARGS_H

#include <stdbool.h>

#include "cmd/sim/machine_options.h"
#include "sim/sweep/sweep.h"

struct sweep_list {
	char **item;
	size_t nr, cap;
};

struct sweep_args {
	struct sweep_list policies, workloads;
	double *load;
	size_t nr_loads, cap_loads;
	struct sweep sweep;
	struct sweep_cell *cell;
	struct sim_costs costs;
	struct machine_args machine;
	bool paired, quiet, table, follow, extra_given;
	char *platform; /* what a file of hosts said; or NULL */
	enum sweep_format format;
	const char *out, *svg;
	int metric;
};

/*
 * Read them into *ret, for sweep_args_clear() to free: ret->sweep is ready to
 * run.  0, or -EINVAL with what is missing; what argp refuses ends the
 * process.
 */
int sweep_args_parse(int argc, char **argv, struct sweep_args *ret,
		     struct error *err) must_check;
/* Put what a file of hosts says now into the cells: all runs, and the file of results, are of
 * that machine, whatever becomes of the file. */
int sweep_args_open(struct sweep_args *a, struct error *err) must_check;

void sweep_args_clear(struct sweep_args *args);

#endif
