/* wodi.c - greedy distribution of work steps, see wodi.h */
#include "sim/workload/wodi.h"

#include <math.h>
#include <stdlib.h>

#include "core/heap.h"
#include "core/xalloc.h"

struct step {
	usec_t estimate;
	uint32_t index;
};

static int longest_first(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	bool known = x->estimate > 0;

	if (known != (y->estimate > 0))
		return known ? 1 : -1;
	if (x->estimate != y->estimate)
		return x->estimate > y->estimate ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void wodi_order(enum wodi_order order, const usec_t *estimate, uint32_t nr,
		uint32_t *ret)
{
	struct step *step = xcalloc(nr, sizeof(*step));

	for (uint32_t i = 0; i < nr; i++)
		step[i] = (struct step){ estimate[i], i };
	if (order == WODI_LONGEST_FIRST)
		qsort(step, nr, sizeof(*step), longest_first);
	for (uint32_t i = 0; i < nr; i++)
		ret[i] = step[i].index;
	free(step);
}

usec_t wodi_cycle(const usec_t *length, const uint32_t *order, uint32_t nr,
		  const double *speed, uint32_t workers, uint32_t *ret_worker)
{
	struct heap free_at = { 0 };
	usec_t end = 0;

	for (uint32_t w = 0; w < workers; w++)
		heap_set(&free_at, w, 0);
	for (uint32_t i = 0; i < nr; i++) {
		usec_t at = heap_first_key(&free_at);
		uint32_t w = heap_pop(&free_at);
		usec_t took = length[order[i]];

		if (speed)
			took = llround((double)took * speed[w]);
		at += took;
		heap_set(&free_at, w, at);
		end = at > end ? at : end;
		if (ret_worker)
			ret_worker[order[i]] = w;
	}
	heap_clear(&free_at);
	return end;
}
