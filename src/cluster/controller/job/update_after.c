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
#include "core/xalloc.h"

void ctl_after_free(Control__After **list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		control__after__free_unpacked(list[i], NULL);
	free(list);
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

static int check_earlier(const struct ctl_job *job, Control__After **list,
			 size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		const Control__After *a = list[i];

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

int ctl_after_prepare(struct ctl_peer *p, const struct ctl_job *job,
		      const Control__ChangeJob *c, Control__After ***ret,
		      struct error *err)
{
	Control__After **list = copy_list(c);
	int r = ctl_after_check_list(list, c->n_after, err);

	if (!r)
		r = ctl_after_resolve(p, list, c->n_after, job->spec->uid, err);
	if (!r)
		r = check_earlier(job, list, c->n_after, err);
	if (r < 0)
		ctl_after_free(list, c->n_after);
	else
		*ret = list;
	return r;
}

void ctl_after_replace(struct ctl_job *job, Control__After **list, size_t n)
{
	Control__Submit *s = job->spec;

	ctl_after_leave(job);
	ctl_after_free(s->after, s->n_after);
	s->after = list;
	s->n_after = n;
	s->followed = false;
	ctl_after_join(job);
	if (!s->held && job->after == AFTER_WAITS)
		ctl_after_tell(job);
}
