/*
 * each.c - find the jobs that a request names, and check that the peer may ask for them
 */
#include <errno.h>
#include <stdlib.h>

#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/xalloc.h"

static int may(struct ctl_peer *p, struct ctl_job *job, uint64_t id,
	       struct error *err)
{
	unsigned long long n = id;

	if (!job)
		return error_set(err, -ESRCH,
				 "no job %llu; `stint ps --all` lists them", n);
	if (ctl_may(p, job))
		return 0;
	return error_set(err, -EPERM, "job %llu is %s's, and you are %s", n,
			 job->spec->user, p->name);
}

struct ctl_job *front_job_for(struct ctl_peer *p, uint64_t re, uint64_t id,
			      const char *what)
{
	struct ctl_job *job = ctl_job_find(p->ctl, id);
	struct error err;
	int r = may(p, job, id, &err);

	if (!r)
		return job;
	if (r == -EPERM)
		front_audit_job(p, &(struct ctl_audited){ .what = what }, id,
				job->spec->user, NULL, 0, r, err.text);
	ctl_send_failed(p, re, r, "%s", err.text);
	return NULL;
}

static int each_of_one(struct ctl_peer *p, uint64_t id, size_t n,
		       front_job_fn fn, const void *arg, struct error *err)
{
	struct ctl_job *job = ctl_job_find(p->ctl, id);
	int r = may(p, job, id, err);

	if (!r && n)
		r = error_set(err, -ESRCH, "job %llu is no array",
			      (unsigned long long)id);
	return r ? r : fn(p, job, arg, err);
}

/*
 * 0 if fn() succeeded for at least one job of the array, else the error of the first.
 */
static int each_of_array(struct ctl_peer *p, struct ctl_array *a,
			 Control__TaskRange *const *range, size_t n,
			 front_job_fn fn, const void *arg, struct error *err)
{
	uint64_t id = a->id, last = a->last;
	bool some = false, took = false;
	struct error why;
	int r = 0, k;

	for (; id <= last; id++) {
		struct ctl_job *job = ctl_job_find(p->ctl, id);

		if (!job || !ctl_array_means(job, range, n))
			continue;
		k = may(p, job, id, &why);
		if (!k)
			k = fn(p, job, arg, &why);
		took |= !k;
		if (k < 0 && !some) {
			*err = why;
			r = k;
		}
		some = true;
	}
	if (took)
		return 0;
	return some ? r
		    : error_set(err, -ESRCH,
				"array %llu has none of these tasks, or they "
				"are forgotten",
				(unsigned long long)a->id);
}

/* Any of the array's jobs: they are one user's. */
static const struct ctl_job *some_of(struct ctl_peer *p,
				     const struct ctl_array *a, uint64_t id)
{
	const struct ctl_job *job = ctl_job_find(p->ctl, id);

	for (uint64_t n = id + 1; a && !job && n <= a->last; n++)
		job = ctl_job_find(p->ctl, n);
	return job;
}

void front_each_job(struct ctl_peer *p, uint64_t re, uint64_t id,
		    Control__TaskRange **range, size_t n, front_job_fn fn,
		    const void *arg, const char *what, const char *detail)
{
	struct ctl_array *a = ctl_array_find(p->ctl, id);
	const struct ctl_job *job = some_of(p, a, id);
	bool others = job && front_is_others(p, job);
	/* the job may be forgotten before it is told */
	char *user = xstrdup(job ? job->spec->user : "");
	struct error err;
	int r = ctl_array_ranges(range, n, &err);

	log_hold();
	if (!r)
		r = a ? each_of_array(p, a, range, n, fn, arg, &err)
		      : each_of_one(p, id, n, fn, arg, &err);
	log_release();
	if (others || (job && r == -EPERM))
		front_audit_job(
			p,
			&(struct ctl_audited){ .what = what, .detail = detail },
			id, user, range, n, r, err.text);
	free(user);
	if (r < 0)
		ctl_send_failed(p, re, r, "%s", err.text);
	else
		ctl_send_ok(p, re);
}
