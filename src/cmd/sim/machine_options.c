/* machine_options.c - see machine_options.h */
#include "cmd/sim/machine_options.h"

#include "sim/engine/paging.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"

enum { KEY_SPEEDUP = 896, KEY_PAGING };

static const struct argp_option options[] = {
	{ "hosts", 'H', "COUNTxALPHA,...|FILE", 0,
	  "a machine of hosts with speed factors, such as 5x1,25x4, or a file "
	  "of stint-platform(5)",
	  0 },
	{ "speedup", KEY_SPEEDUP, "MODEL[:k=v,...]", 0,
	  "make jobs malleable: linear, misp[:low=E,high=E], "
	  "table:points=M@E/...; kind=moldable fixes them at their start",
	  0 },
	{ "paging", KEY_PAGING, "k=v,...", 0,
	  "hosts' memory (--hosts COUNTxALPHAxCORESxMEMORY) matters: what a "
	  "page fault costs, ...; `stint sim --list` shows the parameters (the "
	  "workload's)",
	  0 },
	{ 0 }
};

static error_t parse_machine(int key, char *arg, struct argp_state *state)
{
	struct machine_args *a = state->input;

	switch (key) {
	case 'H':
		a->hosts = arg;
		return 0;
	case KEY_PAGING:
		a->paging = arg;
		return 0;
	case KEY_SPEEDUP:
		a->speedup = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp machine_argp = {
	options, parse_machine, 0, 0, 0, 0, 0
};
const struct argp_child machine_children[] = { { &machine_argp, 0, 0, 0 },
					       { 0 } };

int machine_args_check(const struct machine_args *a, struct error *err)
{
	struct paging model;
	int r = 0;

	if (a->hosts && !machine_is_file(a->hosts))
		r = machine_check(a->hosts, err);
	if (!r && a->paging)
		r = paging_parse(a->paging, &model, err);
	if (!r && a->speedup)
		r = attach_check(a->speedup, err);
	return r;
}
