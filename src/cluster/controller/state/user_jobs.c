/* user_jobs.c - how many jobs each user has, see user_jobs.h */
#include "cluster/controller/state/user_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

static struct ctl_user_jobs *find(const struct ctl *ctl, const char *user)
{
	struct ctl_user_jobs *u;

	HASH_FIND_STR(ctl->jobs.by_user, user, u);
	return u;
}

const struct ctl_user_jobs *ctl_user_jobs_find(const struct ctl *ctl,
					       const char *user)
{
	return find(ctl, user);
}

static struct ctl_user_jobs *create(struct ctl *ctl, const char *user)
{
	struct ctl_user_jobs *u = xcalloc(1, sizeof(*u));

	u->user = xstrdup(user);
	HASH_ADD_KEYPTR(hh, ctl->jobs.by_user, u->user, strlen(u->user), u);
	return u;
}

static void count(struct ctl_user_jobs *u, const struct ctl_job *job, int n)
{
	u->jobs += n;
	u->ranks += n * (int64_t)job->spec->ranks;
	u->bytes += n * (int64_t)job->size;
}

static void count_over(struct ctl_user_jobs *u, const struct ctl_job *job,
		       int n)
{
	u->over += n;
	u->ranks_over += n * (int64_t)job->spec->ranks;
}

void ctl_user_jobs_join(struct ctl_job *job)
{
	struct ctl_user_jobs *u = find(job->ctl, job->spec->user);

	job->of_user = u ? u : create(job->ctl, job->spec->user);
	count(job->of_user, job, 1);
}

void ctl_user_jobs_resize(struct ctl_job *job, size_t size)
{
	count(job->of_user, job, -1);
	job->size = size;
	count(job->of_user, job, 1);
}

void ctl_user_jobs_over(struct ctl_job *job)
{
	count(job->of_user, job, -1);
	count_over(job->of_user, job, 1);
}

void ctl_user_jobs_leave(struct ctl_job *job)
{
	struct ctl_user_jobs *u = job->of_user;

	if (job->state == STATE(DONE))
		count_over(u, job, -1);
	else
		count(u, job, -1);
	if (u->jobs || u->over)
		return;
	HASH_DEL(job->ctl->jobs.by_user, u);
	free(u->user);
	free(u);
}
