/* testing.c - what tests of whole runs share, see testing.h */
#include "sim/testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/attach.h"

struct workload *make_workload(const char *spec, uint32_t procs, double load,
			       uint64_t nr, const char *speedup)
{
	const struct workload_setup setup = {
		.procs = procs, .load = load, .nr_jobs = nr, .seed = 11
	};
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0 ||
	    (speedup && attach_speedup(&w, speedup, 11, 0, &err) < 0))
		fail_msg("%s", err.text);
	return w;
}

void simulate(const struct sim_config *config, struct sim_result *ret)
{
	struct error err;

	if (sim_run(config, ret, &err) < 0)
		fail_msg("%s: %s", config->policy, err.text);
}
