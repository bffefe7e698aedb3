/*
 * backfill_state.c - what backfilling remembers, as text, see backfill.h
 *
 *	plan LOOKED GIVEN REBUILD WAKE
 *	end JOB AT		what is believed of a running job
 *	has JOB			a reservation, in the order of the queue
 *	slot SIZE LENGTH AT	of a kind of jobs
 *	job NR AT		the slot of job NR of these, from 0, where each
 *				has its own; rows in their heap's order
 *
 * The profile follows from these; all of it counts as come free since the last look, as
 * whoever looks again moves nothing.  If jobs have come or gone meanwhile, the slots do
 * not match them or lie in the past: then all is planned anew.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/queue/backfill.h"

/* Kinds in the order of the heap, which decides between equal ones. */
static int by_place(const void *a, const void *b)
{
	const struct heap_node *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/*
 * For each job, by ix: how many jobs with a reservation are before it in the
 * queue.
 */
static uint32_t *numbers_of(const struct backfill *b, const struct view *view)
{
	uint32_t *nr = xcalloc(b->nr_flags + 1, sizeof(*nr)), n = 0;
	const struct job *j;

	for_each_waiting(j, view) if (is_reserved(b, j)) nr[j->ix] = n++;
	return nr;
}

static void save_kind(const struct backfill *b, const struct alike *k,
		      const uint32_t *number, FILE *to)
{
	const struct job *j = b->kinds.each ? k->head : NULL;

	for (size_t s = k->first; j; j = alikes_next(&b->kinds, j), s++)
		fprintf(to, "job %" PRIu32 " %" PRId64 "\n", number[j->ix],
			k->slot[s]);
	for (size_t s = k->first; !b->kinds.each && s < k->first + k->nr; s++)
		fprintf(to, "slot %" PRIu32 " %" PRId64 " %" PRId64 "\n",
			k->size, k->length, k->slot[s]);
}

static void save_slots(const struct backfill *b, const struct view *view,
		       FILE *to)
{
	size_t nr = b->starts.nr;
	struct heap_node *node = xcalloc(nr + 1, sizeof(*node));
	uint32_t *number = numbers_of(b, view);

	if (nr)
		memcpy(node, b->starts.node, nr * sizeof(*node));
	qsort(node, nr, sizeof(*node), by_place);
	for (size_t i = 0; i < nr; i++)
		save_kind(b, b->kinds.kind[node[i].handle], number, to);
	free(number);
	free(node);
}

void backfill_save(const struct policy *policy, const struct view *view,
		   FILE *to)
{
	const struct backfill *b = (const struct backfill *)policy;
	const struct job *j;

	fprintf(to, "plan %" PRId64 " %d %d %" PRId64 "\n", b->looked, b->given,
		b->rebuild, b->wake);
	for_each_running(j, view) fprintf(to, "end %" PRId64 " %" PRId64 "\n",
					  j->id, ends_at(&b->ends, j->ix));
	for_each_waiting(j, view) if (is_reserved(b, j))
		fprintf(to, "has %" PRId64 "\n", j->id);
	save_slots(b, view, to);
}

static struct alike *find_kind(const struct backfill *b, uint32_t size,
			       usec_t length)
{
	for (size_t i = 0; i < b->kinds.nr; i++)
		if (!b->kinds.each && b->kinds.kind[i]->size == size &&
		    b->kinds.kind[i]->length == length)
			return b->kinds.kind[i];
	return NULL;
}

/* A job with a reservation. */
struct has {
	const struct job *job; /* NULL: it has gone meanwhile */
	usec_t at;	       /* its own slot; -1: not given */
};

/* What has been read so far. */
struct reader {
	/* the last one found: the next one is near it */
	const struct job *last;
	struct has *has;
	size_t nr, cap;
	/* numbers of jobs with slots of their own, in the order of the lines */
	size_t *slot;
	size_t nr_slots, cap_slots;
	bool rebuild;
};

static void load_end(struct backfill *b, const struct job *j, usec_t end)
{
	if (j && j->state == JOB_RUNNING)
		ends_insert(&b->ends, j->ix, end, j->n);
}

static void load_has(struct backfill *b, struct reader *r, const struct job *j)
{
	bool open = j && fitset_has(&b->open, j);

	array_room(r->has, r->nr, &r->cap);
	r->has[r->nr++] = (struct has){ open ? j : NULL, -1 };
	if (!open)
		return;
	backfill_enter(b, j);
	if (!b->kinds.each)
		backfill_join(b, j, 0);
}

/* The job of that number has a slot of its own. */
static void load_own_slot(struct reader *r, int64_t number, usec_t at)
{
	if (number < 0 || (size_t)number >= r->nr || at < 0)
		return;
	r->has[number].at = at;
	array_room(r->slot, r->nr_slots, &r->cap_slots);
	r->slot[r->nr_slots++] = (size_t)number;
}

/*
 * Once all slots are read: make rows of jobs and slots again, in the order of the
 * queue, and put them into the heap in the order in which they were written.
 */
static void make_rows(struct backfill *b, struct reader *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct has *h = &r->has[i];

		if (!h->job)
			continue;
		r->rebuild |= h->at < 0;
		alike_add(backfill_join(b, h->job, h->at), h->at);
	}
	for (size_t i = 0; i < r->nr_slots; i++) {
		const struct job *j = r->has[r->slot[i]].job;
		struct alike *k = j ? alikes_of(&b->kinds, j) : NULL;

		if (k && k->head == j)
			backfill_note_first(b, k);
	}
}

