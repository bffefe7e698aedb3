/* job.c - create, change, store and destroy jobs */
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/user_jobs.h"
#include "cluster/controller/state/waiters.h"
#include "core/log.h"
#include "core/xalloc.h"

/*
 * What each text of a list takes besides its bytes: the pointer, and what malloc()
 * adds.
 */
enum { TEXT_ROOM = 40, AFTER_ROOM = 200 };

size_t ctl_job_size(const Control__Submit *s)
{
	return control__submit__get_packed_size(s) +
	       TEXT_ROOM * (s->n_argv + s->n_env + s->n_hosts) +
	       AFTER_ROOM * s->n_after;
}

/* Keys are each user's own: the user and the key as one fresh text. */
static char *whose_key(const Control__Submit *s, size_t *ret_n)
{
	size_t n = strlen(s->user) + 1;
	char *key = xmalloc(n + s->key.len);

	memcpy(key, s->user, n);
	memcpy(key + n, s->key.data, s->key.len);
	*ret_n = n + s->key.len;
	return key;
}

struct ctl_job *ctl_job_of_key(struct ctl *ctl, const Control__Submit *s)
{
	struct ctl_job *job;
	size_t n;
	char *key;

	if (!s->key.len)
		return NULL;
	key = whose_key(s, &n);
	HASH_FIND(by_key, ctl->jobs.by_key, key, n, job);
	free(key);
	return job;
}

static void add_key(struct ctl_job *job)
{
	struct ctl_jobs *jobs = &job->ctl->jobs;
	size_t n;

	if (!job->spec->key.len || ctl_job_of_key(job->ctl, job->spec))
		return;
	job->key = whose_key(job->spec, &n);
	HASH_ADD_KEYPTR(by_key, jobs->by_key, job->key, n, job);
}

static void free_addresses(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_free_address(&job->ranks[i]);
}

struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec)
{
	struct ctl_job *job = xcalloc(1, sizeof(*job));

	job->ctl = ctl;
	job->id = id;
	job->spec = spec;
	job->size = ctl_job_size(spec);
	job->nr = spec->started_ranks ? spec->started_ranks : spec->ranks;
	job->bad_rank = -1;
	job->state = STATE(WAITING);
	job->why = xstrdup("");
	job->by = xstrdup("");
	/*
	 * Room for all ranks that it may ever have: after a requeue it may get
	 * more than before.
	 */
	job->ranks = xcalloc(spec->ranks, sizeof(*job->ranks));
	for (uint32_t i = 0; i < spec->ranks; i++)
		ctl_rank_init(&job->ranks[i], job, i);
	job->pmi.gather = pmi_gather_create(job->nr);
	TAILQ_INIT(&job->turns);
	TAILQ_INIT(&job->waiters);
	TAILQ_INIT(&job->kept.readers);
	TAILQ_INSERT_TAIL(&ctl->jobs.list, job, link);
	HASH_ADD(by_id, ctl->jobs.by_id, id, sizeof(job->id), job);
	add_key(job);
	ctl_array_join(job);
	ctl_after_join(job);
	ctl_user_jobs_join(job);
	return job;
}

void ctl_job_destroy(struct ctl_job *job)
{
	ctl_array_leave(job);
	ctl_after_leave(job);
	ctl_user_jobs_leave(job);
	TAILQ_REMOVE(&job->ctl->jobs.list, job, link);
	if (job->state == STATE(DONE)) {
		TAILQ_REMOVE(&job->ctl->jobs.ended, job, over);
		job->ctl->jobs.nr_ended--;
	}
	HASH_DELETE(by_id, job->ctl->jobs.by_id, job);
	if (job->key)
		HASH_DELETE(by_key, job->ctl->jobs.by_key, job);
	free(job->key);
	free_addresses(job);
	if (job->client)
		job->client->job = NULL;
	ctl_waiters_drop(&job->waiters);
	ctl_waiters_drop(&job->kept.readers);
	sd_event_source_disable_unref(job->grace);
	sd_event_source_disable_unref(job->killer);
	sd_event_source_disable_unref(job->limiter);
	pmi_gather_destroy(job->pmi.gather);
	control__submit__free_unpacked(job->spec, NULL);
	free(job->pmi.release);
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_forget_sent(&job->ranks[i]);
	free(job->ranks);
	free(job->talks.pair);
	free(job->why);
	free(job->by);
	free(job);
}

