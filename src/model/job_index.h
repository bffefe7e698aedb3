/*
 * job_index.h - the jobs of a view by their ids: behind view_find_job() alone
 *
 * It is made when a job is first looked for, and kept from then on (view_index_add(),
 * view_index_remove()); a simulation that looks for none pays nothing for it.
 */
#ifndef MODEL_JOB_INDEX_H
#define MODEL_JOB_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct job;
struct view;

/* A hash of chains; zero-filled: not made yet. */
struct job_index {
	const struct job **head; /* by hash */
	size_t nr_heads;	 /* a power of two; 0: not made yet */
	const struct job **next; /* by the job's ix: the next of its chain */
	size_t cap_next;
	size_t nr;
};

/* Make it: all jobs of the view's lists. */
void job_index_make(struct job_index *index, const struct view *view);
void job_index_clear(struct job_index *index);

void job_index_add(struct job_index *index, const struct job *job);
/* job is in it. */
void job_index_remove(struct job_index *index, const struct job *job);

/* The job with that id, of several the one that was added last; NULL: none. */
const struct job *job_index_find(const struct job_index *index, int64_t id);

/*
 * view.c, for event.c: the job has arrived, or has ended and is in no list any more.
 * Nothing is done unless there is an index.
 */
void view_index_add(struct view *view, const struct job *job);
void view_index_remove(struct view *view, const struct job *job);

#endif
