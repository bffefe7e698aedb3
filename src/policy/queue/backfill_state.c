/*
 * backfill_state.c - what backfilling remembers, as text, see backfill.h
 *
 *	plan LOOKED GIVEN REBUILD WAKE
 *	end JOB AT		what is believed of a running job
 *	free FROM TO MOST	came free since the last look
 *	has JOB			a reservation, in the order of the queue
 *	slot SIZE LENGTH AT	of a kind of jobs
 *	job NR AT		the slot of job NR of these, from 0, where each
 *				has its own
 *
 * The profile follows from these.  If jobs have gone or come meanwhile, slots
 * do not match them any more, or lie in the past: then all is planned anew.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/queue/backfill.h"

/* Kinds in the order of the heap: it decides between equal ones. */
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
	if (b->kinds.each) {
		fprintf(to, "job %" PRIu32 " %" PRId64 "\n",
			number[k->head->ix], alike_first(k));
		return;
	}
	for (size_t s = k->first; s < k->first + k->nr; s++)
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
	for (size_t i = 0; i < b->freed.nr; i++)
		fprintf(to, "free %" PRId64 " %" PRId64 " %" PRId64 "\n",
			b->freed.f[i].from, b->freed.f[i].to,
			b->freed.f[i].most);
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

/* What has been read so far. */
struct reader {
	const struct job *last; /* found: the next one is near */
	const struct job **has; /* with reservations; NULL: gone meanwhile */
	size_t nr, cap;
	bool rebuild;
};

/* The kind of the job of that number. */
static struct alike *own_kind(struct backfill *b, const struct reader *r,
			      int64_t number)
{
	const struct job *j = NULL;

	if (b->kinds.each && number >= 0 && (size_t)number < r->nr)
		j = r->has[number];
	return j && is_reserved(b, j) ? alikes_of(&b->kinds, j) : NULL;
}

static void load_end(struct backfill *b, const struct job *j, usec_t end)
{
	if (j && j->state == JOB_RUNNING)
		ends_insert(&b->ends, j->ix, end, j->n);
}

static void load_has(struct backfill *b, struct reader *r, const struct job *j)
{
	array_room(r->has, r->nr, &r->cap);
	r->has[r->nr++] = j;
	if (j && fitset_has(&b->open, j))
		backfill_enter(b, j);
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
	} else if (sscanf(line, "free %" SCNd64 " %" SCNd64 " %" SCNd64, &x, &y,
			  &z) == 3) {
		if (b->freed.nr < 2 * MAX_FREED)
			b->freed.f[b->freed.nr++] = (struct freed){ x, y, z };
	} else if (sscanf(line, "has %" SCNd64, &x) == 1) {
		r->last = view_find_next(view, r->last, x);
		load_has(b, r, r->last);
	} else if (sscanf(line, "slot %" SCNd64 " %" SCNd64 " %" SCNd64, &x, &y,
			  &z) == 3) {
		load_slot(b, find_kind(b, (uint32_t)x, y), z);
	} else if (sscanf(line, "job %" SCNd64 " %" SCNd64, &x, &y) == 2) {
		load_slot(b, own_kind(b, r, x), y);
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
	free(r.has);
	if (!fine)
		return policy_damaged(policy, text, err);
	b->rebuild = r.rebuild || !matches(b, view);
	if (b->rebuild)
		return 0;
	backfill_refill_profile(b, view);
	for (size_t i = 0; i < b->kinds.nr; i++) {
		const struct alike *k = b->kinds.kind[i];

		for (size_t s = k->first; s < k->first + k->nr; s++)
			backfill_occupy(b, k, k->slot[s], 1);
	}
	return 0;
}
