/* priv.h - what the laws share */
#ifndef SIM_LAWS_PRIV_H
#define SIM_LAWS_PRIV_H

#include "sim/engine/sim.h"
#include "sim/laws/laws.h"

#define LAW_PROCS 16
#define LAW_JOBS  300

int64_t law_counts(const char *policy, struct error *err);
int64_t law_failures(const char *policy, struct error *err);
int64_t law_repeats(const char *policy, struct error *err);
int64_t law_saved(const char *policy, struct error *err);
int64_t law_reserved(const char *policy, struct error *err);

/* What an observer, who cannot end a run, has found first. */
struct finding {
	char text[200]; /* "" : nothing */
};

void finding_note(struct finding *f, const struct view *view, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* Jobs of a generator, with a speedup model or NULL. */
int law_workload(const char *spec, double load, const char *speedup,
		 struct workload **ret, struct error *err) must_check;

/* The flags of a policy that is there (enum policy_flags). */
unsigned law_flags(const char *policy);

/* Each job started and ended at the same time, on as many processors; says of which two
 * runs that is not so. */
int law_compare(const struct sim_result *a, const struct sim_result *b,
		const char *which, struct error *err) must_check;

#endif
