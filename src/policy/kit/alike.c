/* alike.c - kinds of waiting jobs and their slots, see alike.h */
#include "policy/kit/alike.h"

#include <stdlib.h>
#include <string.h>

#include "core/bisect.h"
#include "core/xalloc.h"

struct alike_link {
	const struct job *prev, *next;
	uint32_t own; /* if there are rows, its row: ix + 1 */
};

void alikes_clear(struct alikes *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		free(a->kind[i]->slot);
		free(a->kind[i]);
	}
	free(a->kind);
	free(a->marks);
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
	struct alike *k = xcalloc_aligned(ALIKE_LINE, sizeof(*k));

	k->ix = (uint32_t)a->nr;
	k->first_slot = USEC_MAX;
	if (a->nr == a->cap) {
		array_room(a->kind, a->nr, &a->cap);
		a->marks = xreallocarray(a->marks, a->cap, sizeof(*a->marks));
	}
	a->marks[a->nr] = 0;
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

/* Its slots have changed: note the first and the last. */
static void note_slots(struct alike *k)
{
	const usec_t *s = k->slot + k->first;

	k->first_slot = k->nr ? s[0] : USEC_MAX;
	k->last_slot = k->nr ? s[k->nr - 1] : 0;
}

static void set_head(struct alike *k, const struct job *job)
{
	k->head = job;
	k->submit = job ? job->submit : 0;
}

/* Row k is new, or, where it is gone, about to be: the rows before it are some others' way ahead. */
static void note_ahead(struct alike *k, bool gone)
{
	struct alike *x = k->before;

	for (int i = 1; i < ALIKE_AHEAD && x; i++, x = x->before)
		if (x->ahead)
			x->ahead = gone ? x->ahead->behind : x->ahead->before;
	if (x)
		x->ahead = gone ? k->behind : k;
	k->ahead = k->behind;
	for (int i = 1; i < ALIKE_AHEAD && k->ahead; i++)
		k->ahead = k->ahead->behind;
}

/* Make a row without jobs, behind another one (NULL: as the first of all). */
static struct alike *make_row(struct alikes *a, const struct job *job,
			      struct alike *before)
{
	struct alike *k = a->idle ? take_idle(a) : make(a);
	struct alike *behind = before ? before->behind : a->first;

	k->size = job->size;
	k->length = length_of(job);
	k->before = before;
	k->behind = behind;
	*(before ? &before->behind : &a->first) = k;
	*(behind ? &behind->before : &a->last) = k;
	note_ahead(k, false);
	return k;
}

static void remove_row(struct alikes *a, struct alike *k)
{
	note_ahead(k, true);
	*(k->before ? &k->before->behind : &a->first) = k->behind;
	*(k->behind ? &k->behind->before : &a->last) = k->before;
	k->before = k->behind = NULL;
	k->next = a->idle;
	a->idle = k->ix + 1;
}

/* The last row that begins before job. */
static struct alike *row_before(const struct alikes *a, const struct job *job)
{
	struct alike *k = a->last;

	while (k && job_before(job, k->head))
		k = k->before;
	return k;
}

/* The row that the job joins as its last one, or a new row of its own. */
static struct alike *row_for(struct alikes *a, const struct job *job, usec_t at)
{
	struct alike *k = row_before(a, job);

	if (!k || k->size != job->size || k->length != length_of(job) ||
	    k->nr != k->nr_jobs || alike_last(k) > at)
		k = make_row(a, job, k);
	link_of(a, job)->own = k->ix + 1;
	return k;
}

/* The jobs of k from `first` on, and their slots, become a row of their own. */
static struct alike *cut_row(struct alikes *a, struct alike *k,
			     const struct job *first)
{
	size_t n = alikes_place(a, k, first);
	struct alike *new = make_row(a, first, k);
	struct alike_link *l = &a->link[first->ix];

	set_head(new, first);
	new->tail = k->tail;
	k->tail = l->prev;
	a->link[k->tail->ix].next = NULL;
	l->prev = NULL;
	for (const struct job *j = first; j; j = alikes_next(a, j)) {
		a->link[j->ix].own = new->ix + 1;
		new->nr_jobs++;
		k->nr_jobs--;
	}
	for (size_t i = n; i < k->nr; i++)
		alike_add(new, k->slot[k->first + i]);
	k->nr = n < k->nr ? n : k->nr;
	note_slots(k);
	return new;
}

struct alike *alikes_cut(struct alikes *a, const struct job *job)
{
	struct alike *k = a->each ? row_before(a, job) : NULL;
	const struct job *first = k ? k->head : NULL;

