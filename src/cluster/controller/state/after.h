/*
 * after.h - jobs that are to begin after others (Submit.after)
 *
 * Such a job waits outside of the view until each of them is over, as far as that matters
 * to it: then it is due, and begins, or ends where it can never begin any more.  What is
 * known of their ends is kept in its own spec, in the transaction in which they end, since they may
 * be forgotten before it begins.  It can only name jobs that there were before it, so
 * no circle comes about.
 */
#ifndef CLUSTER_CONTROLLER_STATE_AFTER_H
#define CLUSTER_CONTROLLER_STATE_AFTER_H

#include "cluster/controller/state/state.h"

/* One of a job's spec->after, listed under what it waits for. */
struct ctl_follows {
	struct ctl_job *job;
	struct ctl_awaited *of; /* NULL: that is over */
	TAILQ_ENTRY(ctl_follows) link;
};
TAILQ_HEAD(ctl_followers, ctl_follows);

/* A job, or a whole array, whose end others wait for. */
struct ctl_awaited {
	struct ctl_awaited_key {
		uint64_t id, whole;
	} key;
	struct ctl_followers by;
	UT_hash_handle hh;
};

/* NULL: nobody waits for that. */
struct ctl_awaited *ctl_awaited_find(const struct ctl *ctl, uint64_t id,
				     bool whole);

/* The new job waits for whatever of its spec->after is not over. */
void ctl_after_join(struct ctl_job *job);
/* It does not wait any more, whatever comes of the others. */
void ctl_after_leave(struct ctl_job *job);
/* That one is over. */
void ctl_after_drop(struct ctl_follows *f);
/* Its entry of the job's spec. */
Control__After *ctl_after_of(const struct ctl_follows *f);
/* The job is due: the first of ctl->jobs.due is looked at soon. */
void ctl_after_is_due(struct ctl_job *job);

/* Is it kept from starting, by its user or by jobs that it is to follow? */
bool ctl_job_is_kept(const struct ctl_job *job);

#endif
