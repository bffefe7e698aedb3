/*
 * place.c - least delay first, by a heap of hosts
 */
#include "model/place.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

struct place {
	double delay; /* of one rank more */
	const struct host *host;
	uint32_t ranks; /* there, with those we place */
	uint32_t room;
};

static void rate(struct place *p)
{
	p->delay = host_delay(p->host, p->host->load + p->ranks);
}

static bool better(const struct place *a, const struct place *b)
{
	if (a->host->owner_active != b->host->owner_active)
		return b->host->owner_active;
	if (a->delay != b->delay)
		return a->delay < b->delay;
	if (a->ranks != b->ranks)
		return a->ranks < b->ranks;
	return a->host->ix < b->host->ix;
}

static void sift_down(struct place *heap, size_t nr, size_t i)
{
	struct place p = heap[i];

	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= nr)
			break;
		if (c + 1 < nr && better(&heap[c + 1], &heap[c]))
			c++;
		if (!better(&heap[c], &p))
			break;
		heap[i] = heap[c];
		i = c;
	}
	heap[i] = p;
}

static size_t collect(const struct view *view, const struct plan *plan,
		      bool owners, struct place *heap, uint64_t *ret_room)
{
	const struct host *h;
	size_t nr = 0;

	*ret_room = 0;
	for_each_host (h, view) {
		uint32_t room = plan_room(plan, h);

		if (!room || (h->owner_active && !owners))
			continue;
		heap[nr] = (struct place){
			.host = h,
			.room = room,
			.ranks = h->nr_active + (uint32_t)plan->ranks[h->ix],
		};
		rate(&heap[nr++]);
		*ret_room += room;
	}
	for (size_t i = nr / 2; i-- > 0;)
		sift_down(heap, nr, i);
	return nr;
}

bool place_least_delay(const struct view *view, const struct plan *plan,
		       uint32_t n, bool owners, uint32_t *ret)
{
	struct place *heap = xcalloc(view->nr_hosts + 1, sizeof(*heap));
	uint64_t room;
	size_t nr = collect(view, plan, owners, heap, &room);

	for (uint32_t i = 0; i < n && room >= n; i++) {
		ret[i] = heap[0].host->ix;
		heap[0].ranks++;
		rate(&heap[0]);
		if (!--heap[0].room)
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	free(heap);
	return room >= n;
}
