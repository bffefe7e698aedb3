/*
 * bounds.h - the control group that all guests of a host are in
 *
 * An owner keeps some processors and memory and lets guests have a part of the
 * disks (model/terms.h).  That is said of all guests together, so they have a
 * control group in common, GUESTS, which their agent makes below its own one
 * and sets again whenever the terms change; who is in it already is bound by
 * the new ones at once.  It outlives the agent, and binds without it.
 *
 *	v1  memory	OWN/GUESTS/CAPSULE	the capsule's group is in it
 *	    cpuset	OWN/GUESTS		capsules share it
 *	    blkio	OWN/GUESTS		likewise
 *	v2		OWN/GUESTS/CAPSULE/...	all of these
 *
 * OWN is what cgroup_own() says.  What this host lacks is left out; then
 * bounds_set() tells what is not kept.  A capsule goes there if its
 * capsule_spec says that it is bound, and the group is there; if it is not, where there could be
 * one, that is logged.
 */
#ifndef CLUSTER_CAPSULE_BOUNDS_H
#define CLUSTER_CAPSULE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* How the links of capsules that are bound begin (net/share.h), and no others. */
#define BOUNDS_LINKS "stg"

struct bounds {
	uint64_t memory; /* bytes for all guests; 0: any */
	uint32_t
		spared; /* processors for none of them; they keep the last one */
	uint64_t disk;	/* bytes a second read, and written, a disk; 0: any */
};

/* GUESTS, for the agent with that run directory; for the caller to free. */
char *bounds_name(const char *run_dir);

/* Make the groups, as far as this host lets us. */
void bounds_make(const char *name);

/* Where they are; how many. */
#define BOUNDS_MOST 4
unsigned bounds_list(const char *name, char *ret[BOUNDS_MOST]);

/*
 * Set them, all that can be; of several that cannot *err has the first.
 * -EOPNOTSUPP: this host has no such group.  -EBUSY: guests have more memory than
 * that; nothing is killed for it, so try again later.
 */
int bounds_set(const char *name, const struct bounds *bounds,
	       struct error *err) must_check;

/* Remove those that nobody is in. */
void bounds_remove(const char *name);

/*
 * Put all guests behind others on the processor, or not (cgroup_claim()), where
 * their groups are in this one, and so compete among themselves only.
 */
void bounds_claim(const char *name, bool low);

/* ---- for tests: a directory instead of a hierarchy */

/*
 * Of the group at dir, whose parent has the processors to share.  As
 * bounds_set(), -ENOENT where that group has no such file.
 */
int bounds_set_cpus(const char *dir, uint32_t spared) must_check;
int bounds_set_memory(const char *dir, uint64_t bytes) must_check;
/* sys: where the disks are listed, "/sys/block". */
int bounds_set_disk(const char *dir, const char *sys, uint64_t rate) must_check;

#endif
