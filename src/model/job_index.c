/* job_index.c - jobs by their ids, see job_index.h */
#include "model/job_index.h"

#include <stdlib.h>

#include "core/xalloc.h"
#include "model/view.h"

enum { HEADS_LEAST = 64 };

static const struct job **chain_of(const struct job_index *index, int64_t id)
{
	uint64_t hash = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);

	return &index->head[hash >> 32 & (index->nr_heads - 1)];
}

static void link_job(struct job_index *index, const struct job *job)
{
	const struct job **head = chain_of(index, job->id);

	index->next[job->ix] = *head;
	*head = job;
}

/* Twice as many chains, none of them longer than before. */
static void grow_heads(struct job_index *index)
{
	const struct job **old = index->head;
	size_t nr = index->nr_heads;

	index->nr_heads = nr ? 2 * nr : HEADS_LEAST;
	index->head = xcalloc(index->nr_heads, sizeof(*index->head));
	for (size_t i = 0; i < nr; i++)
		for (const struct job *job = old[i], *next; job; job = next) {
			next = index->next[job->ix];
			link_job(index, job);
		}
	free(old);
}

void job_index_make(struct job_index *index, const struct view *view)
{
	const struct job *job;

	grow_heads(index);
	for_each_running(job, view) job_index_add(index, job);
	for_each_waiting(job, view) job_index_add(index, job);
}

void job_index_clear(struct job_index *index)
{
	free(index->head);
	free(index->next);
	*index = (struct job_index){ 0 };
}

void job_index_add(struct job_index *index, const struct job *job)
{
	if (index->nr == index->nr_heads)
		grow_heads(index);
	while (index->cap_next <= job->ix)
		array_room(index->next, index->cap_next, &index->cap_next);
	link_job(index, job);
	index->nr++;
}

void job_index_remove(struct job_index *index, const struct job *job)
{
	const struct job **at = chain_of(index, job->id);

	while (*at != job)
		at = &index->next[(*at)->ix];
	*at = index->next[job->ix];
	index->nr--;
}

const struct job *job_index_find(const struct job_index *index, int64_t id)
{
	const struct job *job = *chain_of(index, id);

	while (job && job->id != id)
		job = index->next[job->ix];
	return job;
}
