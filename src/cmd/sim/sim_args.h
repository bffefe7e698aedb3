/*
 * sim_args.h - the command line of stint sim
 */
#ifndef CMD_SIM_SIM_ARGS_H
#define CMD_SIM_SIM_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/sim/machine_options.h"
#include "cmd/sim/owner_options.h"
#include "cmd/sim/setup_args.h"
#include "cmd/sim/sim_figures.h"
#include "core/error.h"
#include "sim/engine/paging.h"
#include "sim/engine/sim.h"
#include "sim/workload/recorded.h"
#include "sim/workload/swf.h"

/* Texts are argv's.  owner_args_clear() frees
 * what owners hold.  trace, config and figures are filled in as far as options
 * say; recorded is empty. */
struct sim_args {
	const char *policy, *swf, *workload, *replay, *out, *out_swf,
		*out_owners, *events;
	struct machine_args machine;
	struct setup_args setup;
	bool json, list;
	struct swf_options trace;
	struct recorded recorded;
	struct sim_config config;
	struct paging model; /* config's, where it has one */
	struct sim_figures figures;
	struct owner_args owners;
};

/*
 * 0, or -EINVAL with what does not go together; what argp refuses ends the
 * process.
 */
int sim_args_parse(int argc, char **argv, struct sim_args *ret,
		   struct error *err) must_check;

/* How many of the files to write are standard output ("-"): 0 or 1 of what was parsed. */
unsigned sim_args_to_stdout(const struct sim_args *a);

#endif
