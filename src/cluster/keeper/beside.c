/*
 * beside.c - leaving a host whose owner is there and whose processors have a quota
 *
 * Whatever its class, who computes there uses up what the owner is to have: so the rank stands
 * still from the beginning, and its engine takes a part.  With a processor or more both leave enough.
 */
#include <stdlib.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/keeper/priv.h"
#include "core/claim.h"
#include "core/log.h"

#define ENOUGH 1.0 /* processors */
#define PART   3   /* of the quota, which the engine takes */

double keeper_modest_share(void)
{
	char *v1 = cgroup_own("cpu"), *v2 = cgroup_own("");
	double cpus = v1 ? cgroup_cpus(v1) : v2 ? cgroup_cpus(v2) : 0;

	free(v1);
	free(v2);
	return claim_is_marked(0) && cpus < ENOUGH ? cpus / PART : 0;
}

/* Whoever outlives this engine lets it go on (mend()). */
void keeper_rest(struct keeper_rank *rank, bool on)
{
	struct error err = ERROR_INIT;
	int r;

	/* Who comes last gets no processor even to stop. */
	capsule_stir(rank->capsule, on);
	r = on ? capsule_freeze(rank->capsule, &err)
	       : capsule_thaw(rank->capsule, &err);
	capsule_stir(rank->capsule, false);
	if (r < 0)
		log_warnx("rank=%u beside an owner: %s", rank->id.rank,
			  err.text);
}
