/*
 * cgroup.h - a capsule's control groups
 *
 * One directory NAME below the caller's own group in each writable hierarchy:
 * cgroup v1's cpu, memory, pids and freezer, or cgroup v2.  cpu, memory and
 * pids hold the whole capsule; the freezer holds all but init, which must be
 * able to act while the capsule is frozen.  What this host lacks is left out:
 * without a freezer the capsule is frozen by signals.
 *
 * On v2, limits need controllers that the caller's own group delegates
 * (cgroup.subtree_control); they are enabled there, which works if that group
 * has no process of its own.
 *
 * "The caller's own group" is that of /proc/self/cgroup, less a last component
 * "stint-self": cgroup v2 requires processes to be in leaves, so whoever has a
 * subtree for itself runs in that leaf of it, as the processes of a test host do.
 * An agent is told another one, its home: systemd could not start it anew in a
 * group that has capsules below it.
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
	char *dirs[CGROUP_DIRS];       /* inner ones before outer ones */
	const char *what[CGROUP_DIRS]; /* v1: its controller; v2: NULL */
	unsigned nr_dirs;
	char *whole[3]; /* (into dirs) where init goes */
	unsigned nr_whole;
	char *joined[2]; /* v1: it goes there, too, and they stay: all guests'
			    (bounds.h) */
	unsigned nr_joined;
	char *missed[3]; /* v1: where all guests' group was not */
	unsigned nr_missed;
	int doors[5]; /* of whole, then of joined, for init */
	unsigned nr_doors;
	char *frozen; /* (into dirs) where programs go; or NULL */
	enum cgroup_freezer kind;
	int join;    /* into frozen: writing "0" moves the writer */
	int state;   /* freezer.state, cgroup.freeze */
	bool beside; /* init is not in them: programs go in by themselves */
	unsigned renewed; /* a bit for each door that is to a new group */
};

/*
 * Decide where everything goes; nothing is created yet.  In the group of all
 * guests of that name (bounds.h), as far as there is one; NULL: beside it.
 */
int cgroup_plan(const char *name, const char *guests,
		struct capsule_cgroup *ret, struct error *err) must_check;
/* v1: would it still be planned in the same groups? */
bool cgroup_is_as_planned(const struct capsule_cgroup *cg);
/* Which of all guests' groups there are. */
void cgroup_forget_guests(struct capsule_cgroup *cg);
/* cgroup_plan() on cgroup v2, below the group in base. */
void cgroup_plan_v2(const char *base, const char *name,
		    struct capsule_cgroup *ret);
/*
 * Create the groups, for a move ready for one (capsule_ease()).  -EOPNOTSUPP if this
 * host cannot set a limit; a weight that cannot be set is ignored, and that of new
 * groups is CGROUP_WEIGHT.
 */
#define CGROUP_WEIGHT 100
int cgroup_make(struct capsule_cgroup *cg, const struct limits *limits,
		unsigned cpu_weight, bool move, struct error *err) must_check;
/* For the freeze of a move (core/hurry.h), as far as this host lets us. */
void cgroup_allow_realtime(const struct capsule_cgroup *cg);
/*
 * By what a process comes into whole: opened with the rights of who made the groups,
 * and then used by one that it has forked, which has one thread and may have given
 * those rights up.  They stay open for the next that goes there; what runs in the
 * capsule has none of them.
 */
int cgroup_open_doors(struct capsule_cgroup *cg, struct error *err) must_check;
int cgroup_enter(const struct capsule_cgroup *cg, struct error *err) must_check;
/* Those of whole alone, and the others alone. */
int cgroup_enter_own(const struct capsule_cgroup *cg,
		     struct error *err) must_check;
int cgroup_enter_joined(const struct capsule_cgroup *cg,
			struct error *err) must_check;
/* Waits until all processes are frozen; on -ETIMEDOUT the freeze is undone. */
int cgroup_freeze(const struct capsule_cgroup *cg,
		  struct error *err) must_check;
int cgroup_thaw(const struct capsule_cgroup *cg, struct error *err) must_check;
/* Close the descriptors and forget; the directories stay. */
void cgroup_clear(struct capsule_cgroup *cg);

/*
 * Kill everything in these directories and below, thaw it, and remove them.  0,
 * or -EBUSY when a process has not died yet.
 */
int cgroup_remove(char *const *dirs, unsigned n);

/* ---- limits.c */

/*
 * v2: enable the controllers of dir for the groups below it, as far as
 * possible.
 */
void cgroup_pass_on(const char *dir);
/* The same of those that bind all guests together, too (bounds.h). */
void cgroup_pass_on_all(const char *dir);
/*
 * v2: is this one of those that are passed on to the groups below dir?
 */
