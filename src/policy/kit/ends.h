/*
 * ends.h - how many processors running jobs will have given back by when
 *
 * A treap of (time, processors), with one entry per job (by its ix), in which every
 * node knows the sum of processors below it.  Insertion, removal and questions take
 * O(log n).
 */
#ifndef POLICY_KIT_ENDS_H
#define POLICY_KIT_ENDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct ends_node;

struct ends {
	struct ends_node *node; /* by the job's ix + 1; node 0 is "none" */
	size_t nr_nodes;
	uint32_t root;
};

#define ENDS_INIT            \
	{                    \
		.node = NULL \
	}

void ends_clear(struct ends *ends); /* frees; empty again */

/* Slot ix gives back n processors at time at; moves it if it is there. */
void ends_insert(struct ends *ends, uint32_t ix, usec_t at, uint32_t n);
/* Does nothing if the slot is empty. */
void ends_remove(struct ends *ends, uint32_t ix);

/* The slot that gives its processors back first; UINT32_MAX if there is none. */
uint32_t ends_first(const struct ends *ends);
/* When slot ix, which is in use, gives them back. */
usec_t ends_at(const struct ends *ends, uint32_t ix);

/* Processors given back at or before time at. */
int64_t ends_by(const struct ends *ends, usec_t at);

/* The earliest time by which `need` processors are given back; USEC_MAX if never. */
usec_t ends_reach(const struct ends *ends, int64_t need);

#endif
