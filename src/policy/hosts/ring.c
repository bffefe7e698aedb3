/* ring.c - see ring.h */
#include "policy/hosts/ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void ring_clear(struct ring *r)
{
	free(r->job);
	*r = (struct ring){ .nr = 0 };
}

void ring_add(struct ring *r, struct job *job)
{
	array_room(r->job, r->nr, &r->cap);
	r->job[r->nr++] = job;
}

size_t ring_find(const struct ring *r, const struct job *job)
{
	size_t i = 0;

	while (i < r->nr && r->job[i] != job)
		i++;
	return i;
}

void ring_drop(struct ring *r, const struct job *job)
{
	size_t i = ring_find(r, job);

	r->nr--;
	memmove(r->job + i, r->job + i + 1, (r->nr - i) * sizeof(*r->job));
}

void ring_turn(struct ring *r)
{
	struct job **ran = xcalloc(r->nr, sizeof(struct job *));
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->job[i]->state == JOB_RUNNING)
			ran[nr++] = r->job[i];
		else
			r->job[kept++] = r->job[i];
	if (nr)
		memcpy(r->job + kept, ran, nr * sizeof(*ran));
	free(ran);
}

void ring_save(const struct ring *r, FILE *to)
{
	for (size_t i = 0; i < r->nr; i++)
		fprintf(to, "%" PRId64 "\n", r->job[i]->id);
}

/* Put the job with that id to place n. */
static bool put_at(struct ring *r, const struct view *view, int64_t id,
		   size_t *n)
{
	struct job *job = view_find_job(view, id);
	size_t at;

	if (!job)
		return true; /* it has gone meanwhile */
	at = ring_find(r, job);
	if (at < *n || at == r->nr)
		return false; /* twice */
	memmove(r->job + *n + 1, r->job + *n, (at - *n) * sizeof(*r->job));
	r->job[(*n)++] = job;
	return true;
}

bool ring_load(struct ring *r, const struct view *view, const char **text)
{
	size_t n = 0;
	int64_t id;
	int used;

	for (; **text; *text += used)
		if (sscanf(*text, "%" SCNd64 "\n%n", &id, &used) != 1 ||
		    !put_at(r, view, id, &n))
			return false;
	return true;
}
