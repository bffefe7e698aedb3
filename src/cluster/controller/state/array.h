/*
 * array.h - arrays of jobs: many jobs by one submit
 *
 * Each task of an array is a job like any other, with a number of its own.  The numbers
 * of an array's jobs follow each other, and the first one is the array's number.  An
 * array may limit how many of its jobs run at a time (Submit.tasks_at_once): the others
 * wait for their turn, and the policy does not know of them before.  Turns are not
 * stored: after a restart jobs that have started have a turn, and of the others those
 * with the lowest numbers get one.
 */
#ifndef CLUSTER_CONTROLLER_STATE_ARRAY_H
#define CLUSTER_CONTROLLER_STATE_ARRAY_H

#include "cluster/controller/state/state.h"

/* An array, as far as its jobs are remembered. */
struct ctl_array {
	uint64_t id, last; /* numbers of its first and of its last job */
	uint32_t tasks;	   /* how many of its jobs are remembered */
	uint32_t at_once;  /* how many may have a turn at a time; 0: all */
	uint32_t turns;	   /* how many have one */
	uint64_t next;	   /* no job below it waits for its turn */
	uint32_t uid;	   /* whose they are */
	uint32_t open;	   /* how many are not over */
	bool failed;	   /* one of them has, forgotten ones too, like this: */
	int exit, reason;  /* of the first one */
	UT_hash_handle by_id;
};

/* The array with that number; NULL if no job of it is remembered. */
struct ctl_array *ctl_array_find(struct ctl *ctl, uint64_t id);
/*
 * Sort the ranges of tasks that a request names, for ctl_array_means(), which then
 * looks at only a few of them for each job.  Afterwards each `last` is the greatest of
 * all ranges up to that one.  More ranges than an array may have tasks are refused.
 */
int ctl_array_ranges(Control__TaskRange **range, size_t n, struct error *err);
/* Do the ranges name this job's task?  Without ranges, all jobs are meant. */
bool ctl_array_means(const struct ctl_job *job,
		     Control__TaskRange *const *range, size_t n);

/* Add or remove a job; does nothing for one that is not of an array. */
void ctl_array_join(struct ctl_job *job);
void ctl_array_leave(struct ctl_job *job);
/* The job is over; its state is DONE.  True if ctl_array_store() is to tell more of it. */
bool ctl_array_over(const struct ctl_job *job);
/* Store how the array has ended so far. */
void ctl_array_store(struct ctl *ctl, const struct ctl_array *a);
/* After a restart: what is known of the arrays beside their jobs. */
void ctl_arrays_read(struct ctl *ctl);
/* What is stored of the array; false: nothing.  It may be forgotten. */
bool ctl_array_recall(struct ctl *ctl, uint64_t id, struct store_array *ret);

/*
 * May the job start, as far as its array is concerned?  If so, it has a turn from now
 * on; else it waits for one, and its why says so.
 */
bool ctl_array_admits(struct ctl_job *job);
/* The job has started: it has a turn, whatever the limit. */
void ctl_array_has_turn(struct ctl_job *job);
/* The job is over or held: another one of its array may start. */
void ctl_array_turn_over(struct ctl_job *job);
/* The next job that waits for a turn, which it gets now; NULL: none waits. */
struct ctl_job *ctl_array_next(struct ctl *ctl, struct ctl_array *a);

#endif
