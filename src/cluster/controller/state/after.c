/* after.c - jobs that are to begin after others, see after.h */
#include "cluster/controller/state/after.h"

#include <stdlib.h>

#include "cluster/controller/state/array.h"
#include "core/xalloc.h"

struct ctl_awaited *ctl_awaited_find(const struct ctl *ctl, uint64_t id,
				     bool whole)
{
	const struct ctl_awaited_key key = { .id = id, .whole = whole };
	struct ctl_awaited *a;

	HASH_FIND(hh, ctl->jobs.awaited, &key, sizeof(key), a);
	return a;
}

static struct ctl_awaited *awaited(struct ctl *ctl, uint64_t id, bool whole)
{
	struct ctl_awaited *a = ctl_awaited_find(ctl, id, whole);

	if (a)
		return a;
	a = xcalloc(1, sizeof(*a));
	a->key = (struct ctl_awaited_key){ .id = id, .whole = whole };
	TAILQ_INIT(&a->ok);
	TAILQ_INIT(&a->rest);
	HASH_ADD(hh, ctl->jobs.awaited, key, sizeof(a->key), a);
	return a;
}

Control__After *ctl_after_of(const struct ctl_follows *f)
{
	return f->job->spec->after[f - f->job->follows];
}

static struct ctl_followers *list_of(const struct ctl_follows *f)
{
	return ctl_after_of(f)->kind == CONTROL__AFTER_KIND__AFTER_OK
		       ? &f->of->ok
		       : &f->of->rest;
}

void ctl_after_join(struct ctl_job *job)
{
	const Control__Submit *s = job->spec;

	if (!s->n_after || s->followed)
		return;
	job->after = AFTER_WAITS;
	job->follows = xcalloc(s->n_after, sizeof(*job->follows));
	for (size_t i = 0; i < s->n_after; i++) {
		struct ctl_follows *f = &job->follows[i];

		f->job = job;
		if (s->after[i]->over)
			continue;
		f->of = awaited(job->ctl, s->after[i]->job, s->after[i]->whole);
		TAILQ_INSERT_TAIL(list_of(f), f, link);
	}
}

void ctl_after_drop(struct ctl_follows *f)
{
	struct ctl_jobs *jobs = &f->job->ctl->jobs;
	struct ctl_awaited *a = f->of;

	if (!a)
		return;
	TAILQ_REMOVE(list_of(f), f, link);
	f->of = NULL;
	if (!TAILQ_EMPTY(&a->ok) || !TAILQ_EMPTY(&a->rest))
		return;
	if (a->tells)
		TAILQ_REMOVE(&jobs->telling, a, link);
	HASH_DEL(jobs->awaited, a);
	free(a);
}

void ctl_after_leave(struct ctl_job *job)
{
	for (size_t i = 0; job->follows && i < job->spec->n_after; i++)
		ctl_after_drop(&job->follows[i]);
	free(job->follows);
	job->follows = NULL;
	if (job->after == AFTER_DUE)
		TAILQ_REMOVE(&job->ctl->jobs.due, job, due);
	job->after = AFTER_FREE;
}

void ctl_after_is_due(struct ctl_job *job)
{
	if (job->after != AFTER_WAITS)
		return;
	job->after = AFTER_DUE;
	TAILQ_INSERT_TAIL(&job->ctl->jobs.due, job, due);
}

bool ctl_job_is_kept(const struct ctl_job *job)
{
	return job->spec->held || job->after != AFTER_FREE;
}

/* ---- the ends that they are told of */

struct ctl_end ctl_end_of_job(const struct ctl_job *job)
{
	return (struct ctl_end){ .over = job->state == STATE(DONE),
				 .failed =
					 job->state == STATE(DONE) && job->exit,
				 .exit = job->exit,
				 .reason = job->reason,
				 .uid = job->spec->uid };
}

struct ctl_end ctl_end_of_array(const struct ctl_array *a)
{
	return (struct ctl_end){ .over = !a->open,
				 .failed = a->failed,
				 .exit = a->exit,
				 .reason = a->reason,
				 .uid = a->uid };
}

void ctl_after_note(Control__After *a, const struct ctl_end *end, uint32_t uid)
{
	a->over = end->over;
	if (!end->failed || a->failed)
		return;
	a->failed = true;
	a->exit = (uint32_t)end->exit;
	a->reason = end->uid == uid || end->uid == CTL_ANYBODY
			    ? (Control__Reason)end->reason
			    : ENDED(EXIT_CODE);
}

bool ctl_job_is_awaited(const struct ctl_job *job)
{
	const struct ctl *ctl = job->ctl;
	const struct ctl_array *a = job->array;

	return ctl->jobs.awaited &&
	       (ctl_awaited_find(ctl, job->id, false) ||
		(a && a->tasks == 1 && ctl_awaited_find(ctl, a->id, true)));
}

void ctl_awaited_tell(struct ctl *ctl, struct ctl_awaited *a,
		      const struct ctl_end *end)
{
	if (!end->over && end->failed == a->end.failed)
		return;
	a->end = *end;
	if (!a->tells)
		TAILQ_INSERT_TAIL(&ctl->jobs.telling, a, link);
	a->tells = true;
}

static struct ctl_follows *first_of(const struct ctl_awaited *a)
{
	struct ctl_follows *f = TAILQ_FIRST(&a->ok);

	return f || !a->end.over ? f : TAILQ_FIRST(&a->rest);
}

struct ctl_follows *ctl_after_next(struct ctl *ctl)
{
	struct ctl_jobs *jobs = &ctl->jobs;
	struct ctl_awaited *a;
	struct ctl_follows *f;

	while ((a = TAILQ_FIRST(&jobs->telling))) {
		TAILQ_REMOVE(&jobs->telling, a, link);
		f = first_of(a);
		if (f) {
			TAILQ_INSERT_TAIL(&jobs->telling, a, link);
			return f;
		}
		a->tells = false;
	}
	return NULL;
}
