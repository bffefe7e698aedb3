/* fitset.c - an ordered set of jobs that is searched by size, see fitset.h */
#include "policy/kit/fitset.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

struct fitset_node {
	const struct job *job; /* NULL: the slot is empty */
	int64_t key;
	usec_t estimate; /* USEC_MAX if the job has none */
	uint32_t left, right;
	uint32_t size;
	/* the treap's heap order: parents have the greater one */
	uint32_t rank;
	uint32_t least;	 /* least size in this subtree */
	usec_t quickest; /* least estimate in this subtree */
};

void fitset_clear(struct fitset *set)
{
	free(set->node);
	*set = (struct fitset){ .by_size = set->by_size };
}

/* The number of the treap for jobs of this size. */
static unsigned class_of(const struct fitset *set, uint32_t size)
{
	unsigned log, class;

	if (!set->by_size || !size)
		return 0;
	if (size <= 16)
		return size - 1;
	log = 31 - (unsigned)__builtin_clz(size);
	class = 16 + (log - 4) * 4 + (size >> (log - 2) & 3);
	return class < FITSET_CLASSES ? class : FITSET_CLASSES - 1;
}

static void grow_nodes(struct fitset *set, uint32_t slot)
{
	size_t nr = set->nr_nodes ? set->nr_nodes : 64;

	if (slot < set->nr_nodes)
		return;
	while (nr <= slot)
		nr *= 2;
	set->node = xreallocarray(set->node, nr, sizeof(*set->node));
	memset(set->node + set->nr_nodes, 0,
	       (nr - set->nr_nodes) * sizeof(*set->node));
	set->node[0].least = UINT32_MAX;
	set->node[0].quickest = USEC_MAX;
	set->nr_nodes = nr;
}

/* A fixed scatter of the ids keeps the tree shallow whatever the keys are. */
static uint32_t scatter(int64_t id)
{
	uint64_t x = (uint64_t)id * 0x9e3779b97f4a7c15;

	x ^= x >> 32;
	return (uint32_t)((x * 0xd6e8feb86659fd93) >> 32);
}

static bool node_before(const struct fitset_node *a,
			const struct fitset_node *b)
{
	return a->key != b->key ? a->key < b->key : job_before(a->job, b->job);
}

static void find_least(struct fitset *set, uint32_t t)
{
	struct fitset_node *n = &set->node[t];
	const struct fitset_node *l = &set->node[n->left];
	const struct fitset_node *r = &set->node[n->right];

	n->least = n->size;
	if (l->least < n->least)
		n->least = l->least;
	if (r->least < n->least)
		n->least = r->least;
	n->quickest = n->estimate;
	if (l->quickest < n->quickest)
		n->quickest = l->quickest;
	if (r->quickest < n->quickest)
		n->quickest = r->quickest;
}

/* Cut the tree t in two: what comes before node at, and the rest. */
static void split_tree(struct fitset *set, uint32_t t, uint32_t at, uint32_t *l,
		       uint32_t *r)
{
	struct fitset_node *n = &set->node[t];

	if (!t) {
		*l = *r = 0;
	} else if (node_before(n, &set->node[at])) {
		*l = t;
		split_tree(set, n->right, at, &n->right, r);
		find_least(set, t);
	} else {
		*r = t;
		split_tree(set, n->left, at, l, &n->left);
		find_least(set, t);
	}
}

/* Make one tree of two; all of l comes before all of r. */
static uint32_t join_trees(struct fitset *set, uint32_t l, uint32_t r)
{
	struct fitset_node *a = &set->node[l], *b = &set->node[r];

	if (!l || !r)
		return l ? l : r;
	if (a->rank > b->rank) {
		a->right = join_trees(set, a->right, r);
		find_least(set, l);
		return l;
	}
	b->left = join_trees(set, l, b->left);
	find_least(set, r);
	return r;
}

bool fitset_has(const struct fitset *set, const struct job *job)
{
	return job->ix + 1 < set->nr_nodes && set->node[job->ix + 1].job == job;
}

int64_t fitset_key(const struct fitset *set, const struct job *job)
{
	return set->node[job->ix + 1].key;
}

static uint32_t insert(struct fitset *set, uint32_t t, uint32_t at)
{
	struct fitset_node *n = &set->node[t], *new = &set->node[at];

	if (!t || new->rank > n->rank) {
		split_tree(set, t, at, &new->left, &new->right);
		find_least(set, at);
		return at;
	}
	if (node_before(new, n))
		n->left = insert(set, n->left, at);
	else
		n->right = insert(set, n->right, at);
	find_least(set, t);
	return t;
}