static void load_slot(struct backfill *b, struct alike *k, usec_t at)
{
	if (!k || k->nr == k->nr_jobs)
		return;
	alike_add(k, at);
	backfill_note_first(b, k);
}

static bool load_line(struct backfill *b, const struct view *view,
		      const char *line, struct reader *r)
{
	int64_t x, y, z;
	int given, anew;

	if (sscanf(line, "plan %" SCNd64 " %d %d %" SCNd64, &x, &given, &anew,
		   &y) == 4) {
		b->looked = x < 0 ? 0 : x;
		b->wake = y;
		b->unset = true;
		b->given = given;
		r->rebuild = anew;
	} else if (sscanf(line, "end %" SCNd64 " %" SCNd64, &x, &y) == 2) {
		r->last = view_find_next(view, r->last, x);
		load_end(b, r->last, y);
	} else if (!strncmp(line, "free ", 5)) {
		/* where processors came free, in records of before December 2026 */
	} else if (sscanf(line, "has %" SCNd64, &x) == 1) {
		r->last = view_find_next(view, r->last, x);
		load_has(b, r, r->last);
	} else if (sscanf(line, "slot %" SCNd64 " %" SCNd64 " %" SCNd64, &x, &y,
			  &z) == 3) {
		load_slot(b, find_kind(b, (uint32_t)x, y), z);
	} else if (sscanf(line, "job %" SCNd64 " %" SCNd64, &x, &y) == 2) {
		load_own_slot(r, x, y);
	} else {
		return false;
	}
	return true;
}

/* Does each job have a slot that can still be kept? */
static bool matches(const struct backfill *b, const struct view *view)
{
	for (size_t i = 0; i < b->kinds.nr; i++) {
		const struct alike *k = b->kinds.kind[i];

		if (k->nr != k->nr_jobs || alike_first(k) < view->now)
			return false;
	}
	return true;
}

/* Take the slots of k off the profile. */
static void occupy(struct backfill *b, const struct alike *k)
{
	usec_t last = USEC_MAX;

	for (size_t i = k->first; i < k->first + k->nr; i++) {
		usec_t at = k->slot[i];

		if (at == USEC_MAX)
			break;
		if (at != last)
			profile_pin(&b->profile, at, k->ix, k->size);
		profile_add(&b->profile, at, usec_add(at, k->length),
			    -(int64_t)k->size);
		last = at;
	}
}

int backfill_load(struct policy *policy, const struct view *view,
		  const char *text, struct error *err)
{
	struct backfill *b = (struct backfill *)policy;
	struct reader r = { 0 };
	bool fine = true;

	while (*text && (fine = load_line(b, view, text, &r))) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (b->kinds.each)
		make_rows(b, &r);
	free(r.has);
	free(r.slot);
	if (!fine)
		return policy_damaged(policy, text, err);
	b->rebuild = r.rebuild || !matches(b, view);
	if (b->rebuild)
		return 0;
	backfill_refill_profile(b, view);
	for (size_t i = 0; i < b->kinds.nr; i++)
		occupy(b, b->kinds.kind[i]);
	backfill_freed(b, view->now, USEC_MAX);
	return 0;
}
