/*
 * heap.h - a priority queue of 32-bit handles, keyed by time, then sequence
 *
 * The smallest key comes out first; of equal keys, the one put in first.  A
 * handle (such as a job's ix) is in the heap at most once, and can be given
 * another key or removed: each operation is O(log n).
 */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct heap_node {
	usec_t key;
	uint64_t seq;
	uint32_t handle;
};

struct heap {
	struct heap_node *node;
	size_t nr, cap;
	uint32_t *place; /* by handle: index in node, plus 1; 0: not in it */
	size_t nr_place;
	uint64_t seq;
};

#define HEAP_INIT            \
	{                    \
		.node = NULL \
	}

void heap_clear(struct heap *heap); /* frees; then empty and usable */

/* Insert handle with this key, or change its key if it is in the heap. */
void heap_set(struct heap *heap, uint32_t handle, usec_t key);

/* Take handle out; false if it was not in. */
bool heap_remove(struct heap *heap, uint32_t handle);

/* The key of the first, or USEC_MAX when empty. */
static inline usec_t heap_first_key(const struct heap *heap)
{
	return heap->nr ? heap->node[0].key : USEC_MAX;
}

/* Take the first out and return its handle; it must not be empty. */
uint32_t heap_pop(struct heap *heap);

#endif
