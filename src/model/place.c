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
	bool owned; /* by somebody who is there, and lends it */
};

static void rate(struct place *p)
{
	p->delay = host_delay(p->host, p->host->load + p->ranks);
}

static bool better(const struct place *a, const struct place *b)
{
	if (a->owned != b->owned)
		return b->owned;
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

/* Make a heap of h[0..nr), and add up its room. */
static uint64_t heapify(struct place *heap, size_t nr)
{
	uint64_t room = 0;

	for (size_t i = 0; i < nr; i++)
		room += heap[i].room;
	for (size_t i = nr / 2; i-- > 0;)
		sift_down(heap, nr, i);
	return room;
}

/* Hosts with room for one rank each, the best first, as most machines have them? */
static bool in_order(const struct place *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (p[i].room != 1 || (i && better(&p[i], &p[i - 1])))
			return false;
	return true;
}

static bool deal_first(struct place *p, size_t nr, uint32_t n, uint32_t *ret)
{
	for (uint32_t i = 0; i < n && n <= nr; i++)
		ret[i] = p[i].host->ix;
	free(p);
	return n <= nr;
}

/* Put n ranks onto the heap's hosts, if all find room; frees the heap. */
static bool deal(struct place *heap, size_t nr, uint32_t n, uint32_t *ret)
{
	bool enough;

	for (size_t i = 0; i < nr; i++)
		rate(&heap[i]);
	if (in_order(heap, nr))
		return deal_first(heap, nr, n, ret);
	enough = heapify(heap, nr) >= n;
	for (uint32_t i = 0; i < n && enough; i++) {
		ret[i] = heap[0].host->ix;
		heap[0].ranks++;
		rate(&heap[0]);
		if (!--heap[0].room)
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	free(heap);
	return enough;
}

bool place_least_delay_of(const struct view *view, const struct plan *plan,
			  const struct job *job, bool home, uint32_t n,
			  bool owners, uint32_t *ret)
{
	struct place *heap =
		xreallocarray(NULL, view->nr_hosts + 1, sizeof(*heap));
	const struct host *h;
	size_t nr = 0;

	for_each_host (h, view) {
		uint32_t room =
			home ? plan_room_of(plan, h, job) : plan_room(plan, h);
		bool owned = home ? host_recalls(h, job) : h->owner_active;

		if (job && !host_outlasts(h, job, view->now))
			room = 0;
		if (room && (owners || !owned))
			heap[nr++] = (struct place){
				.host = h,
				.room = room,
				.ranks = plan_active(plan, h),
				.owned = owned,
			};
	}
	return deal(heap, nr, n, ret);
}

bool place_least_delay(const struct view *view, const struct plan *plan,
		       uint32_t n, bool owners, uint32_t *ret)
{
	return place_least_delay_of(view, plan, NULL, false, n, owners, ret);
}

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Keep n of the job's places as they are, those on usable hosts first. */
static void keep(const struct view *view, const struct job *job, uint32_t n,
		 uint32_t *ret)
{
	uint32_t kept = 0;

	for (int usable = 1; usable >= 0; usable--)
		for (uint32_t i = 0; i < job->n && kept < n; i++)
			if (host_usable(&view->hosts[job->hosts[i]]) == usable)
				ret[kept++] = job->hosts[i];
}

bool place_on_cores(const struct view *view, const struct job *job, uint32_t n,
		    uint32_t *ret)
{
	struct place *heap =
		xreallocarray(NULL, view->nr_hosts + 1, sizeof(*heap));
	uint32_t kept = job && job->hosts ? min(job->n, n) : 0;
	const struct host *h;
	size_t nr = 0;

	for_each_host (h, view) {
		if (!h->reserved && host_cores(h) > h->nr_active &&
		    h->slots > h->nr_ranks)
			heap[nr++] = (struct place){
				.host = h,
				.room = min(host_cores(h) - h->nr_active,
					    h->slots - h->nr_ranks),
				.ranks = h->nr_active,
			};
	}
	if (!deal(heap, nr, n - kept, ret + kept))
		return false;
	if (kept)
		keep(view, job, kept, ret);
	return true;
}
