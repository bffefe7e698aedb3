/* alike.c - kinds of waiting jobs and their slots, see alike.h */
#include "policy/kit/alike.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

struct alike_link {
	const struct job *prev, *next;
	uint32_t own; /* its kind, where each has one: ix + 1 */
};

void alikes_clear(struct alikes *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		free(a->kind[i]->slot);
		free(a->kind[i]);
	}
	free(a->kind);
	free(a->bucket);
	free(a->link);
	*a = (struct alikes){ 0 };
}

static usec_t length_of(const struct job *job)
{
	return job->estimate ? job->estimate : USEC_MAX;
}

static uint32_t *bucket_of(struct alikes *a, uint32_t size, usec_t length)
{
	uint64_t h =
		((uint64_t)length ^ (uint64_t)size << 40) * 0x9e3779b97f4a7c15;

	return &a->bucket[(h ^ h >> 32) & (a->nr_buckets - 1)];
}

static void grow(struct alikes *a)
{
	free(a->bucket);
	a->nr_buckets = a->nr_buckets ? 4 * a->nr_buckets : 256;
	a->bucket = xcalloc(a->nr_buckets, sizeof(*a->bucket));
	for (uint32_t i = 0; i < a->nr; i++) {
		struct alike *k = a->kind[i];
		uint32_t *b = bucket_of(a, k->size, k->length);

		k->next = *b;
		*b = i + 1;
	}
}

static struct alike *make(struct alikes *a)
{
	struct alike *k = xcalloc(1, sizeof(*k));

	k->ix = (uint32_t)a->nr;
	array_room(a->kind, a->nr, &a->cap);
	a->kind[a->nr++] = k;
	return k;
}

static struct alike_link *link_of(struct alikes *a, const struct job *job)
{
	size_t nr = a->nr_links;

	if (job->ix >= nr) {
		a->nr_links = 2 * (size_t)job->ix + 64;
		a->link = xreallocarray(a->link, a->nr_links, sizeof(*a->link));
		memset(a->link + nr, 0, (a->nr_links - nr) * sizeof(*a->link));
	}
	return &a->link[job->ix];
}

static struct alike *take_idle(struct alikes *a)
{
	struct alike *k = a->kind[a->idle - 1];

	a->idle = k->next;
	return k;
}

static struct alike *own_kind(struct alikes *a, const struct job *job)
{
	struct alike_link *l = link_of(a, job);
	struct alike *k;

	if (l->own)
		return a->kind[l->own - 1];
	k = a->idle ? take_idle(a) : make(a);
	k->size = job->size;
	k->length = length_of(job);
	l->own = k->ix + 1;
	return k;
}

struct alike *alikes_of(struct alikes *a, const struct job *job)
{
	usec_t length = length_of(job);
	struct alike *k;
	uint32_t *b;

	if (a->each)
		return own_kind(a, job);
	if (a->nr >= a->nr_buckets)
		grow(a);
	b = bucket_of(a, job->size, length);
	for (uint32_t i = *b; i; i = k->next) {
		k = a->kind[i - 1];
		if (k->size == job->size && k->length == length)
			return k;
	}
	k = make(a);
	k->size = job->size;
	k->length = length;
	k->next = *b;
	*b = k->ix + 1;
	return k;
}

struct alike *alikes_insert(struct alikes *a, const struct job *job)
{
	struct alike *k = alikes_of(a, job);
	struct alike_link *l = link_of(a, job);

	l->prev = k->tail;
	while (l->prev && job_before(job, l->prev))
		l->prev = a->link[l->prev->ix].prev;
	l->next = l->prev ? a->link[l->prev->ix].next : k->head;
	*(l->prev ? &a->link[l->prev->ix].next : &k->head) = job;
	*(l->next ? &a->link[l->next->ix].prev : &k->tail) = job;
	k->nr_jobs++;
	return k;
}

void alikes_remove(struct alikes *a, const struct job *job)
{
	struct alike *k = alikes_of(a, job);
	struct alike_link *l = &a->link[job->ix];

	*(l->prev ? &a->link[l->prev->ix].next : &k->head) = l->next;
	*(l->next ? &a->link[l->next->ix].prev : &k->tail) = l->prev;
	k->nr_jobs--;
	if (!a->each)
		return;
	l->own = 0;
	k->next = a->idle;
	a->idle = k->ix + 1;
}

const struct job *alikes_next(const struct alikes *a, const struct job *job)
{
	return a->link[job->ix].next;
}

int64_t alike_find(const struct alike *k, usec_t most)
{
	size_t lo = k->first, hi = k->first + k->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (k->slot[mid] <= most)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)(lo - k->first) - 1;
}

/* Room for one more at the end: move the rest to the front before growing. */
static void grow_slots(struct alike *k)
{
	if (k->first + k->nr < k->cap)
		return;
	if (k->first > k->nr) {
		memcpy(k->slot, k->slot + k->first, k->nr * sizeof(*k->slot));
		k->first = 0;
		return;
	}
	k->cap = 2 * k->cap + 4;
	k->slot = xreallocarray(k->slot, k->cap, sizeof(*k->slot));
}

void alike_add(struct alike *k, usec_t at)
{
	size_t i = (size_t)(alike_find(k, at) + 1);
	usec_t *s;

	if (i == 0 && k->first > 0) {
		k->slot[--k->first] = at;
		k->nr++;
		return;
	}
	grow_slots(k);
	s = k->slot + k->first;
	memmove(s + i + 1, s + i, (k->nr - i) * sizeof(*s));
	s[i] = at;
	k->nr++;
}

void alike_take(struct alike *k, size_t i)
{
	usec_t *s = k->slot + k->first;

	k->nr--;
	if (i == 0)
		k->first++;
	else
		memmove(s + i, s + i + 1, (k->nr - i) * sizeof(*s));
}

void alike_forget_slots(struct alike *k)
{
	k->first = k->nr = 0;
}
