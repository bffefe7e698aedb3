/*
 * swf_link.c - which job of a trace comes after which (fields 17 and 18)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "sim/workload/swf.h"

struct place {
	int64_t id;
	size_t ix;
};

static int by_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Jobs by their numbers, for the caller to free. */
static struct place *order(const struct swf_trace *t)
{
	struct place *place = xcalloc(t->nr, sizeof(*place));

	for (size_t i = 0; i < t->nr; i++)
		place[i] = (struct place){ t->job[i].id, i };
	qsort(place, t->nr, sizeof(*place), by_id);
	return place;
}

static const struct place *find_place(const struct place *place, size_t nr,
				      int64_t id)
{
	const struct place key = { .id = id };

	return bsearch(&key, place, nr, sizeof(key), by_id);
}

/* Where a link that cannot be followed is counted; NULL: it can be. */
static size_t *lack_of(struct swf_trace *t, size_t ix,
		       const struct place *other)
{
	if (!other)
		return &t->no_other;
	if (other->ix == ix)
		return &t->other_self;
	if (other->ix > ix)
		return &t->other_later;
	return t->link[ix].think < 0 ? &t->no_think : NULL;
}

int swf_check_links(struct swf_trace *t, const char *name, struct error *err)
{
	struct place *place;
	int64_t id;

	if (swf_same_ids(t, &id))
		return error_set(err, -EINVAL,
				 "%s: two jobs have the number %" PRId64
				 ", so that it cannot be told which one others "
				 "come after",
				 name, id);
	place = order(t);
	for (size_t i = 0; i < t->nr; i++) {
		struct swf_link *l = &t->link[i];
		size_t *lack =
			l->after ? lack_of(t, i,
					   find_place(place, t->nr, l->after))
				 : NULL;

		if (lack) {
			++*lack;
			l->after = 0;
		}
	}
	free(place);
	return 0;
}

void swf_arrange(struct swf_trace *t, const int64_t *id)
{
	struct place *place = order(t);
	struct swf_job *arranged = xcalloc(t->nr, sizeof(*arranged));

	for (size_t i = 0; i < t->nr; i++)
		arranged[i] = t->job[find_place(place, t->nr, id[i])->ix];
	free(place);
	free(t->job);
	t->job = arranged;
}
