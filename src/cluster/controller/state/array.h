/*
 * array.h - arrays of jobs: many jobs by one submit
 *
 * Each task of an array is a job like any other, with a number of its own; those
 * of an array follow each other, and the first of them is the array's number.  An
 * array may let only so many of its jobs run at a time (Submit.tasks_at_once):
 * the others wait for their turn, and are none of the policy's until they have it.
 * Turns are not stored: after a restart those that have started have theirs, and
 * of the others those with the lowest numbers get one.
 */
#ifndef CLUSTER_CONTROLLER_STATE_ARRAY_H
#define CLUSTER_CONTROLLER_STATE_ARRAY_H

#include "cluster/controller/state/state.h"

/* NULL: there is no job of an array of that number. */
struct ctl_array *ctl_array_find(struct ctl *ctl, uint64_t id);
/*
 * Ranges that a request names, each by its first and last task, put in order for
 * ctl_array_means(), which then asks no more than a few of them for each job; more
 * than an array has tasks are refused.  Afterwards a `last` is that of all ranges
 * up to it.
 */
int ctl_array_ranges(Control__TaskRange **range, size_t n, struct error *err);
/* Is a job of that task meant?  Without ranges, all are. */
bool ctl_array_means(const struct ctl_job *job,
		     Control__TaskRange *const *range, size_t n);

/* Jobs come and go; those of no array are let through. */
void ctl_array_join(struct ctl_job *job);
void ctl_array_leave(struct ctl_job *job);

/*
 * May it start, as far as its array goes?  If so, it has its turn from now on;
 * else it waits for it, and why says so.
 */
bool ctl_array_admits(struct ctl_job *job);
/* It has started: it has its turn, whatever the limit. */
void ctl_array_has_turn(struct ctl_job *job);
/* It is over, or held: another one may start. */
void ctl_array_turn_over(struct ctl_job *job);
/* The next that waits for its turn, and gets it; NULL: none does. */
struct ctl_job *ctl_array_next(struct ctl *ctl, struct ctl_array *a);

#endif
