/*
 * submit.c - jobs come, and those that are over are forgotten
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/pattern.h"
#include "core/plain.h"
#include "core/xalloc.h"
#include "model/record.h"

/* Fields of a later protocol, or of a liar: we would keep them for nothing. */
static void drop_unknown(ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->n_unknown_fields; i++)
		free(m->unknown_fields[i].data);
	free(m->unknown_fields);
	m->unknown_fields = NULL;
	m->n_unknown_fields = 0;
}

/* A copy: the message itself is freed when its handler returns. */
static Control__Submit *submit_copy(const Control__Submit *s)
{
	size_t n = control__submit__get_packed_size(s);
	uint8_t *buf = xmalloc(n);
	Control__Submit *copy;

	control__submit__pack(s, buf);
	copy = control__submit__unpack(NULL, n, buf);
	free(buf);
	drop_unknown(&copy->base);
	for (size_t i = 0; i < copy->n_limits; i++)
		drop_unknown(&copy->limits[i]->base);
	return copy;
}

/*
 * The job of an earlier submit with the same key, whose answer the client
 * did not get.
 */
static struct ctl_job *submitted_before(struct ctl_peer *p,
					const Control__Submit *s)
{
	struct ctl_job *job;

	if (!s->key.len)
		return NULL;
	TAILQ_FOREACH_REVERSE(job, &p->ctl->jobs, ctl_jobs, link)
	if (job->spec->key.len == s->key.len &&
	    !memcmp(job->spec->key.data, s->key.data, s->key.len) &&
	    !strcmp(job->spec->user, s->user))
		return job;
	return NULL;
}

static void tell_submitted(struct ctl_peer *p, uint64_t re, struct ctl_job *job)
{
	Control__Submitted done = CONTROL__SUBMITTED__INIT;

	done.job = job->id;
	ctl_send(p, 0, re, MESSAGE_BODY(SUBMITTED), &done);
	/* It attaches next; until then it is there, and no grace runs. */
	if (!job->spec->detached)
		ctl_job_hold(p, job);
}

/* Of the program's process: where it prints, what it may take. */
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
				      "a limit of resource %u that makes no "
				      "sense",
				      s->limits[i]->resource);
	if (!r && (s->limit_usec > CTL_LIMIT_MAX || s->warn_signal > 64 ||
		   (s->warn_signal && s->warn_usec >= s->limit_usec)))
		r = error_set(
			err, -EINVAL,
			"a time limit or its warning that makes no sense");
	if (!r && s->umask & ~01777u)
		r = error_set(err, -EINVAL, "umask %o", s->umask);
	return r;
}

static int check_submit(struct ctl_peer *p, Control__Submit *s,
			struct error *err)
{
	int r;

	if (!s->n_argv || !*s->argv[0])
		return error_set(err, -EINVAL, "no program to run");
	if (s->ranks < 1 || s->ranks > CTL_RANKS_MAX)
		return error_set(err, -EINVAL,
				 "%u ranks: a job has 1 to %d of them",
				 s->ranks, CTL_RANKS_MAX);
	if (s->key.len > SUBMIT_KEY_MAX)
		return error_set(err, -EINVAL, "a key of %zu bytes",
				 s->key.len);
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
				 "a job that may be begun anew, or has no "
				 "client, reads no standard input");
	r = ctl_job_check_name(s->name, err);
	if (!r)
		r = check_files(s, err);
	if (r < 0)
		return r;
	s->started_ranks = 0;
	s->stopping = false;
	s->requeues = 0;
	s->requeuing = s->output_dropped = s->warned = false;
	return ctl_user_submits(p, s, err);
}

static void start_named(struct ctl_job *job, const uint32_t *hosts)
{
	ctl_sched_arrive(job);
	ctl_sched_start(job, hosts);
	ctl_job_start(job, job->nr, hosts);
}

