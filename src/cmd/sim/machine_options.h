/*
 * machine_options.h - the machine that is simulated, and how jobs profit from it
 */
#ifndef CMD_SIM_MACHINE_OPTIONS_H
#define CMD_SIM_MACHINE_OPTIONS_H

#include <argp.h>

#include "core/error.h"

/* As they were given, argv's; NULL: as the workload has it. */
struct machine_args {
	const char *hosts, *paging, *speedup;
};

/* --hosts, --paging and --speedup; the input is a struct machine_args. */
extern const struct argp_child machine_children[];

/* 0, or what is wrong; a file of hosts is not read yet. */
int machine_args_check(const struct machine_args *a,
		       struct error *err) must_check;

#endif
