/*
 * after.h - jobs that are to begin after others (Submit.after)
 *
 * Such a job waits outside of the view until each of them is over, as far as that matters
 * to it: then it begins, or ends where it can never begin any more.  What is
 * known of their ends is kept in its own spec, since they may
 * be forgotten before it begins.  It can only name jobs that there were before it, so
 * no circle comes about.
 *
 * A hundred thousand may follow one: they are told some at a time (job/follow.c).  Until all
 * are, what they follow is not forgotten, so that the next controller goes on.
 */
#ifndef CLUSTER_CONTROLLER_STATE_AFTER_H
#define CLUSTER_CONTROLLER_STATE_AFTER_H

#include "cluster/controller/state/state.h"

/* How a job, or a whole array, has ended so far. */
struct ctl_end {
	bool over, failed;
	int exit, reason; /* if it failed */
	uint32_t uid;	  /* whose it is: who is told the reason */
};
#define CTL_ANYBODY UINT32_MAX /* no user's number */

/* One of a job's spec->after, listed under what it waits for. */
struct ctl_follows {
	struct ctl_job *job;
	struct ctl_awaited *of; /* NULL: it was told */
	TAILQ_ENTRY(ctl_follows) link;
};
TAILQ_HEAD(ctl_followers, ctl_follows);

/* A job, or a whole array, whose end others wait for. */
struct ctl_awaited {
	struct ctl_awaited_key {
		uint64_t id, whole;
	} key;
	/* those to whom a failure is enough, and those that wait for the end */
	struct ctl_followers ok, rest;
	struct ctl_end end; /* what they are told */
	bool tells;	    /* it is in ctl->jobs.telling */
	TAILQ_ENTRY(ctl_awaited) link;
	UT_hash_handle hh;
};

/* NULL: nobody waits for that. */
struct ctl_awaited *ctl_awaited_find(const struct ctl *ctl, uint64_t id,
				     bool whole);
/* Is the job, which is over, the last that knows of an end that others are to be told? */
bool ctl_job_is_awaited(const struct ctl_job *job);
/* Those that wait for it are told this end from now on; nothing if that is not new. */
void ctl_awaited_tell(struct ctl *ctl, struct ctl_awaited *a,
		      const struct ctl_end *end);
/*
 * The next one that is to be told, by ctl_after_note() and ctl_after_drop(); NULL: all
 * are.  What there is to tell takes turns.
 */
struct ctl_follows *ctl_after_next(struct ctl *ctl);

struct ctl_end ctl_end_of_job(const struct ctl_job *job);
struct ctl_end ctl_end_of_array(const struct ctl_array *a);
/*
 * Note what the job of that user is told.  That it failed everybody sees; why is its
 * user's.
 */
void ctl_after_note(Control__After *a, const struct ctl_end *end, uint32_t uid);

/* The new job waits for whatever of its spec->after is not over. */
void ctl_after_join(struct ctl_job *job);
/* It does not wait any more, whatever comes of the others. */
void ctl_after_leave(struct ctl_job *job);
/* It was told, and does not wait for that any more. */
void ctl_after_drop(struct ctl_follows *f);
/* Its entry of the job's spec. */
Control__After *ctl_after_of(const struct ctl_follows *f);
/* The job is due: the first of ctl->jobs.due is looked at soon. */
void ctl_after_is_due(struct ctl_job *job);

/* Is it kept from starting, by its user or by jobs that it is to follow? */
bool ctl_job_is_kept(const struct ctl_job *job);

#endif
