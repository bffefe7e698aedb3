/*
 * cgroup.h - a capsule's control groups
 *
 * One directory NAME below the caller's own group in each hierarchy that there
 * is and may be written: cgroup v1's cpu, memory, pids and freezer, or cgroup v2.
 * The first three hold the whole capsule; the freezer holds all but init, which
 * must be able to act on a frozen capsule.  What this host cannot do is left
 * out: without a freezer the capsule is frozen by signals.
 *
 * On v2 limits need controllers that the caller's own group passes on; it is
 * told to, which works where it has no process of its own.
 *
 * "The caller's own group" is that of /proc/self/cgroup, less a last component
 * "stint-self": cgroup v2 wants processes in leaves, so an agent that was
 * given a subtree sits in that leaf of it.
 */
#ifndef CLUSTER_CAPSULE_CGROUP_H
#define CLUSTER_CAPSULE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cluster/host/limit.h"
#include "core/error.h"

enum cgroup_freezer {
	CGROUP_FREEZER_NONE,
	CGROUP_FREEZER_V1,
	CGROUP_FREEZER_V2
};

#define CGROUP_DIRS 5
struct capsule_cgroup {
	char *dirs[CGROUP_DIRS]; /* each before those it lies in */
	unsigned nr_dirs;
	char *whole[3]; /* of dirs: where init belongs */
	unsigned nr_whole;
	char *frozen; /* of dirs: where programs belong; or NULL */
	enum cgroup_freezer kind;
	int join;  /* frozen's cgroup.procs: writing "0" moves the writer */
	int state; /* freezer.state, cgroup.freeze */
};

/* Where everything would go; nothing is made yet. */
int cgroup_plan(const char *name, struct capsule_cgroup *ret,
		struct error *err) must_check;
/* The same on cgroup v2, below the group in base. */
void cgroup_plan_v2(const char *base, const char *name,
		    struct capsule_cgroup *ret);
/*
 * Make it, with room for a landing (cgroup_ease()).  -EOPNOTSUPP where this host
 * cannot set a limit; the weight is left out then.
 */
int cgroup_make(struct capsule_cgroup *cg, const struct limits *limits,
		unsigned cpu_weight, struct error *err) must_check;
/* Move a process into whole. */
int cgroup_enter(const struct capsule_cgroup *cg, pid_t pid,
		 struct error *err) must_check;
/* Waits until all stand still, or it fails with -ETIMEDOUT and is undone. */
int cgroup_freeze(const struct capsule_cgroup *cg,
		  struct error *err) must_check;
int cgroup_thaw(const struct capsule_cgroup *cg, struct error *err) must_check;
/* Close the descriptors and forget; the directories stay. */
void cgroup_clear(struct capsule_cgroup *cg);

/*
 * Kill everything in these directories and below, thaw it, and remove them.  0,
 * or -EBUSY when something would not die yet.
 */
int cgroup_remove(char *const *dirs, unsigned n);

/* ---- limits.c */

/* v2: what is below a group has limits only of controllers it passes on. */
void cgroup_pass_on(const char *dir);
/* Write a number there; false if there is no such file, or it is refused. */
bool cgroup_set(const char *dir, const char *file, uint64_t value);
/*
 * Set its limits, with a little more for what is ours in there: init always, and
 * with `move` what takes part in a move.  What the rank holds already is not
 * taken from it: -EBUSY, and the limit stays as it was.
 */
int cgroup_limit(const struct capsule_cgroup *cg, const struct limits *limits,
		 bool move, struct error *err) must_check;
/* How often they were met so far. */
void cgroup_met(const struct capsule_cgroup *cg, struct limits_met *ret);
/* Can cgroup_limit() limit that here ("memory", "pids")? */
bool cgroup_can_limit(const char *controller);

/*
 * The directory of the caller's own group for a v1 controller ("" for v2),
 * from the texts of /proc/self/mountinfo and /proc/self/cgroup; NULL when there
 * is none.  For the caller to free.
 */
char *cgroup_locate(const char *mountinfo, const char *own,
		    const char *controller);
/* The same for this process. */
char *cgroup_own(const char *controller);

#endif
