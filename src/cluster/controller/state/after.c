/* after.c - jobs that are to begin after others, see after.h */
#include "cluster/controller/state/after.h"

#include <stdlib.h>

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
	TAILQ_INIT(&a->by);
	HASH_ADD(hh, ctl->jobs.awaited, key, sizeof(a->key), a);
	return a;
}

Control__After *ctl_after_of(const struct ctl_follows *f)
{
	return f->job->spec->after[f - f->job->follows];
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
		TAILQ_INSERT_TAIL(&f->of->by, f, link);
	}
}

void ctl_after_drop(struct ctl_follows *f)
{
	struct ctl_awaited *a = f->of;

	if (!a)
		return;
	f->of = NULL;
	TAILQ_REMOVE(&a->by, f, link);
	if (!TAILQ_EMPTY(&a->by))
		return;
	HASH_DEL(f->job->ctl->jobs.awaited, a);
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
