/*
 * laws.h - what every policy keeps, whatever its rule is: tried on random jobs
 *
 * A law is tried by whole runs of the simulator on 16 processors, counted or of hosts, with
 * a few hundred jobs each.  Stint's own policies are tried by its unit tests, those of others
 * by `stint policies --test`.
 */
#ifndef SIM_LAWS_LAWS_H
#define SIM_LAWS_LAWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct law {
	const char *name; /* a word */
	const char *text; /* what holds, a line */
	/*
	 * Try it on the policy "NAME:key=value,...".  How often something was compared, or
	 * -EPROTO with what did not hold; also what sim_run() returns.
	 */
	int64_t (*check)(const char *policy, struct error *err);
};

/* NULL beyond the last. */
const struct law *law_nth(size_t n);

/* The one of this name, which is there. */
const struct law *law_find(const char *name);

#endif
