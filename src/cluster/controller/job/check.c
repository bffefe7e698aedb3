/*
 * check.c - check that what a submit asks for is valid and bounded
 *
 * A message with hundreds of thousands of short texts takes many times its size in
 * memory, and a START that is too large for a connection would end that connection for
 * all ranks of a host.  So whatever no host's kernel would take is refused.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "cluster/host/arguments.h"
#include "core/pattern.h"
#include "core/plain.h"
#include "model/record.h"

int ctl_job_check_name(const char *name, struct error *err)
{
	if (strlen(name) > CTL_NAME_MAX)
		return error_set(err, -EINVAL,
				 "a name of %zu bytes: %d at most",
				 strlen(name), CTL_NAME_MAX);
	if (!plain_is(name) || strchr(name, '/'))
		return error_set(err, -EINVAL,
				 "a name has no slash, and nothing that a "
				 "terminal obeys");
	return 0;
}

int ctl_job_must_wait(const struct ctl_job *job, struct error *err)
{
	if (job->state == STATE(WAITING))
		return 0;
	return error_set(err, job->state == STATE(DONE) ? -ESRCH : -EBUSY,
			 "job %llu has %s", (unsigned long long)job->id,
			 job->state == STATE(DONE) ? "ended" : "started");
}

/* Arguments, environment and directory, with the limits of execve(2). */
static int check_program(const Control__Submit *s, struct error *err)
{
	struct arguments sum = { .bytes = 0 };
	int r = 0;

	if (!s->n_argv || !*s->argv[0])
		return error_set(err, -EINVAL, "no program to run");
	r = arguments_add(&sum, s->argv, s->n_argv, err);
	if (!r)
		r = arguments_add(&sum, s->env, s->n_env, err);
	if (!r && strlen(s->cwd) >= PATH_MAX)
		r = error_set(err, -ENAMETOOLONG,
			      "a working directory of %zu bytes: %d at most",
			      strlen(s->cwd), PATH_MAX - 1);
	if (!r && s->n_hosts > CTL_RANKS_MAX)
		r = error_set(err, -E2BIG, "%zu hosts for a job: %d at most",
			      s->n_hosts, CTL_RANKS_MAX);
	return r;
}

/* The files that it prints into, its resource limits and its time limit. */
static int check_files(const Control__Submit *s, struct error *err)
{
	int r = *s->output ? pattern_check(s->output, err) : 0;

	if (!r && *s->error)
		r = pattern_check(s->error, err);
	if (!r && s->n_limits > RLIM_NLIMITS)
		r = error_set(err, -EINVAL, "%zu limits", s->n_limits);
	for (size_t i = 0; i < s->n_limits && !r; i++)
		if (s->limits[i]->resource >= RLIM_NLIMITS ||
		    s->limits[i]->soft > s->limits[i]->hard)
			r = error_set(err, -EINVAL,
				      "invalid limit of resource %u",
				      s->limits[i]->resource);
	if (!r && (s->limit_usec > CTL_LIMIT_MAX || s->warn_signal > 64 ||
		   (s->warn_signal && s->warn_usec >= s->limit_usec)))
		r = error_set(err, -EINVAL,
			      "invalid time limit, or warning before it");
	if (!r && s->umask & ~01777u)
		r = error_set(err, -EINVAL, "umask %o", s->umask);
	return r;
}

int ctl_job_check_limits(const Control__Submit *s, struct error *err)
{
	if (s->milli_cpus && (s->milli_cpus < LIMITS_CPUS_LEAST ||
			      s->milli_cpus > LIMITS_CPUS_MOST))
		return error_set(err, -EINVAL,
				 "invalid limit of processors: %g",
				 (double)s->milli_cpus / 1000);
	return 0;
}

/* The tasks, if it is an array. */
static int check_tasks(const Control__Submit *s, struct error *err)
{
	if (!s->n_tasks)
		return 0;
	if (s->n_tasks > CTL_TASKS_MAX)
		return error_set(err, -E2BIG,
				 "%zu tasks: an array has %d of them at most",
				 s->n_tasks, CTL_TASKS_MAX);
	if (!s->detached)
		return error_set(err, -EINVAL,
				 "an array of jobs has no client: submit it");
	for (size_t i = 1; i < s->n_tasks; i++)
		if (s->tasks[i] <= s->tasks[i - 1])
			return error_set(err, -EINVAL,
					 "task %u does not come after %u",
					 s->tasks[i], s->tasks[i - 1]);
	return 0;
}

int ctl_job_check(struct ctl_peer *p, Control__Submit *s, struct error *err)
{
	int r;

	if (s->ranks < 1 || s->ranks > CTL_RANKS_MAX)
		return error_set(err, -EINVAL,
				 "%u ranks: a job has 1 to %d of them",
				 s->ranks, CTL_RANKS_MAX);
	if (s->key.len > SUBMIT_KEY_MAX)
		return error_set(err, -EINVAL, "a key of %zu bytes: %d at most",
				 s->key.len, SUBMIT_KEY_MAX);
	if (s->min_ranks > s->ranks)
		return error_set(
			err, -EINVAL,
			"at least %u ranks and at most %u: invalid range of ranks",
			s->min_ranks, s->ranks);
	if (s->estimate_usec > RECORD_ESTIMATE_MAX)
		return error_set(err, -EINVAL,
				 "a run time of more than ten years");
	if ((s->requeue || s->detached) && s->stdin_open)
		return error_set(err, -EINVAL,
				 "a job that may be requeued, or has no "
				 "client, cannot read standard input");
	r = check_program(s, err);
	if (!r)
		r = ctl_job_check_name(s->name, err);
	if (!r)
		r = ctl_job_check_limits(s, err);
	if (!r)
		r = check_files(s, err);
	if (!r)
		r = check_tasks(s, err);
	if (!r)
		r = ctl_after_check(s, err);
	if (r < 0)
		return r;
	if (!s->n_tasks)
		s->tasks_at_once = 0;
	s->array = s->task = 0;
	s->started_ranks = 0;
	s->stopping = false;
	s->requeues = 0;
	s->requeuing = s->output_dropped = s->warned = false;
	return ctl_user_submits(p, s, err);
}
