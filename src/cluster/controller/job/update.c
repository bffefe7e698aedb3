/*
 * update.c - what was asked for a job is changed: all that a request names, or nothing
 *
 * Hosts, estimate and limits of ranks are of a job that waits.  Where that changes what
 * the policy was told, the job leaves its view and arrives anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/user_jobs.h"
#include "cluster/controller/users/users.h"
#include "core/xalloc.h"
#include "model/record.h"

/* A job's own hosts are bounded, as those of many jobs may be changed by one request. */
enum { HOSTS_MOST = 16 };

/* What of a spec may be changed while the job waits. */
struct asked {
	uint64_t memory, pids, milli_cpus, output_max, estimate_usec;
	char **hosts; /* not owned */
	size_t n_hosts;
};

static struct asked asked_of(const Control__Submit *s)
{
	return (struct asked){ .memory = s->memory,
			       .pids = s->pids,
			       .milli_cpus = s->milli_cpus,
			       .output_max = s->output_max,
			       .estimate_usec = s->estimate_usec,
			       .hosts = s->hosts,
			       .n_hosts = s->n_hosts };
}

static void put_asked(Control__Submit *s, const struct asked *a)
{
	s->memory = a->memory;
	s->pids = a->pids;
	s->milli_cpus = a->milli_cpus;
	s->output_max = a->output_max;
	s->estimate_usec = a->estimate_usec;
	s->hosts = a->hosts;
	s->n_hosts = a->n_hosts;
}

/* 0: as it is; all ones: none. */
static void set_number(uint64_t *to, uint64_t value)
{
	if (value)
		*to = value == UINT64_MAX ? 0 : value;
}

static void apply(struct asked *to, const Control__ChangeJob *c)
{
	const Control__Limits *l = c->limits;

	if (l) {
		set_number(&to->memory, l->memory);
		set_number(&to->pids, l->pids);
		set_number(&to->milli_cpus, l->milli_cpus);
		set_number(&to->output_max, l->output_max);
	}
	set_number(&to->estimate_usec, c->estimate_usec);
	if (c->n_hosts || c->any_host) {
		to->hosts = c->hosts;
		to->n_hosts = c->any_host ? 0 : c->n_hosts;
	}
}

/* Can it run like this?  Hosts that are not there now are waited for. */
static int check_place(struct ctl_job *job, struct error *err)
{
	uint32_t *hosts = NULL;
	int r;

	if (job->spec->n_hosts) {
		hosts = xcalloc(job->nr, sizeof(*hosts));
		r = ctl_sched_fixed(job, hosts, err);
		r = r == -ENOENT ? r : 0;
		free(hosts);
	} else {
		r = ctl_sched_check(job, err);
	}
	return r ? r : ctl_limit_check(job, NULL, err);
}

static int check_asked(struct ctl_job *job, const Control__ChangeJob *c,
		       struct error *err)
{
	const Control__Submit *s = job->spec;
	size_t most = s->ranks > HOSTS_MOST ? s->ranks : HOSTS_MOST;

	if (s->estimate_usec > RECORD_ESTIMATE_MAX)
		return error_set(err, -EINVAL,
				 "a run time of more than ten years");
	if (c->n_hosts > most)
		return error_set(err, -E2BIG, "%zu hosts: %zu at most",
				 c->n_hosts, most);
	return ctl_job_check_limits(s, err);
}

/* Nothing of the request's message is kept. */
static void own_hosts(Control__Submit *s, const struct asked *old)
{
	char **hosts = s->n_hosts ? xcalloc(s->n_hosts, sizeof(*hosts)) : NULL;

	for (size_t i = 0; i < s->n_hosts; i++)
		hosts[i] = xstrdup(s->hosts[i]);
	s->hosts = hosts;
	for (size_t i = 0; i < old->n_hosts; i++)
		free(old->hosts[i]);
	free(old->hosts);
}

/* The policy has planned with what was asked for before. */
static void come_anew(struct ctl_job *job)
{
	if (job->model)
		ctl_sched_leave(job);
	if (!ctl_job_is_kept(job))
		ctl_job_set_why(job, "");
	if (!ctl_job_is_kept(job) && ctl_array_admits(job) &&
	    !job->spec->n_hosts)
		ctl_sched_arrive(job);
	else
		ctl_job_is_outside(job);
	ctl_sched_soon(job->ctl);
}

static int change_waiting(struct ctl_job *job, const Control__ChangeJob *c,
			  struct error *err)
{
	struct asked old = asked_of(job->spec), now = old;
	bool place = c->n_hosts || c->any_host;
	int r;

	apply(&now, c);
	put_asked(job->spec, &now);
	r = check_asked(job, c, err);
	if (!r)
		r = check_place(job, err);
	if (r < 0) {
		put_asked(job->spec, &old);
		return r;
	}
	if (place)
		own_hosts(job->spec, &old);
	if (place || now.estimate_usec != old.estimate_usec)
		come_anew(job);
	return 0;
}

/* The policy learns of it as of a new one, when they are over. */
static void follow_others(struct ctl_job *job, const Control__ChangeJob *c)
{
	ctl_array_turn_over(job);
	ctl_after_replace(job, c);
	come_anew(job);
	ctl_after_decide(job);
}

int ctl_job_update(struct ctl_peer *p, struct ctl_job *job,
		   const struct ctl_change *change, struct error *err)
{
	const Control__ChangeJob *c = change->ask;
	bool after = c->n_after || c->no_after;
	bool waits = c->estimate_usec || c->limits || c->n_hosts ||
		     c->any_host || after;
	int r = ctl_job_check_name(c->name, err);

	if (!r && (waits || job->state == STATE(DONE)))
		r = ctl_job_must_wait(job, err);
	if (!r)
		r = ctl_job_check_limit(job, c->limit_usec, err);
	if (!r && after)
		r = ctl_after_may(p, job, change, err);
	if (!r && waits)
		r = change_waiting(job, c, err);
	if (r < 0)
		return r;
	if (after)
		follow_others(job, c);
	ctl_job_set_limit(job, c->limit_usec);
	if (*c->name)
		message_set_text(&job->spec->name, xstrdup(c->name));
	ctl_user_jobs_resize(job, ctl_job_size(job->spec));
	ctl_job_store(job);
	return 0;
}
