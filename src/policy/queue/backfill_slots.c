/*
 * backfill_slots.c - reservations, and the profile they are taken off, see
 * backfill.h
 */
#include <string.h>

#include "core/xalloc.h"
#include "policy/queue/backfill.h"

static void set_reserved(struct backfill *b, const struct job *job, bool yes)
{
	if (job->ix >= b->nr_flags) {
		size_t n = 2 * (size_t)job->ix + 64;

		b->reserved = xrealloc(b->reserved, n);
		memset(b->reserved + b->nr_flags, 0, n - b->nr_flags);
		b->nr_flags = n;
	}
	b->reserved[job->ix] = yes;
	if (yes)
		b->nr_reserved++;
	else
		b->nr_reserved--;
}

void backfill_note_first(struct backfill *b, const struct alike *k)
{
	if (k->nr)
		heap_set(&b->starts, k->ix, alike_first(k));
	else
		heap_remove(&b->starts, k->ix);
}

void backfill_add_slot(struct backfill *b, struct alike *k, usec_t at)
{
	if (at != USEC_MAX && !alike_has(k, at))
		profile_pin(&b->profile, at, k->ix, k->size);
	alike_add(k, at);
	backfill_note_first(b, k);
	backfill_want(b, k);
}

void backfill_take_slot(struct backfill *b, struct alike *k, size_t i)
{
	usec_t at = k->slot[k->first + i];
	struct profile_place near;

	alike_take(k, i);
	if (at != USEC_MAX && !alike_has(k, at))
		profile_unpin(&b->profile, at, k->ix);
	while (!k->nr && profile_next_mark(&b->profile, &b->kinds.marks[k->ix],
					   &at, &near))
		;
	backfill_note_first(b, k);
}

/* The last slots of k have become those of `new`, the row behind it. */
static void pin_anew(struct backfill *b, const struct alike *k,
		     struct alike *new)
{
	usec_t at = USEC_MAX;

	for (size_t i = new->first; i < new->first + new->nr; i++) {
		if (new->slot[i] == at || new->slot[i] == USEC_MAX)
			continue;
		at = new->slot[i];
		if (!alike_has(k, at))
			profile_unpin(&b->profile, at, k->ix);
		profile_pin(&b->profile, at, new->ix, new->size);
		backfill_freed(b, at - 1, at);
	}
}

/*
 * The first job of a kind was `head`: its present first job takes that one's place in
 * heads.
 */
static void change_head(struct backfill *b, const struct alike *k,
			const struct job *head)
{
	if (k->head == head)
		return;
	if (head)
		fitset_remove(&b->heads, head);
	if (k->head)
		fitset_insert(&b->heads, k->head, k->head->submit);
}

struct alike *backfill_join(struct backfill *b, const struct job *job,
			    usec_t at)
{
	struct alike *k = alikes_cut(&b->kinds, job);

	if (k) {
		change_head(b, k, NULL);
		pin_anew(b, k->before, k);
		backfill_note_first(b, k);
	}
	k = alikes_insert(&b->kinds, job, at);
	if (k->head == job)
		change_head(b, k, alikes_next(&b->kinds, job));
	return k;
}

/* Give the job the earliest slot. */
static void add_slot(struct backfill *b, const struct view *view,
		     const struct job *job)
{
	usec_t length = job_length(job);
	usec_t longest, at;
	struct alike *k;

	at = profile_earliest(&b->profile, view->now, length, job->size,
			      &longest);
	k = backfill_join(b, job, at);
	backfill_add_slot(b, k, at);
	if (at != USEC_MAX)
		profile_add(&b->profile, at, usec_add(at, length),
			    -(int64_t)k->size);
}

static void part(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	const struct job *head = k->head;

	alikes_remove(&b->kinds, job);
	change_head(b, k, head);
}

/* Take all jobs with reservations out of their kinds, which have no slots. */
static void part_all(struct backfill *b, const struct view *view)
{
	const struct job *j;

	for (size_t i = 0; i < b->kinds.nr; i++) {
		alike_forget_slots(b->kinds.kind[i]);
		b->kinds.marks[i] = 0;
	}
	for_each_waiting(j, view)
	{
		struct alike *k =
			is_reserved(b, j) ? alikes_of(&b->kinds, j) : NULL;

		if (!k)
			continue;
		part(b, j);
		backfill_note_first(b, k);
	}
}

void backfill_leave(struct backfill *b, const struct job *job)
{
	part(b, job);
	set_reserved(b, job, false);
}

void backfill_enter(struct backfill *b, const struct job *job)
{
	fitset_remove(&b->open, job);
	set_reserved(b, job, true);
}

void backfill_reserve(struct backfill *b, const struct view *view,
		      const struct job *job)
{
	backfill_enter(b, job);
	add_slot(b, view, job);
}

/* In a kind that is not a row, the jobs behind it move up by one slot. */
void backfill_drop(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	size_t i = b->kinds.each ? alikes_place(&b->kinds, k, job) : k->nr - 1;
	usec_t at = k->slot[k->first + i];

	backfill_leave(b, job);
	backfill_take_slot(b, k, i);
	if (at != USEC_MAX)
		backfill_give(b, at, usec_add(at, k->length), k->size);
}

void backfill_extend_estimates(struct backfill *b, const struct view *view)
{
	uint32_t ix;

	while ((ix = ends_first(&b->ends)) != UINT32_MAX &&
	       ends_at(&b->ends, ix) < view->now) {
		const struct job *job = view_job(view, ix);
		usec_t more = view->now - job->start;

		if (more < USEC_PER_SEC)
			more = USEC_PER_SEC;
		ends_insert(&b->ends, ix, usec_add(view->now, more), job->n);
		b->rebuild = true;
	}
}

void backfill_refill_profile(struct backfill *b, const struct view *view)
{
	const struct job *j;

	profile_init(&b->profile, view->now, view->nr_free);
	for_each_running(j, view) if (j->state == JOB_RUNNING)
		profile_add(&b->profile, ends_at(&b->ends, j->ix), USEC_MAX,
			    view_gives_back(view, j));
	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		if (r->held)
			profile_add(&b->profile, r->to, USEC_MAX, r->procs);
		else
			profile_add(&b->profile, r->from, r->to,
				    -(int64_t)r->procs);
	}
}

void backfill_plan_anew(struct backfill *b, const struct view *view)
{
	const struct job *j;

	backfill_refill_profile(b, view);
	part_all(b, view);
	for_each_waiting(j, view) if (is_reserved(b, j)) add_slot(b, view, j);
	b->rebuild = b->given = false;
	backfill_forget_freed(b);
}
