/*
 * alike.h - who holds reservations: each waiting job, or all jobs that are alike
 *
 * A slot is the start time of a reservation.  To a plan, jobs of the same size and the
 * same estimate are interchangeable.  So reservations belong to such a kind of jobs as
 * a whole: it has as many slots as jobs with a reservation, and the k-th job in the
 * order of the queue has the k-th slot in the order of time.  When processors come
 * free, a single slot moves, where otherwise each job would move to the place of the
 * one before it.
 *
 *	jobs	j1   j4   j9          in the order of the queue
 *	slots	10   30   30   	      in the order of time
 *
 * With `each` set, each job has its own reservation, and a kind is a row: equal jobs
 * that stand right behind each other in the queue, with slots in the same order.  Most
 * rows have one job.  If each job of a row in turn takes the earliest hole, and the
 * next one the place that it left, the result is the same as if a later job of the row
 * took that hole at once: a hole before the slot of one job, which reaches up to that
 * slot or is as long as the job, is a hole for all of them (doc/design/50).
 */
#ifndef POLICY_KIT_ALIKE_H
#define POLICY_KIT_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"
#include "model/job.h"
#include "policy/kit/profile.h"

/* Who goes through rows tells the processor which one it will look at so many later. */
#define ALIKE_AHEAD 4

/* What a search through thousands of them reads comes first, in one cache line. */
#define ALIKE_LINE 64

struct alike {
	_Alignas(ALIKE_LINE) uint32_t size;
	uint32_t ix;	      /* its number, which never changes */
	usec_t length;	      /* estimate; USEC_MAX: none */
	struct alike *behind; /* the row behind it in the order of the queue, */
	struct alike *ahead;  /* and the one ALIKE_AHEAD behind it */
	usec_t first_slot, last_slot; /* USEC_MAX and 0 if it has none */
	usec_t submit;		      /* when its head was submitted */
	struct alike *before;
	const struct job *head, *tail; /* jobs, by (submit, id) */
	uint32_t nr_jobs;
	/* the next of the same hash, or of the idle ones: ix + 1 */
	uint32_t next;
	usec_t *slot; /* slot[first .. first + nr), ascending */
	size_t first, nr, cap;
};

struct alikes {
	bool each;	     /* set before the first use: each row is a kind */
	struct alike **kind; /* by ix; their addresses never change */
	uint32_t *
		marks; /* by ix: pins where slots may be able to move ahead (profile.h) */
	size_t nr, cap;
	uint32_t *bucket; /* ix + 1 */
	size_t nr_buckets;
	/* first of the kinds without jobs: ix + 1 */
	uint32_t idle;
	struct alike *first, *last; /* row */
	struct alike_link *link;    /* by job ix */
	size_t nr_links;
};

/* frees all; a zero-filled one is clear as well */
void alikes_clear(struct alikes *a);

/*
 * The kind of a job, made if this is the first of it; with `each`, the row that the job
 * is in.
 */
struct alike *alikes_of(struct alikes *a, const struct job *job);

/*
 * Put a job among those like it, in the order of the queue; or take it out, without its
 * slot.  `at` is the slot that it will have: with `each`, it joins a row only if that
 * is not before the row's last slot.
 */
struct alike *alikes_insert(struct alikes *a, const struct job *job, usec_t at);

/*
 * To be called before a job is put in: if it belongs into the middle of a row, the row
 * is cut there, and its second part, a new row, is returned; else NULL.
 */
struct alike *alikes_cut(struct alikes *a, const struct job *job);
void alikes_remove(struct alikes *a, const struct job *job);
const struct job *alikes_next(const struct alikes *a, const struct job *job);

/* The first and the last slot; the last one that is not after `most`. */
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
bool alike_has(const struct alike *k, usec_t at);
/* Index of the last slot that is earlier than slot i; -1 if there is none. */
int64_t alike_before(const struct alike *k, size_t i);
void alike_add(struct alike *k, usec_t at);
void alike_take(struct alike *k, size_t i);
/* How many slots equal to slot i there are up to and with i; at most `most`. */
size_t alike_equal(const struct alike *k, size_t i, size_t most);
/*
 * Move n slots, of which slot i is the last, to `to`, which is earlier.  Was no slot there,
 * and is none left here?
 */
struct alike_moved {
	bool first_there, last_here;
};
struct alike_moved alike_move(struct alike *k, size_t i, size_t n, usec_t to);
void alike_forget_slots(struct alike *k);

/* The place of the job among the jobs of k, from 0. */
size_t alikes_place(const struct alikes *a, const struct alike *k,
		    const struct job *job);

#endif
