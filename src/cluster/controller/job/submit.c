/*
 * submit.c - jobs come, and those that are over are forgotten
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/plain.h"
#include "core/xalloc.h"
#include "model/record.h"

/* The message's own goes when its handler returns. */
static Control__Submit *submit_copy(const Control__Submit *s)
{
	size_t n = control__submit__get_packed_size(s);
	uint8_t *buf = xmalloc(n);
	Control__Submit *copy;

	control__submit__pack(s, buf);
	copy = control__submit__unpack(NULL, n, buf);
	free(buf);
	return copy;
}

/* The job that was submitted with these words before, in doubt of the answer. */
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
	ctl_job_hold(p, job);
}

static int check_submit(struct ctl_peer *p, Control__Submit *s,
			struct error *err)
{
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
	s->started_ranks = 0;
	s->stopping = false;
	return ctl_user_submits(p, s, err);
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
	if (asked->n_hosts) {
		hosts = xcalloc(job->nr, sizeof(*hosts));
		r = ctl_sched_fixed(job, hosts, &err);
	} else {
		r = ctl_sched_check(job, &err);
	}
	if (!r)
		r = ctl_limit_check(job, hosts, &err);
	if (r < 0) {
		ctl_job_destroy(job);
		ctl_send_failed(p, re, r, "%s", err.text);
		free(hosts);
		return;
	}
	ctl->last_job++;
	job->submit = ctl_now();
	ctl_job_store(job);
	log_info("job=%llu user=%s ranks=%u state=submitted",
		 (unsigned long long)job->id, job->spec->user, job->nr);
	tell_submitted(p, re, job);
	ctl_sched_arrive(job);
	if (hosts) {
		ctl_sched_start(job, hosts);
		ctl_job_start(job, job->nr, hosts);
	}
	free(hosts);
}

/* Something still points into it. */
static bool in_use(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].move || !TAILQ_EMPTY(&job->ranks[i].klinks))
			return true;
	return false;
}

/* Nobody can miss it; its client may be on its way back. */
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