/*
 * Keep only so much of the arguments of jobs that are over, as there may be thousands
 * of them.
 */
static void shorten_arguments(Control__Submit *s)
{
	size_t n = 0, bytes = 0, last;

	while (n < s->n_argv &&
	       (bytes += strlen(s->argv[n]) + TEXT_ROOM) <= CTL_ARGUMENTS_KEPT)
		n++;
	if (n == s->n_argv)
		return;
	message_set_text(&s->argv[n], xstrdup("..."));
	last = n + 1;
	for (n = last; n < s->n_argv; n++)
		free(s->argv[n]);
	s->n_argv = last;
}

static void drop_texts(char ***list, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		free((*list)[i]);
	free(*list);
	*list = NULL;
	*n = 0;
}

static void drop_limits(Control__Submit *s)
{
	for (size_t i = 0; i < s->n_limits; i++)
		control__resource_limit__free_unpacked(s->limits[i], NULL);
	free(s->limits);
	s->limits = NULL;
	s->n_limits = 0;
	free(s->groups);
	s->groups = NULL;
	s->n_groups = 0;
}

/* What only a job that may run needs. */
static void shed(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	drop_limits(s);
	drop_texts(&s->env, &s->n_env);
	drop_texts(&s->hosts, &s->n_hosts);
	shorten_arguments(s);
	message_set_text(&s->cwd, xstrdup(""));
	free(job->pmi.release);
	job->pmi.release = NULL;
	job->pmi.release_n = 0;
	pmi_gather_destroy(job->pmi.gather);
	job->pmi.gather = NULL;
}

void ctl_job_store(struct ctl_job *job)
{
	size_t n = control__submit__get_packed_size(job->spec);
	uint8_t *spec = xmalloc(n);
	struct store_job row = { .id = job->id,
				 .stored = job->stored,
				 .state = job->state,
				 .spec = spec,
				 .spec_n = n,
				 .why = job->why,
				 .submit = job->submit,
				 .start = job->start,
				 .end = job->end,
				 .exit = job->exit,
				 .bad_rank = job->bad_rank,
				 .cause = job->cause,
				 .cause_at = job->cause_at,
				 .limit_met = job->limit_met,
				 .reason = job->reason,
				 .by = job->by,
				 .pmi_generation = job->pmi.generation,
				 .pmi_release = job->pmi.release,
				 .pmi_release_n = job->pmi.release_n };

	control__submit__pack(job->spec, spec);
	store_put_job(job->ctl->store, &row);
	job->stored = true;
	free(spec);
}

void ctl_job_is_outside(struct ctl_job *job)
{
	job->ctl->jobs.outside = true;
}

bool ctl_jobs_outside(struct ctl *ctl)
{
	bool some = ctl->jobs.outside;

	ctl->jobs.outside = false;
	return some;
}

void ctl_job_set_why(struct ctl_job *job, const char *why)
{
	char *old = job->why;

	job->why = xstrdup(why);
	free(old);
}

void ctl_job_set_reason(struct ctl_job *job, int reason, const char *by)
{
	if (job->exit || job->spec->requeuing)
		return;
	job->reason = reason;
	message_set_text(&job->by, xstrdup(by));
}

/* The last of those that are over; its state is DONE. */
static void be_over(struct ctl_job *job)
{
	job->ctl->jobs.nr_ended++;
	TAILQ_INSERT_TAIL(&job->ctl->jobs.ended, job, over);
	ctl_user_jobs_over(job);
	ctl_after_leave(job);
	shed(job);
}

