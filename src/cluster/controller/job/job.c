/*
 * controller_job.c - the life of a job
 *
 *	WAITING -> STARTING -> RUNNING -> ENDING -> DONE
 *
 * ENDING: a rank has ended, or somebody wants the job to end.  The first rank
 * that fails decides the job's exit code, and the others are killed, as
 * mpirun does.  DONE when every rank is.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/record.h"

struct ctl_job *ctl_job_find(struct ctl *ctl, uint64_t id)
{
	struct ctl_job *job;

	TAILQ_FOREACH (job, &ctl->jobs, link)
		if (job->id == id)
			return job;
	return NULL;
}

bool ctl_rank_active(const struct ctl_rank *r)
{
	return r->state == STATE(STARTING) || r->state == STATE(RUNNING);
}

void ctl_job_store(struct ctl_job *job)
{
	size_t n = control__submit__get_packed_size(job->spec);
	uint8_t *spec = xmalloc(n);
	struct store_job row = { .id = job->id,
				 .state = job->state,
				 .spec = spec,
				 .spec_n = n,
				 .why = job->why,
				 .submit = job->submit,
				 .start = job->start,
				 .end = job->end,
				 .exit = job->exit,
				 .bad_rank = job->bad_rank,
				 .cause_at = job->cause_at,
				 .pmi_generation = job->pmi_generation,
				 .pmi_release = job->pmi_release,
				 .pmi_release_n = job->pmi_release_n };

	control__submit__pack(job->spec, spec);
	store_put_job(job->ctl->store, &row);
	free(spec);
}

void ctl_rank_store(struct ctl_rank *r)
{
	struct store_rank row = { .job = r->job->id,
				  .rank = r->rank,
				  .state = r->lost ? STATE(LOST) : r->state,
				  .host = r->host ? r->host->name : "",
				  .address = ntohl(r->address.s_addr),
				  .epoch = r->epoch,
				  .last_epoch = r->last_epoch,
				  .exit = r->exit,
				  .moves = r->moves,
				  .downtime = r->downtime,
				  .stdout_end = r->stdout_end,
				  .stderr_end = r->stderr_end };

	store_put_rank(r->job->ctl->store, &row);
}

/* Takes spec. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec)
{
	struct ctl_job *job = xcalloc(1, sizeof(*job));

	job->ctl = ctl;
	job->id = id;
	job->spec = spec;
	job->size = control__submit__get_packed_size(spec);
	job->nr = spec->started_ranks ? spec->started_ranks : spec->ranks;
	job->bad_rank = -1;
	job->state = STATE(WAITING);
	job->why = xstrdup("");
	job->ranks = xcalloc(job->nr, sizeof(*job->ranks));
	for (uint32_t i = 0; i < job->nr; i++) {
		job->ranks[i].job = job;
		job->ranks[i].rank = i;
		job->ranks[i].state = STATE(WAITING);
	}
	job->gather = pmi_gather_create(job->nr);
	TAILQ_INIT(&job->turns);
	TAILQ_INSERT_TAIL(&ctl->jobs, job, link);
	return job;
}

void ctl_job_destroy(struct ctl_job *job)
{
	TAILQ_REMOVE(&job->ctl->jobs, job, link);
	if (job->client)
		job->client->job = NULL;
	sd_event_source_disable_unref(job->grace);
	sd_event_source_disable_unref(job->killer);
	pmi_gather_destroy(job->gather);
	control__submit__free_unpacked(job->spec, NULL);
	free(job->pmi_release);
	free(job->ranks);
	free(job->why);
	free(job);
}

/* Of a thousand jobs that are over, lists show so much each. */
static void shorten_arguments(Control__Submit *s)
{
	size_t n = 0, bytes = 0, last;

	while (n < s->n_argv &&
	       (bytes += strlen(s->argv[n])) <= CTL_ARGUMENTS_KEPT)
		n++;
	if (n == s->n_argv)
		return;
	message_set_text(&s->argv[n], xstrdup("..."));
	last = n + 1;
	for (n = last; n < s->n_argv; n++)
		free(s->argv[n]);
	s->n_argv = last;
}

void ctl_job_shed(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	for (size_t i = 0; i < s->n_env; i++)
		free(s->env[i]);
	free(s->env);
	s->env = NULL;
	s->n_env = 0;
	shorten_arguments(s);
	message_set_text(&s->cwd, xstrdup(""));
	free(job->pmi_release);
	job->pmi_release = NULL;
	job->pmi_release_n = 0;
	pmi_gather_destroy(job->gather);
	job->gather = NULL;
}

/* Something still points into it. */
static bool in_use(const struct ctl_job *job)
{
	const struct klink *k;

	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].move)
			return true;
	TAILQ_FOREACH (k, &job->ctl->klinks, link)
		if (k->job == job)
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
		store_forget_job(ctl->store, job->id);
		ctl_job_destroy(job);
		ctl->nr_ended--;
	}
}

/* ---- beginning ---- */

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
		return error_set(err, -EINVAL,
				 "at least %u ranks and at most %u: that is no "
				 "number of ranks",
				 s->min_ranks, s->ranks);
	if (s->estimate_usec > RECORD_ESTIMATE_MAX)
		return error_set(err, -EINVAL,
				 "a run time of more than ten years");
	s->started_ranks = 0;
	s->stopping = false;
	return ctl_user_submits(p, s, err);
}

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

