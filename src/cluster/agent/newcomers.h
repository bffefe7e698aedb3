/*
 * newcomers.h - capsules that have just come, until it is known whose they are
 *
 * A capsule has no record at first, and then no init.  One that is gone before it
 * could be told whose it was counts as a guest's.
 */
#ifndef CLUSTER_AGENT_NEWCOMERS_H
#define CLUSTER_AGENT_NEWCOMERS_H

#include <stddef.h>
#include <stdint.h>

/* All 0 at first. */
struct newcomers {
	char **name;
	size_t nr, cap;
};

void newcomers_add(struct newcomers *n, const char *capsule);
/* Look at them; how many turn out to be guests'.  n->nr are left. */
uint32_t newcomers_know(struct newcomers *n, const char *run_dir,
			const char *owners);
void newcomers_clear(struct newcomers *n);

#endif