void ctl_job_set_state(struct ctl_job *job, int state)
{
	/* None of its ranks is anywhere, so it is DONE at once, and stored then. */
	bool passes = job->state == STATE(WAITING) && state == STATE(ENDING);

	job->state = state;
	if (state == STATE(STARTING))
		job->start = ctl_now();
	if (state == STATE(DONE)) {
		job->limiter = sd_event_source_disable_unref(job->limiter);
		job->end = ctl_now();
		ctl_array_turn_over(job);
		free_addresses(job);
		be_over(job);
		if (ctl_array_over(job))
			ctl_array_store(job->ctl, job->array);
	}
	if (!passes)
		ctl_job_store(job);
}

void ctl_job_again(struct ctl_job *job)
{
	Control__Submit *s = job->spec;

	s->requeuing = s->warned = false;
	s->requeues++;
	job->limiter = sd_event_source_disable_unref(job->limiter);
	job->reason = ENDED(REASON_NONE);
	message_set_text(&job->by, xstrdup(""));
	s->started_ranks = 0;
	job->nr = s->ranks;
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_again(&job->ranks[i]);
	job->start = 0;
	job->exit = 0;
	job->bad_rank = -1;
	job->limit_met = false;
	job->cause = 0;
	job->cause_at = 0;
	job->input = (struct job_input){ .from = 0 };
	free(job->pmi.release);
	pmi_gather_destroy(job->pmi.gather);
	job->pmi = (struct job_pmi){ .gather = pmi_gather_create(job->nr) };
	ctl_job_set_state(job, STATE(WAITING));
}

void ctl_job_forget(struct ctl_job *job)
{
	store_forget_job(job->ctl->store, job->id);
	ctl_job_destroy(job);
}

/* ---- after a restart ---- */

static void load_release(struct ctl_job *job, const struct store_job *row)
{
	job->pmi.generation = row->pmi_generation;
	if (row->pmi_release_n) {
		job->pmi.release = xmalloc(row->pmi_release_n);
		memcpy(job->pmi.release, row->pmi_release, row->pmi_release_n);
		job->pmi.release_n = row->pmi_release_n;
	}
	pmi_gather_resume(job->pmi.gather, job->pmi.generation);
}

static void load_job(void *arg, const struct store_job *row)
{
	Control__Submit *spec =
		control__submit__unpack(NULL, row->spec_n, row->spec);
	struct ctl_job *job;

	if (!spec || !spec->n_argv || !spec->ranks ||
	    spec->ranks > CTL_RANKS_MAX || spec->started_ranks > spec->ranks) {
		log_warnx("job=%llu cannot be read from the store",
			  (unsigned long long)row->id);
		if (spec)
			control__submit__free_unpacked(spec, NULL);
		return;
	}
	job = ctl_job_create(arg, row->id, spec);
	ctl_job_set_why(job, row->why);
	job->stored = true;
	job->state = row->state;
	job->submit = row->submit;
	job->start = row->start;
	job->end = row->end;
	job->exit = row->exit;
	job->bad_rank = row->bad_rank;
	job->cause = row->cause;
	job->cause_at = row->cause_at;
	job->limit_met = row->limit_met;
	job->reason = row->reason;
	message_set_text(&job->by, xstrdup(row->by));
	load_release(job, row);
}

static int by_end(const void *a, const void *b)
{
	const struct ctl_job *x = *(struct ctl_job *const *)a;
	const struct ctl_job *y = *(struct ctl_job *const *)b;

	return (x->end > y->end) - (x->end < y->end);
}

void ctl_jobs_read(struct ctl *ctl)
{
	struct ctl_job *job, **ended = NULL;
	size_t nr = 0, cap = 0;

	ctl->jobs.last = store_last_job(ctl->store);
	store_each_job(ctl->store, load_job, ctl);
	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		ctl_ranks_read(job);
		if (job->state != STATE(DONE) && job->state != STATE(WAITING))
			ctl_array_has_turn(job);
		if (job->state != STATE(DONE))
			continue;
		array_room(ended, nr, &cap);
		ended[nr++] = job;
	}
	if (nr)
		qsort(ended, nr, sizeof(*ended), by_end);
	for (size_t i = 0; i < nr; i++) {
		be_over(ended[i]);
		(void)ctl_array_over(ended[i]);
	}
	free(ended);
	ctl_arrays_read(ctl);
}
