/* ends.c - a treap of processors by the time they come free, see ends.h */
#include "policy/kit/ends.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

struct ends_node {
	usec_t at;
	int64_t sum; /* of all n in this subtree */
	uint32_t n;  /* 0: the slot is empty */
	/* the treap's heap order: parents have the greater one */
	uint32_t rank;
	uint32_t left, right;
};

void ends_clear(struct ends *ends)
{
	free(ends->node);
	*ends = (struct ends)ENDS_INIT;
}

static void grow_nodes(struct ends *ends, uint32_t slot)
{
	size_t nr = ends->nr_nodes ? ends->nr_nodes : 64;

	if (slot < ends->nr_nodes)
		return;
	while (nr <= slot)
		nr *= 2;
	ends->node = xreallocarray(ends->node, nr, sizeof(*ends->node));
	memset(ends->node + ends->nr_nodes, 0,
	       (nr - ends->nr_nodes) * sizeof(*ends->node));
	ends->nr_nodes = nr;
}

/* Equal times are ordered by slot; any order gives the same answers. */
static bool is_before(const struct ends *ends, uint32_t a, uint32_t b)
{
	usec_t x = ends->node[a].at, y = ends->node[b].at;

	return x != y ? x < y : a < b;
}

static void add_up(struct ends *ends, uint32_t t)
{
	struct ends_node *n = &ends->node[t];

	n->sum = n->n + ends->node[n->left].sum + ends->node[n->right].sum;
}

static void split_tree(struct ends *ends, uint32_t t, uint32_t at, uint32_t *l,
		       uint32_t *r)
{
	struct ends_node *n = &ends->node[t];

	if (!t) {
		*l = *r = 0;
	} else if (is_before(ends, t, at)) {
		*l = t;
		split_tree(ends, n->right, at, &n->right, r);
		add_up(ends, t);
	} else {
		*r = t;
		split_tree(ends, n->left, at, l, &n->left);
		add_up(ends, t);
	}
}

static uint32_t join_trees(struct ends *ends, uint32_t l, uint32_t r)
{
	struct ends_node *a = &ends->node[l], *b = &ends->node[r];

	if (!l || !r)
		return l ? l : r;
	if (a->rank > b->rank) {
		a->right = join_trees(ends, a->right, r);
		add_up(ends, l);
		return l;
	}
	b->left = join_trees(ends, l, b->left);
	add_up(ends, r);
	return r;
}

void ends_insert(struct ends *ends, uint32_t ix, usec_t at, uint32_t n)
{
	uint32_t new = ix + 1, *link = &ends->root;
	struct ends_node *e;

	grow_nodes(ends, new);
	ends_remove(ends, ix);
	e = &ends->node[new];
	e->at = at;
	e->n = n;
	e->rank = (uint32_t)((uint64_t) new * 0x9e3779b97f4a7c15 >> 32);
	while (*link && ends->node[*link].rank >= e->rank) {
		struct ends_node *t = &ends->node[*link];

		t->sum += n;
		link = is_before(ends, new, *link) ? &t->left : &t->right;
	}
	split_tree(ends, *link, new, &e->left, &e->right);
	*link = new;
	add_up(ends, new);
}

void ends_remove(struct ends *ends, uint32_t ix)
{
	uint32_t old = ix + 1, *link = &ends->root;

	if (old >= ends->nr_nodes || !ends->node[old].n)
		return;
	while (*link != old) {
		struct ends_node *t = &ends->node[*link];

		t->sum -= ends->node[old].n;
		link = is_before(ends, old, *link) ? &t->left : &t->right;
	}
	*link = join_trees(ends, ends->node[old].left, ends->node[old].right);
	ends->node[old].n = 0;
}

uint32_t ends_first(const struct ends *ends)
{
	uint32_t t = ends->root;

	while (t && ends->node[t].left)
		t = ends->node[t].left;
	return t ? t - 1 : UINT32_MAX;
}

usec_t ends_at(const struct ends *ends, uint32_t ix)
{
	return ends->node[ix + 1].at;
}

int64_t ends_by(const struct ends *ends, usec_t at)
{
	uint32_t t = ends->root;
	int64_t sum = 0;

	while (t) {
		const struct ends_node *n = &ends->node[t];

		if (n->at <= at) {
			sum += n->n + ends->node[n->left].sum;
			t = n->right;
		} else {
			t = n->left;
		}
	}
	return sum;
}

usec_t ends_reach(const struct ends *ends, int64_t need)
{
	uint32_t t = ends->root;
	usec_t at = USEC_MAX;

	while (t) {
		const struct ends_node *n = &ends->node[t];
		int64_t here = n->n + ends->node[n->left].sum;

		if (here >= need) {
			at = n->at;
			t = n->left;
		} else {
			need -= here;
			t = n->right;
		}
	}
	return at;
}