bool cgroup_passes_on(const char *dir, const char *controller);
/*
 * v2: the leaf of a group for processes that make groups below it; for the caller
 * to free.
 */
char *cgroup_leaf(const char *dir);
/* Write text to a file of the group at dir: 0 or -errno. */
int cgroup_write(const char *dir, const char *file,
		 const char *text) must_check;
/*
 * Write a number to a file of the group; false if the file is missing or the
 * kernel refuses.
 */
bool cgroup_set(const char *dir, const char *file, uint64_t value);
/* The number after a word of a file of dir, "" for its first; 0 if it is not there. */
uint64_t cgroup_number(const char *dir, const char *file, const char *word);
/* The same of a text. */
uint64_t cgroup_number_in(const char *text, const char *word);
/* May that one of dirs have files of the controller?  The others are not tried. */
bool cgroup_has(const struct capsule_cgroup *cg, unsigned i,
		const char *controller);
/* Its share of the processors: 100 is usual.  What it has not is ignored. */
void cgroup_weigh(const char *dir, unsigned cpu_weight);
/*
 * Set its limits, raised a little for Stint's own processes inside: for init
 * always, and with `move` for those that take part in a move.  A limit is not
 * set below what the rank uses: -EBUSY, and it stays as it was.  That of processors
 * is set with the others but for a move, which leaves it as it is: none, in groups
 * that were just made.
 */
int cgroup_limit(const struct capsule_cgroup *cg, const struct limits *limits,
		 bool move, struct error *err) must_check;
/*
 * Keep the limit of processors, if there is one, or lift it for a while: whoever it
 * holds back freezes when the kernel lets it run again, tenths of a second later.
 */
int cgroup_hold_back(const struct capsule_cgroup *cg,
		     const struct limits *limits, bool on,
		     struct error *err) must_check;
/*
 * Have processes outside of these groups go before those inside (cpu.idle; before
 * Linux 5.15 by the least weight), or by their weight as cgroup_make() set it.  The
 * class of a thread alone does not do that: it counts among the threads of its own
 * group.  On disks likewise, where the kernel has a class for groups.  Looks first, and
 * writes only what differs.
 */
void cgroup_claim(char *const *dirs, unsigned n, unsigned cpu_weight, bool low);
/*
 * Call fn for each process or thread that a file of the group lists; true if it was once.
 * Those of another pid namespace, which are listed as 0, are passed over.
 */
bool cgroup_each(const char *dir, const char *file,
		 bool (*fn)(const char *dir, pid_t id));
/*
 * On: have the groups go as if they had never been claimed, so that threads in them that
 * were stirred (core/claim.h) get to stop.  Off: all in them that is marked is lowered
 * again, and they are behind others if anything is.
 */
void cgroup_stir(char *const *dirs, unsigned n, unsigned cpu_weight, bool on);
/* What is in them was killed: have it end, and its memory free, although others compute. */
void cgroup_hasten(char *const *dirs, unsigned n);
/* How often they were hit so far; of those that are not set, what others' limits do. */
void cgroup_met(const struct capsule_cgroup *cg, const struct limits *limits,
		struct limits_met *ret);
/* Can cgroup_limit() limit this resource here ("memory", "pids", "cpu")? */
bool cgroup_can_limit(const char *controller);

/*
 * The directory of the caller's own group for a v1 controller ("" for v2),
 * from the texts of /proc/self/mountinfo and /proc/self/cgroup; NULL when there
 * is none.  For the caller to free.
 */
char *cgroup_locate(const char *mountinfo, const char *own,
		    const char *controller);
/*
 * What is mounted is read now, if it has changed, for this process and those that
 * it forks, which then do not look for themselves.  True if it was known otherwise.
 */
bool cgroup_know_mounts(void);
/* These texts of this process, of mounts those of groups: 0, or -EIO on a
 * host without groups. */
struct cgroup_texts {
	char *mounts, *own;
};
int cgroup_texts_read(struct cgroup_texts *ret) must_check;
void cgroup_texts_clear(struct cgroup_texts *t);
/* cgroup_locate() for this process; "" is what cgroup_set_home() says, if that was called. */
char *cgroup_own(const char *controller);
/*
 * May groups be made there?  What a process could once it is not asked again: to make one
 * fails then, too.
 */
bool cgroup_writable(const char *dir);
/*
 * From now on dir takes the place of this process's own group on cgroup v2: a group
 * that somebody made for capsules.  -EINVAL if it is none.
 */
int cgroup_set_home(const char *dir, struct error *err) must_check;
/* v2: move the processes that are in the group itself into its leaf. */
int cgroup_settle(const char *dir, struct error *err) must_check;

#endif
