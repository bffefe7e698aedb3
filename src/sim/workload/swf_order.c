/*
 * swf_order.c - the jobs of a trace by submit time, by number, and those that fit
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/workload/swf.h"

struct place {
	usec_t submit;
	size_t ix; /* in the file */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

/* qsort need not be stable, so the place in the file is part of the key. */
void swf_sort(struct swf_trace *t)
{
	struct place *place = xcalloc(t->nr, sizeof(*place));
	struct swf_job *sorted = xcalloc(t->nr, sizeof(*sorted));
	struct swf_link *link = t->link ? xcalloc(t->nr, sizeof(*link)) : NULL;

	for (size_t i = 0; i < t->nr; i++)
		place[i] = (struct place){ t->job[i].submit, i };
	qsort(place, t->nr, sizeof(*place), compare_places);
	for (size_t i = 0; i < t->nr; i++) {
		sorted[i] = t->job[place[i].ix];
		if (link)
			link[i] = t->link[place[i].ix];
	}
	free(place);
	free(t->job);
	free(t->link);
	t->job = sorted;
	t->link = link;
}

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearly always they do, and nothing need be sorted. */
static bool ids_rise(const struct swf_trace *t)
{
	for (size_t i = 1; i < t->nr; i++)
		if (t->job[i].id <= t->job[i - 1].id)
			return false;
	return true;
}

size_t swf_same_ids(const struct swf_trace *trace, int64_t *ret_id)
{
	size_t same = 0;
	int64_t *id;

	if (ids_rise(trace))
		return 0;
	id = xcalloc(trace->nr, sizeof(*id));
	for (size_t i = 0; i < trace->nr; i++)
		id[i] = trace->job[i].id;
	qsort(id, trace->nr, sizeof(*id), compare_ids);
	for (size_t i = 1; i < trace->nr; i++)
		if (id[i] == id[i - 1] && !same++)
			*ret_id = id[i];
	free(id);
	return same;
}

static int nothing_left(const struct swf_trace *t, const char *name,
			struct error *err)
{
	size_t jobs = t->no_run + t->no_size + t->too_large + t->cancelled;

	if (!jobs)
		return error_set(err, -EINVAL, "%s: no job in it", name);
	return error_set(err, -EINVAL,
			 "%s: no job in it can be simulated: %zu without a run "
			 "time, %zu without a size, %zu larger than %" PRIu32
			 " processors, %zu cancelled",
			 name, t->no_run, t->no_size, t->too_large, t->procs,
			 t->cancelled);
}

int swf_drop_too_large(struct swf_trace *t, const char *name, struct error *err)
{
	size_t n = 0;

	while (n < t->nr && t->job[n].size <= t->procs)
		n++;
	for (size_t i = n; i < t->nr; i++) {
		if (t->job[i].size > t->procs) {
			t->too_large++;
			continue;
		}
		if (t->link)
			t->link[n] = t->link[i];
		t->job[n++] = t->job[i];
	}
	t->nr = n;
	return n ? 0 : nothing_left(t, name, err);
}

void swf_clear(struct swf_trace *trace)
{
	free(trace->job);
	free(trace->link);
	*trace = (struct swf_trace){ 0 };
}
