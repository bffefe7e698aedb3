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

void backfill_occupy(struct backfill *b, const struct alike *k, usec_t at,
		     int sign)
{
	if (at != USEC_MAX)
		profile_add(&b->profile, at, add_time(at, k->length),
			    -sign * (int64_t)k->size);
}

/* One more slot for a kind, at the earliest. */
static void add_slot(struct backfill *b, const struct view *view,
		     struct alike *k)
{
	usec_t at =
		profile_earliest(&b->profile, view->now, k->length, k->size);

	backfill_occupy(b, k, at, 1);
	alike_add(k, at);
	backfill_note_first(b, k);
}

static void enter_job(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	const struct job *head = k->head;

	alikes_insert(&b->kinds, job);
	if (k->head == head)
		return;
	if (head)
		fitset_remove(&b->heads, head);
	fitset_insert(&b->heads, k->head, k->head->submit);
}

void backfill_leave(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	const struct job *head = k->head;

	alikes_remove(&b->kinds, job);
	set_reserved(b, job, false);
	if (k->head == head)
		return;
	fitset_remove(&b->heads, head);
	if (k->head)
		fitset_insert(&b->heads, k->head, k->head->submit);
}

void backfill_enter(struct backfill *b, const struct job *job)
{
	fitset_remove(&b->open, job);
	enter_job(b, job);
	set_reserved(b, job, true);
}

void backfill_reserve(struct backfill *b, const struct view *view,
		      const struct job *job)
{
	backfill_enter(b, job);
	add_slot(b, view, alikes_of(&b->kinds, job));
}

void backfill_drop(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	usec_t last = alike_last(k);

	backfill_leave(b, job);
	alike_take(k, k->nr - 1);
	backfill_note_first(b, k);
	if (last != USEC_MAX)
		backfill_give(b, last, add_time(last, k->length), k->size);
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
		ends_insert(&b->ends, ix, add_time(view->now, more), job->n);
		b->rebuild = true;
	}
}

/* Processors a running job gives back to the machine when it ends: not those
 * on hosts that are drained. */
static uint32_t gives_back(const struct view *view, const struct job *job)
{
	uint32_t n = 0;

	if (!job->hosts)
		return job->n;
	for (uint32_t i = 0; i < job->n; i++)
		n += host_usable(&view->hosts[job->hosts[i]]);
	return n;
}

void backfill_refill_profile(struct backfill *b, const struct view *view)
{
	const struct job *j;

	profile_init(&b->profile, view->now, view->nr_free);
	for_each_running(j, view) if (j->state == JOB_RUNNING)
		profile_add(&b->profile, ends_at(&b->ends, j->ix), USEC_MAX,
			    gives_back(view, j));
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
	for (size_t i = 0; i < b->kinds.nr; i++)
		alike_forget_slots(b->kinds.kind[i]);
	for_each_waiting(j, view) if (is_reserved(b, j))
		add_slot(b, view, alikes_of(&b->kinds, j));
	b->rebuild = b->given = false;
	b->freed.nr = 0;
}
