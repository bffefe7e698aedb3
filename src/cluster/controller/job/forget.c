/*
 * forget.c - forget jobs that are over
 *
 * A few each turn: a hundred thousand that were cancelled together are as many rows of
 * several tables, and nobody is served meanwhile.
 */
#include <malloc.h>
#include <string.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/user_jobs.h"

enum {
	FORGET_MOST = 256, /* jobs a turn: some ten milliseconds */
	FORGET_SOME = 16,  /* after each pass: more than usually end in it */
	/* after so many jobs what malloc() has free may be worth giving back */
	TRIM_AFTER = 1000,
};

/* Does anything still point into the job? */
static bool in_use(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].move || !TAILQ_EMPTY(&job->ranks[i].klinks))
			return true;
	return false;
}

/* May the job be forgotten, as far as others are concerned?  It is over. */
static bool is_left(const struct ctl_job *job)
{
	return !job->client && !in_use(job) && !ctl_job_is_awaited(job);
}

/* Somebody may come who asks for more than its account tells. */
static bool is_awaited(struct ctl_job *job)
{
	return !job->spec->detached || ctl_kept_some(job);
}

static void forget(struct ctl_job *job)
{
	job->ctl->jobs.forgotten++;
	ctl_job_forget(job);
}

static bool is_due(struct ctl_job *job, usec_t before)
{
	return job->ctl->jobs.nr_ended > job->ctl->conf->history &&
	       (job->end <= before || !is_awaited(job));
}

static bool prune(struct ctl *ctl, unsigned most)
{
	usec_t before = ctl_now() - ctl->conf->client_grace;
	struct ctl_job *job, *next;
	unsigned n = 0;

	for (job = TAILQ_FIRST(&ctl->jobs.ended);
	     job && n < most && is_due(job, before); job = next) {
		next = TAILQ_NEXT(job, over);
		if (!is_left(job))
			continue;
		forget(job);
		n++;
	}
	return n == most;
}

bool ctl_jobs_prune(struct ctl *ctl)
{
	return prune(ctl, FORGET_MOST);
}

void ctl_jobs_prune_some(struct ctl *ctl)
{
	(void)prune(ctl, FORGET_SOME);
}

void ctl_jobs_give_back(struct ctl *ctl)
{
	if (ctl->jobs.forgotten < TRIM_AFTER)
		return;
	ctl->jobs.forgotten = 0;
	malloc_trim(0);
}

static bool has_too_many(const struct ctl *ctl, const char *user)
{
	const struct ctl_user_jobs *u = ctl_user_jobs_find(ctl, user);
	const struct controller_conf *conf = ctl->conf;
	int64_t most = conf->history > conf->user_jobs ? conf->history
						       : conf->user_jobs;

	return u && (u->over > most || u->ranks_over > conf->user_ranks);
}

/*
 * A job that is over still has its ranks in memory, so a user who submits and cancels
 * as fast as possible could fill the memory within client-grace.  So of each user's
 * jobs that are over only as many are kept as the user has unfinished ones, or as the
 * history holds; those that ended first are forgotten, and two for each that comes, so
 * that they become fewer.
 */
void ctl_jobs_prune_user(struct ctl *ctl, const char *user, size_t come)
{
	struct ctl_job *job, *next;
	size_t most = FORGET_MOST + 2 * come;

	for (job = TAILQ_FIRST(&ctl->jobs.ended);
	     job && most && has_too_many(ctl, user); job = next) {
		next = TAILQ_NEXT(job, over);
		if (strcmp(job->spec->user, user) || !is_left(job))
			continue;
		forget(job);
		most--;
	}
}