	if (!k || !job_before(job, k->tail))
		return NULL;
	while (!job_before(job, first))
		first = alikes_next(a, first);
	return cut_row(a, k, first);
}

struct alike *alikes_of(struct alikes *a, const struct job *job)
{
	usec_t length = length_of(job);
	struct alike *k;
	uint32_t *b;

	if (a->each)
		return a->kind[a->link[job->ix].own - 1];
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

struct alike *alikes_insert(struct alikes *a, const struct job *job, usec_t at)
{
	struct alike *k = a->each ? row_for(a, job, at) : alikes_of(a, job);
	struct alike_link *l = link_of(a, job);

	l->prev = k->tail;
	while (l->prev && job_before(job, l->prev))
		l->prev = a->link[l->prev->ix].prev;
	l->next = l->prev ? a->link[l->prev->ix].next : k->head;
	if (l->prev)
		a->link[l->prev->ix].next = job;
	else
		set_head(k, job);
	*(l->next ? &a->link[l->next->ix].prev : &k->tail) = job;
	k->nr_jobs++;
	return k;
}

void alikes_remove(struct alikes *a, const struct job *job)
{
	struct alike *k = alikes_of(a, job);
	struct alike_link *l = &a->link[job->ix];

	if (l->prev)
		a->link[l->prev->ix].next = l->next;
	else
		set_head(k, l->next);
	*(l->next ? &a->link[l->next->ix].prev : &k->tail) = l->prev;
	k->nr_jobs--;
	if (!a->each)
		return;
	l->own = 0;
	if (!k->nr_jobs)
		remove_row(a, k);
}

const struct job *alikes_next(const struct alikes *a, const struct job *job)
{
	return a->link[job->ix].next;
}

size_t alikes_place(const struct alikes *a, const struct alike *k,
		    const struct job *job)
{
	size_t i = 0;

	for (const struct job *j = k->head; j != job; j = alikes_next(a, j))
		i++;
	return i;
}

int64_t alike_find(const struct alike *k, usec_t most)
{
	size_t at;

	if (k->last_slot <= most)
		return (int64_t)k->nr - 1;
	if (k->first_slot > most)
		return -1;
	bisect(at, k->nr, k->slot[k->first + at] <= most);
	return (int64_t)at - 1;
}

bool alike_has(const struct alike *k, usec_t at)
{
	int64_t i;

	if (k->nr && (at == k->first_slot || at == k->last_slot))
		return true;
	i = alike_find(k, at);
	return i >= 0 && k->slot[k->first + (size_t)i] == at;
}

int64_t alike_before(const struct alike *k, size_t i)
{
	const usec_t *s = k->slot + k->first;
	size_t at;

	if (s[i] == k->first_slot)
		return -1;
	if (s[i - 1] < s[i])
		return (int64_t)i - 1;
	bisect(at, i, s[at] < s[i]);
	return (int64_t)at - 1;
}

/*
 * Make room for one more slot at the end: move the slots to the front before growing.
 */
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
		note_slots(k);
		return;
	}
	grow_slots(k);
	s = k->slot + k->first;
	memmove(s + i + 1, s + i, (k->nr - i) * sizeof(*s));
	s[i] = at;
	k->nr++;
	note_slots(k);
}

void alike_take(struct alike *k, size_t i)
{
	usec_t *s = k->slot + k->first;

	k->nr--;
	if (i == 0)
		k->first++;
	else
		memmove(s + i, s + i + 1, (k->nr - i) * sizeof(*s));
	note_slots(k);
}

size_t alike_equal(const struct alike *k, size_t i, size_t most)
{
	const usec_t *s = k->slot + k->first;
	size_t n = 1;

	while (n < most && n <= i && s[i - n] == s[i])
		n++;
	return n;
}

struct alike_moved alike_move(struct alike *k, size_t i, size_t n, usec_t to)
{
	usec_t *s = k->slot + k->first;
	size_t first = i + 1 - n, at = (size_t)(alike_find(k, to) + 1);
	struct alike_moved ret = {
		.first_there = !at || s[at - 1] != to,
		.last_here = (!first || s[first - 1] != s[i]) &&
			     (i + 1 == k->nr || s[i + 1] != s[i]),
	};

	memmove(s + at + n, s + at, (first - at) * sizeof(*s));
	for (size_t j = at; j < at + n; j++)
		s[j] = to;
	note_slots(k);
	return ret;
}

void alike_forget_slots(struct alike *k)
{
	k->first = k->nr = 0;
	note_slots(k);
}
