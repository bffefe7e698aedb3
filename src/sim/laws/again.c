/* again.c - two runs that must be the same */
#include <stdlib.h>

#include "policy/policies.h"
#include "sim/laws/priv.h"
#include "sim/workload/machine.h"

int64_t law_repeats(const char *policy, struct error *err)
{
	struct sim_result result[2] = { { 0 } };
	int64_t nr = 0;
	int r = 0;

	for (int k = 0; k < 2 && !r; k++) {
		struct sim_config c = { .policy = policy, .seed = 3 };

		r = law_workload("poisson", 0.9, "linear", &c.workload, err);
		if (!r)
			r = sim_run(&c, &result[k], err);
		workload_destroy(c.workload);
	}
	if (!r)
		r = law_compare(&result[0], &result[1], "two runs differ", err);
	nr = (int64_t)result[0].nr;
	sim_result_clear(&result[0]);
	sim_result_clear(&result[1]);
	return r < 0 ? r : nr;
}

/* Jobs of five users, of whom the first has every other. */
struct crowd {
	struct workload base;
	struct workload *of;
};

static int crowd_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	int r = workload_next(((struct crowd *)workload)->of, ret, err);

	if (r > 0)
		ret->user = ret->id % 2 ? 0 : (int32_t)(ret->id % 10) / 2;
	return r;
}

static const struct workload_ops crowd_ops = { .name = "crowd",
					       .next = crowd_next };

/* The policy is made anew after every so many passes; 0: it lives. */
struct renewal {
	uint64_t every;
	enum sim_renewal how;
};

static int run_crowd(const char *policy, const char *speedup,
		     const char *machine, struct renewal renewal,
		     struct sim_result *ret, struct error *err)
{
	struct crowd jobs = { .base = { .ops = &crowd_ops,
					.procs = LAW_PROCS } };
	struct sim_config c = { .workload = &jobs.base,
				.policy = policy,
				.renew = renewal.every,
				.renewal = renewal.how };
	struct host *hosts = NULL;
	int r = machine_parse(machine, &hosts, &c.nr_hosts, err);

	c.hosts = hosts;
	if (!r)
		r = law_workload("poisson:overestimate=3", 0.9, speedup,
				 &jobs.of, err);
	if (!r)
		r = sim_run(&c, ret, err);
	workload_destroy(jobs.of);
	free(hosts);
	return r;
}

static int64_t compare_renewed(const char *policy, const char *speedup,
			       const char *machine, const struct renewal how[2],
			       struct error *err)
{
	struct sim_result result[2] = { { 0 } };
	int64_t nr = 0;
	int r = run_crowd(policy, speedup, machine, how[0], &result[0], err);

	if (!r)
		r = run_crowd(policy, speedup, machine, how[1], &result[1],
			      err);
	if (!r)
		r = law_compare(&result[0], &result[1],
				"it goes on otherwise when made anew", err);
	nr = (int64_t)result[0].nr;
	sim_result_clear(&result[0]);
	sim_result_clear(&result[1]);
	return r < 0 ? r : nr;
}

int64_t law_saved(const char *policy, struct error *err)
{
	static const struct renewal quiet[] = { { 0 }, { 3, RENEW } };
	static const struct renewal told[] = { { 0 }, { 2, RENEW_TOLD } };
	/* Some policies age jobs by passes: both have as many. */
	static const struct renewal anew[] = { { 2, RENEW_NOT },
					       { 2, RENEW_AND_FORGET } };
	static const struct {
		const char *speedup, *machine;
		const struct renewal *how;
	} setting[] = {
		{ NULL, "16x1", quiet },
		{ NULL, "16x1", told },
		{ "misp", "8x1,8x3", told },
		{ "misp", "8x1,8x3", quiet },
		{ "linear:kind=moldable", "8x1,8x3", quiet },
		{ NULL, "16x1", anew },
	};
	int64_t checks = 0;

	for (size_t i = 0; i < sizeof(setting) / sizeof(*setting); i++) {
		int64_t n = compare_renewed(policy, setting[i].speedup,
					    setting[i].machine, setting[i].how,
					    err);

		if (n < 0)
			return n;
		checks += n;
	}
	return checks;
}