/* ---- ending ---- */

static void job_done(struct ctl_job *job)
{
	job->state = STATE(DONE);
	job->end = ctl_now();
	job->killer = sd_event_source_disable_unref(job->killer);
	ctl_job_shed(job);
	ctl_job_store(job);
	log_info("job=%llu state=done exit=%d why=\"%s\"",
		 (unsigned long long)job->id, job->exit,
		 ctl_log_text(job->ctl, job->why));
	ctl_sched_end(job);
	ctl_job_tell(job);
	job->ctl->nr_ended++;
}

static void check_done(struct ctl_job *job)
{
	if (job->state == STATE(DONE))
		return;
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].state != STATE(DONE))
			return;
	job_done(job);
}

static void rank_done(struct ctl_rank *r, int code)
{
	r->state = STATE(DONE);
	r->exit = code;
	ctl_rank_store(r);
	if (r->host)
		ctl_host_check_drained(r->host, NULL);
}

static void kill_ranks(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		struct ctl_rank *r = &job->ranks[i];
		struct klink *k = klink_of(r);

		if (r->state == STATE(DONE))
			continue;
		if (r->state == STATE(WAITING) ||
		    (r->state == STATE(STARTING) && (!k || !k->start_sent)))
			rank_done(r, job->exit);
		if (k)
			klink_kill(k);
		/* A copy that is landing must not outlive it. */
		k = r->move ? ctl_move_dest(r->move) : NULL;
		if (k)
			klink_kill(k);
	}
	check_done(job);
}

void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...)
{
	struct error err, why;
	va_list ap;

	if (job->state == STATE(DONE))
		return;
	if (!job->exit) {
		va_start(ap, fmt);
		vsnprintf(err.text, sizeof(err.text), fmt, ap);
		va_end(ap);
		/* Some of it may be the program's: nothing a terminal obeys. */
		error_set(&why, 0, "%s", err.text);
		free(job->why);
		job->why = xstrdup(why.text);
		job->exit = code;
		job->bad_rank = bad_rank;
	}
	job->state = STATE(ENDING);
	ctl_job_store(job);
	kill_ranks(job);
}

void ctl_job_cause(struct ctl_job *job, usec_t at)
{
	if (job->state == STATE(DONE) || job->spec->stopping)
		return;
	if (at && job->cause_at && at < job->cause_at)
		job->exit = 0;
	if (!job->exit)
		job->cause_at = at;
}

void ctl_rank_ended(struct ctl_rank *r, int code, int signo)
{
	struct ctl_job *job = r->job;
	char met[CTL_LIMIT_TEXT];
	bool over;

	if (r->state == STATE(DONE))
		return;
	rank_done(r, code);
	if (job->state == STATE(RUNNING) || job->state == STATE(STARTING))
		job->state = STATE(ENDING);
	over = ctl_limit_words(r, met);
	if (code && job->spec->stopping) /* as it was told to */
		ctl_job_fail(job, r->rank, code, "%s", job->why);
	else if (over)
		ctl_job_fail(job, r->rank, code, "rank %u %s", r->rank, met);
	else if (signo)
		ctl_job_fail(job, r->rank, code,
			     "rank %u was ended by signal %d (%s)%s", r->rank,
			     signo, strsignal(signo), met);
	else if (code)
		ctl_job_fail(job, r->rank, code,
			     "rank %u exited with code %d%s", r->rank, code,
			     met);
	else
		ctl_limit_note(r, met);
	check_done(job);
}

void ctl_rank_lost(struct ctl_rank *r, const char *how)
{
	if (r->state == STATE(DONE))
		return;
	log_warnx("job=%llu rank=%u host=%s lost why=\"%s\"",
		  (unsigned long long)r->job->id, r->rank,
		  r->host ? r->host->name : "", how);
	r->lost = true;
	if (r->move)
		ctl_move_failed(r->move, how);
	rank_done(r, 1);
	ctl_pmi_no_echo(r->job);
	ctl_job_fail(r->job, r->rank, 1, "rank %u on %s is lost: %s", r->rank,
		     r->host ? r->host->name : "no host", how);
	check_done(r->job);
}

static int on_kill_grace(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;

	job->killer = sd_event_source_disable_unref(job->killer);
	/* Also of those that are not heard of just now. */
	ctl_job_fail(job, -1, 128 + SIGKILL, "%s", job->why);
	return 0;
}

void ctl_job_kill_later(struct ctl_job *job)
{
	if (!job->killer)
		loop_after(job->ctl->event, &job->killer,
			   job->ctl->conf->kill_grace, on_kill_grace, job);
}

void ctl_job_stop(struct ctl_job *job, const char *why)
{
	if (job->state == STATE(DONE))
		return;
	if (job->state == STATE(WAITING)) {
		ctl_job_fail(job, -1, 128 + SIGTERM, "%s", why);
		return;
	}
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_signal(&job->ranks[i], SIGTERM);
	if (!job->exit) {
		free(job->why);
		job->why = xstrdup(why);
	}
	job->spec->stopping = true;
	ctl_job_store(job);
	ctl_job_kill_later(job);
}
