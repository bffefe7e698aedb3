/*
 * alike.h - who holds a slot: each waiting job, or those that are alike
 *
 * A slot is the start time of a reservation.  To a plan, jobs of one size and one estimate are interchangeable.  So
 * reservations belong to such a kind of jobs as a whole: it has as many slots
 * (start times) as jobs with a reservation, and the k-th job in the order of
 * the queue has the k-th slot in the order of time.  When processors come
 * free, one slot moves where otherwise each job would move to the place of
 * the one before it.
 *
 *	jobs	j1   j4   j9          in the order of the queue
 *	slots	10   30   30   	      in the order of time
 *
 * With `each` set a kind is a row: equal jobs that stand right behind each other in
 * the queue, with slots in the same order.  There is one kind for each row, and most
 * rows have one job.  That each job of a row in turn takes the earliest hole, and the
 * next one the place that it left, comes to the same as that any later one of the row
 * takes that hole: whatever hole is before the slot of a job, and reaches to it or is
 * as long as the job, is a hole for all of them (doc/design/50).
 */
#ifndef POLICY_KIT_ALIKE_H
#define POLICY_KIT_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"
#include "model/job.h"

/* What a look at thousands of them reads stands first, in one line of the cache. */
struct alike {
	uint32_t ix; /* dense, for good */
	uint32_t size;
	usec_t length;		      /* estimate; USEC_MAX: none */
	usec_t first_slot, last_slot; /* USEC_MAX and 0: it has none */
	usec_t submit;		      /* of its head */
	struct alike *behind; /* the row behind it in the order of the queue, */
	struct alike *before;
	const struct job *head, *tail; /* jobs, by (submit, id) */
	uint32_t nr_jobs;
	uint32_t next; /* of the same hash, or of those idle: ix + 1 */
	usec_t *slot;  /* slot[first .. first + nr), ascending */
	size_t first, nr, cap;
};

struct alikes {
	bool each;	     /* set before the first use: a kind for each row */
	struct alike **kind; /* by ix; they never move */
	size_t nr, cap;
	uint32_t *bucket; /* ix + 1 */
	size_t nr_buckets;
	uint32_t idle;		    /* a kind whose jobs have left: ix + 1 */
	struct alike *first, *last; /* row */
	struct alike_link *link;    /* by job ix */
	size_t nr_links;
};

void alikes_clear(struct alikes *a); /* frees; zero-filled is cleared too */

/* The kind of job, made if it is the first; with each, its row: it must be in one. */
struct alike *alikes_of(struct alikes *a, const struct job *job);

/*
 * Put job among its like in the order of the queue; or take it out, without its slot.
 * `at` is the slot that it will have: with each, it joins a row only if that is not
 * before the row's last one.
 */
struct alike *alikes_insert(struct alikes *a, const struct job *job, usec_t at);

/*
 * Before a job is put in that belongs into the middle of a row: the row's end, from there
 * on, becomes one of its own, which is returned.  NULL if it is in no row's middle.
 */
struct alike *alikes_cut(struct alikes *a, const struct job *job);
void alikes_remove(struct alikes *a, const struct job *job);
const struct job *alikes_next(const struct alikes *a, const struct job *job);

/* Slots: the first, the last, the last at or before at most. */
static inline usec_t alike_first(const struct alike *k)
{
	return k->first_slot;
}

static inline usec_t alike_last(const struct alike *k)
{
	return k->last_slot;
}

/* Index of the last slot <= most; -1 if there is none. */
int64_t alike_find(const struct alike *k, usec_t most);
void alike_add(struct alike *k, usec_t at);
void alike_take(struct alike *k, size_t i);
/* How many slots that are equal to slot i end with it; at most `most`. */
size_t alike_equal(const struct alike *k, size_t i, size_t most);
/* n slots, of which slot i is the last, become `to`, which is earlier. */
void alike_move(struct alike *k, size_t i, size_t n, usec_t to);
void alike_forget_slots(struct alike *k);

/* Which of the jobs of k it is, from 0. */
size_t alikes_place(const struct alikes *a, const struct alike *k,
		    const struct job *job);

#endif
