/* setup_args.c - see setup_args.h */
#include "cmd/sim/setup_args.h"

#include <errno.h>
#include <stdlib.h>

#include "core/units.h"

bool setup_args_is_load(double load)
{
	return load >= 1e-6 && load <= 1000;
}

int setup_args_no_follow(struct error *err)
{
	return error_set(err, -EINVAL,
			 "--follow is for the jobs of --swf as they are: "
			 "without --load and --speedup");
}

static int parse_load(const char *text, double *ret, struct error *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !setup_args_is_load(v))
		return error_set(
			err, -EINVAL,
			"--load: '%s' is not a load: give a number from "
			"0.000001 to 1000",
			text);
	*ret = v;
	return 0;
}

int setup_args_parse(struct setup_args *a, int key, const char *text,
		     struct error *err)
{
	switch (key) {
	case 'P':
		return parse_int(text, 1, INT32_MAX, "--procs", &a->procs, err);
	case 'n':
		return parse_int(text, 1, INT32_MAX, "--jobs", &a->jobs, err);
	case KEY_SEED:
		return parse_int(text, 0, INT64_MAX, "--seed", &a->seed, err);
	case KEY_REPLICATION:
		return parse_int(text, 0, INT64_MAX, "--replication",
				 &a->replication, err);
	case 'L':
		return parse_load(text, &a->load, err);
	default:
		return 1;
	}
}

struct workload_setup setup_args_workload(const struct setup_args *a)
{
	return (struct workload_setup){
		.procs = (uint32_t)a->procs,
		.load = a->load,
		.nr_jobs = (uint64_t)a->jobs,
		.seed = (uint64_t)a->seed,
		.replication = (uint64_t)a->replication,
	};
}
