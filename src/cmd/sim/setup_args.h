/*
 * setup_args.h - how many jobs, for what machine, from which random streams: what
 * stint sim and stint trace are asked for by the same options
 */
#ifndef CMD_SIM_SETUP_ARGS_H
#define CMD_SIM_SETUP_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "sim/workload/workload.h"

/* Their keys, besides 'P' (--procs), 'n' (--jobs) and 'L' (--load). */
enum { KEY_SEED = 1280, KEY_REPLICATION };

/* 0: not given; of the seed the same. */
struct setup_args {
	int64_t procs, jobs, seed, replication;
	double load;
};

/* Take the value of one of these options; 1: it is another. */
int setup_args_parse(struct setup_args *a, int key, const char *text,
		     struct error *err) must_check;

/* As --load has it. */
bool setup_args_is_load(double load);
/* -EINVAL: --follow goes with nothing that changes the jobs of --swf. */
int setup_args_no_follow(struct error *err);

/* The same for a workload. */
struct workload_setup setup_args_workload(const struct setup_args *a);

#endif
