/*
 * fitset.h - a set of jobs in an order that the policy chooses, searched by what fits
 *
 * First-fit policies ask one question over and over: which is the first job,
 * in my order, that needs at most so many processors?  A set answers it
 * without looking at the others.  It is a treap ordered by (key, submit, id)
 * in which every node knows the least size below it:
 *
 *                 key 5, size 16 | least 2
 *                /                        \
 *   key 1, size 64 | least 64      key 9, size 2 | least 2
 *
 * Insert, remove, next and fit take O(log n) steps of the n jobs held.  What a
 * search finds depends on the keys alone, never on addresses or on the order
 * of insertion.
 *
 * A job may be in any number of sets, once in each.  Nodes are kept in slots
 * numbered as the view's (job->ix), and a set holds pointers to the jobs: take
 * a job out before it is destroyed.
 */
#ifndef POLICY_KIT_FITSET_H
#define POLICY_KIT_FITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/job.h"

struct fitset_node;

#define FITSET_CLASSES 64

struct fitset {
	struct fitset_node *node; /* by the job's ix + 1; node 0 is "none" */
	size_t nr_nodes;
	/* a single treap, or one per class of sizes */
	uint32_t root[FITSET_CLASSES];
	uint64_t used; /* bits: which treaps hold a job */
	uint32_t nr;   /* jobs held */
	bool by_size;
};

#define FITSET_INIT          \
	{                    \
		.node = NULL \
	}

/* A set by size, for fitset_backfill() (see there); everything else is slower then. */
#define FITSET_BY_SIZE_INIT     \
	{                       \
		.by_size = true \
	}

void fitset_clear(struct fitset *set); /* frees; empty again */

/* Put a job in, with that key; if it is in already, its key changes. */
void fitset_insert(struct fitset *set, const struct job *job, int64_t key);
/* Does nothing if it is not there. */
void fitset_remove(struct fitset *set, const struct job *job);
bool fitset_has(const struct fitset *set, const struct job *job);
/* The key of job, which is in it. */
int64_t fitset_key(const struct fitset *set, const struct job *job);

/* The first of all, NULL if there is none. */
const struct job *fitset_first(const struct fitset *set);
/* The next job after one that is in the set. */
const struct job *fitset_next(const struct fitset *set, const struct job *job);

/*
 * The first job with size <= limit after the job `after`, which is in the set (NULL: of
 * all); NULL if there is none.
 */
const struct job *fitset_fit(const struct fitset *set, const struct job *after,
			     int64_t limit);

/*
 * The question that backfilling asks: the first job after `after` (NULL: of all) with
 * size <= free that also has a size <= spare or an estimate <= within.  No estimate
 * counts as for ever.
 *
 * In a single treap this is O(log n) if small jobs are short or few; but a subtree with
 * a small job and a short job need not have one that is both, and in the worst case all
 * jobs are looked at.  A set by size has a treap for each size up to 16 and four for
 * each power of two beyond that, and the worst case can only happen in the one into
 * which `free` falls.
 */
const struct job *fitset_backfill(const struct fitset *set,
				  const struct job *after, int64_t free,
				  int64_t spare, usec_t within);

#endif
