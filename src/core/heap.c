/*
 * heap.c - the priority queue: a 4-ary heap that knows where each handle is
 *
 * Four children a node halve the levels of a binary heap and lie in one or
 * two cache lines.
 */
#include "core/heap.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void heap_clear(struct heap *heap)
{
	free(heap->node);
	free(heap->place);
	*heap = (struct heap)HEAP_INIT;
}

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
	return a->key != b->key ? a->key < b->key : a->seq < b->seq;
}

static void put_node(struct heap *heap, size_t i, struct heap_node n)
{
	heap->node[i] = n;
	heap->place[n.handle] = (uint32_t)i + 1;
}

static void sift_up(struct heap *heap, size_t i, struct heap_node n)
{
	while (i > 0) {
		size_t parent = (i - 1) / 4;

		if (!is_before(&n, &heap->node[parent]))
			break;
		put_node(heap, i, heap->node[parent]);
		i = parent;
	}
	put_node(heap, i, n);
}

static void sift_down(struct heap *heap, size_t i, struct heap_node n)
{
	for (;;) {
		size_t best = 4 * i + 1, end = best + 4;

		if (best >= heap->nr)
			break;
		if (end > heap->nr)
			end = heap->nr;
		for (size_t c = best + 1; c < end; c++)
			if (is_before(&heap->node[c], &heap->node[best]))
				best = c;
		if (!is_before(&heap->node[best], &n))
			break;
		put_node(heap, i, heap->node[best]);
		i = best;
	}
	put_node(heap, i, n);
}

static void need_place(struct heap *heap, uint32_t handle)
{
	size_t n = heap->nr_place;

	if (handle < n)
		return;
	n = n * 2 > (size_t)handle + 64 ? n * 2 : (size_t)handle + 64;
	heap->place = xreallocarray(heap->place, n, sizeof(*heap->place));
	memset(heap->place + heap->nr_place, 0,
	       (n - heap->nr_place) * sizeof(*heap->place));
	heap->nr_place = n;
}

/* Put n where i is free, whichever way it has to go. */
static void settle_node(struct heap *heap, size_t i, struct heap_node n)
{
	if (i > 0 && is_before(&n, &heap->node[(i - 1) / 4]))
		sift_up(heap, i, n);
	else
		sift_down(heap, i, n);
}

void heap_set(struct heap *heap, uint32_t handle, usec_t key)
{
	struct heap_node n = { .key = key, .handle = handle };

	need_place(heap, handle);
	n.seq = heap->seq++;
	if (heap->place[handle]) {
		settle_node(heap, heap->place[handle] - 1, n);
		return;
	}
	array_room(heap->node, heap->nr, &heap->cap);
	sift_up(heap, heap->nr++, n);
}

static bool has(const struct heap *heap, uint32_t handle)
{
	return handle < heap->nr_place && heap->place[handle];
}

bool heap_remove(struct heap *heap, uint32_t handle)
{
	size_t i;

	if (!has(heap, handle))
		return false;
	i = heap->place[handle] - 1;
	heap->place[handle] = 0;
	heap->nr--;
	if (i < heap->nr)
		settle_node(heap, i, heap->node[heap->nr]);
	return true;
}

uint32_t heap_pop(struct heap *heap)
{
	uint32_t handle = heap->node[0].handle;

	heap->place[handle] = 0;
	heap->nr--;
	if (heap->nr)
		sift_down(heap, 0, heap->node[heap->nr]);
	return handle;
}