/* Where its user wants it, at once; or it waits until that can be. */
static int place_named(struct ctl_job *job, uint32_t **ret, struct error *err)
{
	uint32_t *hosts = xcalloc(job->nr, sizeof(*hosts));
	int r = ctl_sched_fixed(job, hosts, err);

	if (!r && !job->spec->held) {
		*ret = hosts;
		return 0;
	}
	free(hosts);
	if (r == -ENOENT || (r < 0 && !job->spec->detached))
		return r;
	ctl_job_set_why(job, r < 0 ? err->text : "");
	return 0;
}

/* All that there is to say against it, and where it goes. */
static int check_job(struct ctl_job *job, uint32_t **hosts, struct error *err)
{
	int r = job->spec->n_hosts ? place_named(job, hosts, err)
				   : ctl_sched_check(job, err);

	return r ? r : ctl_limit_check(job, *hosts, err);
}

static void enter(struct ctl_job *job, const uint32_t *hosts)
{
	if (hosts)
		start_named(job, hosts);
	else if (job->spec->held || job->spec->n_hosts)
		job->ctl->outside = true;
	else
		ctl_sched_arrive(job);
}

void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *asked)
{
	struct ctl *ctl = p->ctl;
	uint32_t *hosts = NULL;
	struct ctl_job *job;
	struct error err;
	int r = check_submit(p, asked, &err);

	job = r < 0 ? NULL : submitted_before(p, asked);
	if (job) {
		tell_submitted(p, re, job);
		return;
	}
	if (!r && store_room(ctl->store) == STORE_ROOM_NONE)
		r = error_set(&err, -ENOSPC, "%s", ctl_room_text(ctl));
	if (!r)
		r = ctl_limit_jobs(p, asked, &err);
	if (r < 0) {
		ctl_send_failed(p, re, r, "%s", err.text);
		return;
	}
	job = ctl_job_create(ctl, ctl->last_job + 1, submit_copy(asked));
	r = check_job(job, &hosts, &err);
	if (r < 0) {
		ctl_job_destroy(job);
		ctl_send_failed(p, re, r, "%s", err.text);
		free(hosts);
		return;
	}
	ctl->last_job++;
	job->submit = ctl_now();
	if (job->spec->held)
		ctl_job_set_why(job, "held since it was submitted");
	ctl_job_store(job);
	log_info("job=%llu user=%s ranks=%u state=submitted",
		 (unsigned long long)job->id, job->spec->user, job->nr);
	tell_submitted(p, re, job);
	enter(job, hosts);
	free(hosts);
}

/* The policy knows nothing of them until they start. */
void ctl_jobs_start_named(struct ctl *ctl)
{
	struct ctl_job *job;
	uint32_t *hosts;
	struct error why;
	bool left = false;

	if (!ctl->outside)
		return;
	TAILQ_FOREACH (job, &ctl->jobs, link) {
		if (job->state != STATE(WAITING) || job->model ||
		    job->spec->held)
			continue;
		hosts = xcalloc(job->nr, sizeof(*hosts));
		if (!ctl_sched_fixed(job, hosts, &why))
			start_named(job, hosts);
		else if (strcmp(job->why, why.text))
			ctl_job_set_why(job, why.text);
		free(hosts);
		left |= !job->model;
	}
	ctl->outside = left;
}

/* Does something still point into the job? */
static bool in_use(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].move || !TAILQ_EMPTY(&job->ranks[i].klinks))
			return true;
	return false;
}

/* May the job be forgotten?  Not while its client may be on its way back. */
static bool forgettable(const struct ctl_job *job, usec_t now)
{
	return job->state == STATE(DONE) && !job->client &&
	       now - job->end >= job->ctl->conf->client_grace && !in_use(job);
}

void ctl_jobs_prune(struct ctl *ctl)
{
	struct ctl_job *job, *next;
	usec_t now = ctl_now();

	for (job = TAILQ_FIRST(&ctl->jobs);
	     job && ctl->nr_ended > ctl->conf->history; job = next) {
		next = TAILQ_NEXT(job, link);
		if (!forgettable(job, now))
			continue;
		ctl_job_forget(job);
	}
}