static uint32_t take_out(struct fitset *set, uint32_t t, uint32_t at)
{
	struct fitset_node *n = &set->node[t];

	if (t == at)
		return join_trees(set, n->left, n->right);
	if (node_before(&set->node[at], n))
		n->left = take_out(set, n->left, at);
	else
		n->right = take_out(set, n->right, at);
	find_least(set, t);
	return t;
}

void fitset_insert(struct fitset *set, const struct job *job, int64_t key)
{
	uint32_t at = job->ix + 1;
	unsigned class = class_of(set, job->size);

	grow_nodes(set, at);
	fitset_remove(set, job);
	set->node[at] = (struct fitset_node){ .job = job,
					      .key = key,
					      .size = job->size,
					      .estimate = job_length(job),
					      .rank = scatter(job->id) };
	set->root[class] = insert(set, set->root[class], at);
	set->used |= UINT64_C(1) << class;
	set->nr++;
}

void fitset_remove(struct fitset *set, const struct job *job)
{
	uint32_t at = job->ix + 1;
	unsigned class;

	if (!fitset_has(set, job))
		return;
	class = class_of(set, job->size);
	set->root[class] = take_out(set, set->root[class], at);
	if (!set->root[class])
		set->used &= ~(UINT64_C(1) << class);
	set->node[at].job = NULL;
	set->nr--;
}

/* The first job in tree t that fits, after node `after` (0: of all). */
static uint32_t find_after(const struct fitset *set, uint32_t t, uint32_t after,
			   int64_t limit)
{
	const struct fitset_node *n = &set->node[t];
	uint32_t found;

	if (!t || n->least > limit)
		return 0;
	if (after && !node_before(&set->node[after], n))
		return find_after(set, n->right, after, limit);
	found = find_after(set, n->left, after, limit);
	if (found || n->size <= limit)
		return found ? found : t;
	return find_after(set, n->right, 0, limit);
}

/* The one of two nodes that comes first; 0 stands for no node. */
static uint32_t first_of(const struct fitset *set, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	return node_before(&set->node[a], &set->node[b]) ? a : b;
}

/* The classes in use that may hold a job of at most that size. */
static uint64_t classes_up_to(const struct fitset *set, int64_t size)
{
	uint32_t most = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;

	return size > 0 ? set->used & UINT64_MAX >> (63 - class_of(set, most))
			: 0;
}

/* Loop over the classes in left, which is used up. */
#define for_each_class(c, left) \
	for (; left && (c = __builtin_ctzll(left), 1); left &= left - 1)

const struct job *fitset_fit(const struct fitset *set, const struct job *after,
			     int64_t limit)
{
	uint32_t found = 0, behind = after ? after->ix + 1 : 0;
	uint64_t left = classes_up_to(set, limit);
	int c;

	for_each_class(c, left) found = first_of(
		set, found, find_after(set, set->root[c], behind, limit));
	return found ? set->node[found].job : NULL;
}

/* What fitset_backfill() looks for. */
struct hole {
	int64_t free, spare;
	usec_t within;
};

static bool suits(const struct hole *h, uint32_t size, usec_t estimate)
{
	return size <= h->free && (size <= h->spare || estimate <= h->within);
}

static uint32_t find_hole(const struct fitset *set, uint32_t t, uint32_t after,
			  const struct hole *h)
{
	const struct fitset_node *n = &set->node[t];
	uint32_t found;

	/*
	 * The least job and the quickest need not be the same one; then the
	 * search below t is in vain.
	 */
	if (!t || !suits(h, n->least, n->quickest))
		return 0;
	if (after && !node_before(&set->node[after], n))
		return find_hole(set, n->right, after, h);
	found = find_hole(set, n->left, after, h);
	if (found || suits(h, n->size, n->estimate))
		return found ? found : t;
	return find_hole(set, n->right, 0, h);
}

const struct job *fitset_backfill(const struct fitset *set,
				  const struct job *after, int64_t free,
				  int64_t spare, usec_t within)
{
	const struct hole h = { free, spare, within };
	uint32_t found = 0, behind = after ? after->ix + 1 : 0;
	uint64_t left = classes_up_to(set, free);
	int c;

	for_each_class(c, left) found =
		first_of(set, found, find_hole(set, set->root[c], behind, &h));
	return found ? set->node[found].job : NULL;
}

const struct job *fitset_first(const struct fitset *set)
{
	return fitset_fit(set, NULL, UINT32_MAX);
}

const struct job *fitset_next(const struct fitset *set, const struct job *job)
{
	return fitset_fit(set, job, UINT32_MAX);
}
