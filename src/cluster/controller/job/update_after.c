/*
 * update_after.c - a job that waits is to follow others than before
 *
 * Only those that were submitted before it, so that no circle comes about.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/users/users.h"
#include "core/xalloc.h"

static void free_list(Control__After **list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		control__after__free_unpacked(list[i], NULL);
	free(list);
}

/* Whose the job or the array is; 0: there is none, which is said later. */
static uint32_t owner_of(struct ctl *ctl, uint64_t id)
{
	const struct ctl_array *array = ctl_array_find(ctl, id);
	const struct ctl_job *job = array ? NULL : ctl_job_find(ctl, id);

	return array ? array->uid : job ? job->spec->uid : 0;
}

void ctl_after_prepare(struct ctl_peer *p, struct ctl_change *change)
{
	Control__ChangeJob *c = change->ask;
	struct error *err = &change->why;
	int r = 0;

	if (c->change != CONTROL__CHANGE__UPDATE)
		return;
	if (c->n_after && c->no_after)
		r = error_set(err, -EINVAL,
			      "--after: jobs to follow, and none: one of them");
	if (!r)
		r = ctl_after_check_list(c->after, c->n_after, err);
	if (!r)
		r = ctl_after_resolve(p, c->after, c->n_after,
				      owner_of(p->ctl, c->job), err);
	change->code = r;
}

/* The message is others' as well: of all tasks of an array, say. */
static Control__After **copy_list(const Control__ChangeJob *c)
{
	Control__After **list =
		c->n_after ? xcalloc(c->n_after, sizeof(*list)) : NULL;

	for (size_t i = 0; i < c->n_after; i++) {
		list[i] = xmalloc(sizeof(*list[i]));
		*list[i] = *c->after[i];
		list[i]->base.unknown_fields = NULL;
		list[i]->base.n_unknown_fields = 0;
	}
	return list;
}

static int check_earlier(const struct ctl_job *job, const Control__ChangeJob *c,
			 struct error *err)
{
	for (size_t i = 0; i < c->n_after; i++) {
		const Control__After *a = c->after[i];

		if (a->job >= job->id ||
		    (a->whole && job->array && job->array->id == a->job))
			return error_set(err, -EINVAL,
					 "--after: job %" PRIu64
					 " can only follow what was submitted "
					 "before it, and %" PRIu64 " was not",
					 job->id, a->job);
	}
	return 0;
}

int ctl_after_may(struct ctl_peer *p, const struct ctl_job *job,
		  const struct ctl_change *change, struct error *err)
{
	const Control__ChangeJob *c = change->ask;
	Control__Submit as = *job->spec;
	int r;

	if (change->code < 0) {
		*err = change->why;
		return change->code;
	}
	r = check_earlier(job, c, err);
	as.after = c->after;
	as.n_after = c->n_after;
	return r ? r : ctl_limit_change(p, job, &as, err);
}

void ctl_after_replace(struct ctl_job *job, const Control__ChangeJob *c)
{
	Control__Submit *s = job->spec;

	ctl_after_leave(job);
	ctl_after_undo(s);
	free_list(s->after, s->n_after);
	s->after = copy_list(c);
	s->n_after = c->n_after;
	ctl_after_join(job);
	if (!s->held && job->after == AFTER_WAITS)
		ctl_after_tell(job);
}
