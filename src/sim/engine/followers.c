/* followers.c - see followers.h */
#include "sim/engine/followers.h"

#include <stdlib.h>

#include "core/bisect.h"
#include "core/heap.h"
#include "core/xalloc.h"

struct followers {
	struct workload_follower *one; /* by whom they come after, then id */
	uint32_t nr;
	struct heap ready; /* indices by the time of their submit */
};

static int by_after(const void *a, const void *b)
{
	const struct workload_follower *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->job.id < y->job.id ? -1 : x->job.id > y->job.id;
}

struct followers *followers_create(const struct workload *w)
{
	struct followers *f;

	if (!w->nr_followers)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->nr = w->nr_followers;
	f->one = xcalloc(f->nr, sizeof(*f->one));
	for (uint32_t i = 0; i < f->nr; i++)
		f->one[i] = w->follower[i];
	qsort(f->one, f->nr, sizeof(*f->one), by_after);
	return f;
}

void followers_destroy(struct followers *f)
{
	if (!f)
		return;
	heap_clear(&f->ready);
	free(f->one);
	free(f);
}

/* The first that comes after id, or after a larger one. */
static uint32_t find_after(const struct followers *f, int64_t id)
{
	size_t at;

	bisect(at, f->nr, f->one[at].after < id);
	return (uint32_t)at;
}

void followers_over(struct followers *f, int64_t id, usec_t now)
{
	for (uint32_t i = find_after(f, id); i < f->nr && f->one[i].after == id;
	     i++) {
		usec_t at = usec_add(now, f->one[i].think);

		/* USEC_MAX would be never; so it comes, and cannot end. */
		f->one[i].job.submit = at < USEC_MAX ? at : USEC_MAX - 1;
		heap_set(&f->ready, i, f->one[i].job.submit);
	}
}

usec_t followers_next(const struct followers *f)
{
	return heap_first_key(&f->ready);
}

struct workload_job followers_take(struct followers *f)
{
	return f->one[heap_pop(&f->ready)].job;
}
