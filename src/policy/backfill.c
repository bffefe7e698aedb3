/*
 * backfill.c - backfilling with any number of reservations
 *
 * depth < 0: everybody has one (conservative); 0: nobody; 1: the head alone,
 * which is EASY; n: the first n of the queue.
 *
 * A job with a reservation keeps it or gets a better one; never a worse one
 * while the estimates hold.  What is planned is a profile of free processors
 * over time, from which running jobs (until their estimated ends) and
 * reservations are taken:
 *
 *	procs |RRRRRRR111111
 *	      |RRRRR222222        R running, 1 and 2 reserved
 *	      +--------------> time
 *
 * Jobs of the same size and estimate are interchangeable and have their slots
 * in common (alike.h).  When a job ends before its estimate, the kinds of jobs
 * are gone through once, in the order of their first jobs, and slots move to
 * the earliest start there is with the others where they are: no job's start
 * gets later by that, and those of a kind keep their order.  Only stretches
 * of time in which processors came free since the last look are looked at.
 *
 * Cost of a pass, with k steps in the profile: O(k/64 + 64) for each job that
 * arrives or starts; after an early end, at most that for each kind of job
 * (not each job) that is small enough for what came free, and each slot moved.
 */
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/xalloc.h"
#include "policy/alike.h"
#include "policy/ends.h"
#include "policy/fitset.h"
#include "policy/policy.h"
#include "policy/profile.h"

/* Where processors came free. */
struct freed {
	usec_t from, to;
};

/* More than that are joined into fewer. */
#define MAX_FREED 24

struct backfill {
	struct policy base;
	int64_t depth;	      /* reservations; < 0: no limit */
	struct alikes kinds;  /* of jobs with reservations, and slots */
	struct fitset heads;  /* the first job of each kind, by submit */
	struct heap starts;   /* kinds by their first slot */
	uint32_t nr_reserved; /* jobs with a reservation */
	uint8_t *reserved;    /* by ix: has it one? */
	size_t nr_flags;
	struct fitset open; /* jobs without one, by submit */
	struct ends ends; /* running jobs, by what is believed of their ends */
	struct profile profile;
	struct freed freed[2 * MAX_FREED]; /* since the last look */
	size_t nr_freed;
	bool given;		 /* a job ended early: look */
	usec_t interval, looked; /* between full looks; when the last was */
	bool rebuild;		 /* the profile does not hold any more */
	usec_t wake;		 /* a timer is set for then */
};

static const struct reason its_turn = {
	"its reservation has come: %n processors, %n free"
};
static const struct reason fills = {
	"it fits %n free processors now without delaying any of %n reservations"
};
static const struct reason reserved_for = {
	"its %n processors are reserved for it from %t on; %n are free now"
};
static const struct reason would_delay = {
	"starting it now on %n processors would delay one of %n jobs with "
	"reservations; %n are free"
};
static const struct reason next_start = { "the next reservation begins" };

static const char *const orders[] = { "pass", "pyss", "each", NULL };

#define REPLAN_PARAM(seconds)                                               \
	{                                                                   \
		"replan", PARAM_TIME, seconds, 0, 1e6, NULL,                \
			"least time between two looks for better "          \
			"reservations after early ends (0: at every one); " \
			"what can start now does so at every one"           \
	}

#define ORDER_PARAM                                                          \
	{                                                                    \
		"order", PARAM_CHOICE, 0, 0, 0, orders,                      \
			"events of one instant: ends, arrivals, then one "   \
			"pass; or a pass after each, arrivals first (pyss) " \
			"or ends first (each)"                               \
	}

static const struct param depth_params[] = {
	{ "depth", PARAM_INT, 1, -1, 1e9, NULL,
	  "reservations: -1 for every job, 0 none, 1 EASY, n" },
	REPLAN_PARAM(0),
	ORDER_PARAM,
	{ .name = NULL },
};

static const struct param conservative_params[] = {
	REPLAN_PARAM(300),
	ORDER_PARAM,
	{ .name = NULL },
};

static int create(const struct policy_setup *setup, struct policy **ret,
		  int64_t depth)
{
	static const enum policy_order order[] = {
		ORDER_ENDS_ARRIVALS_PASS,
		ORDER_ARRIVALS_FIRST_PASS_EACH,
		ORDER_ENDS_FIRST_PASS_EACH,
	};
	struct backfill *b = xcalloc(1, sizeof(*b));

	b->open = (struct fitset)FITSET_BY_SIZE_INIT;
	b->base.order = order[params_choice(setup->params, "order")];
	b->depth = depth;
	b->interval = params_usec(setup->params, "replan");
	b->wake = USEC_MAX;
	b->rebuild = true;
	profile_init(&b->profile, setup->view->now, setup->view->nr_procs);
	*ret = &b->base;
	return 0;
}

static int backfill_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	return create(setup, ret, params_int(setup->params, "depth"));
}

static int conservative_create(const struct policy_setup *setup,
			       struct policy **ret, struct error *err)
{
	return create(setup, ret, -1);
}

static void backfill_destroy(struct policy *policy)
{
	struct backfill *b = (struct backfill *)policy;

	alikes_clear(&b->kinds);
	fitset_clear(&b->heads);
	fitset_clear(&b->open);
	heap_clear(&b->starts);
	free(b->reserved);
	ends_clear(&b->ends);
	profile_clear(&b->profile);
	free(b);
}

static usec_t add_time(usec_t a, usec_t b)
{
	return b > USEC_MAX - a ? USEC_MAX : a + b;
}

static usec_t length_of(const struct job *job)
{
	return job->estimate ? job->estimate : USEC_MAX;
}

static bool is_reserved(const struct backfill *b, const struct job *job)
{
	return job->ix < b->nr_flags && b->reserved[job->ix];
}

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

/* The first slot of a kind may have changed. */
static void note_first(struct backfill *b, const struct alike *k)
{
	if (k->nr)
		heap_set(&b->starts, k->ix, alike_first(k));
	else
		heap_remove(&b->starts, k->ix);
}

/* Take slots off, or give them back to, the profile. */
static void occupy(struct backfill *b, const struct alike *k, usec_t at,
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

	occupy(b, k, at, 1);
	alike_add(k, at);
	note_first(b, k);
}

static void enter(struct backfill *b, const struct job *job)
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

static void leave(struct backfill *b, const struct job *job)
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

/* Give job, which is open, a reservation. */
static void reserve(struct backfill *b, const struct view *view,
		    const struct job *job)
{
	fitset_remove(&b->open, job);
	enter(b, job);
	set_reserved(b, job, true);
	add_slot(b, view, alikes_of(&b->kinds, job));
}

static int compare_freed(const void *a, const void *b)
{
	const struct freed *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Put stretches that touch together; then, if need be, whatever is next to
 * each other: looking at too much is allowed. */
static void join_freed(struct backfill *b)
{
	struct freed *f = b->freed;
	size_t n = 0;

	qsort(f, b->nr_freed, sizeof(*f), compare_freed);
	for (size_t i = 1; i < b->nr_freed; i++) {
		if (f[i].from > f[n].to)
			f[++n] = f[i];
		else if (f[i].to > f[n].to)
			f[n].to = f[i].to;
	}
	b->nr_freed = b->nr_freed ? n + 1 : 0;
	while (b->nr_freed > MAX_FREED) {
		b->nr_freed--;
		f[MAX_FREED - 1].to = f[b->nr_freed].to;
	}
}

static void note_freed(struct backfill *b, usec_t from, usec_t to)
{
	if (b->nr_freed == 2 * MAX_FREED)
		join_freed(b);
	b->freed[b->nr_freed++] = (struct freed){ from, to };
}

static void give(struct backfill *b, usec_t from, usec_t to, uint32_t n)
{
	profile_add(&b->profile, from, to, n);
	note_freed(b, from, to);
	b->given = true;
}

static void drop_reservation(struct backfill *b, const struct job *job)
{
	struct alike *k = alikes_of(&b->kinds, job);
	usec_t last = alike_last(k);

	leave(b, job);
	alike_take(k, k->nr - 1);
	note_first(b, k);
	if (last != USEC_MAX)
		give(b, last, add_time(last, k->length), k->size);
}

static void job_ended(struct backfill *b, const struct view *view,
		      const struct job *job)
{
	usec_t end;

	if (is_reserved(b, job)) { /* cancelled */
		drop_reservation(b, job);
	} else if (fitset_has(&b->open, job)) {
		fitset_remove(&b->open, job);
	} else {
		end = ends_at(&b->ends, job->ix);
		ends_remove(&b->ends, job->ix);
		if (end > view->now)
			give(b, view->now, end, job->n);
	}
}

static void backfill_event(struct policy *policy, const struct view *view,
			   const struct event *event)
{
	struct backfill *b = (struct backfill *)policy;
	const struct job *job = event->job;

	switch (event->type) {
	case EVENT_ARRIVE:
		fitset_insert(&b->open, job, job->submit);
		break;
	case EVENT_START: /* adopted, or resumed from a record */
		fitset_remove(&b->open, job);
		ends_insert(&b->ends, job->ix, job->est_end, event->n);
		b->rebuild = true;
		break;
	case EVENT_REQUEUE:
		ends_remove(&b->ends, job->ix);
		fitset_insert(&b->open, job, job->submit);
		b->rebuild = true;
		break;
	case EVENT_END:
		job_ended(b, view, job);
		break;
	case EVENT_PROCS:
	case EVENT_HOST:
	case EVENT_BOOKED:
		b->rebuild = true;
		break;
	default:
		break;
	}
}

/*
 * Jobs that outran their estimates: believe that each goes on for as long
 * again as it has run (at least a second).
 */
static void extend_estimates(struct backfill *b, const struct view *view)
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

/* The profile of running jobs and bookings, without reservations. */
static void refill_profile(struct backfill *b, const struct view *view)
{
	const struct job *j;

	profile_init(&b->profile, view->now, view->nr_free);
	for_each_running(j, view) if (j->state == JOB_RUNNING)
		profile_add(&b->profile, ends_at(&b->ends, j->ix), USEC_MAX,
			    gives_back(view, j));
	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		profile_add(&b->profile, r->from, r->to, -(int64_t)r->procs);
	}
}

/* Plan everything anew, in the order of the queue. */
static void plan_anew(struct backfill *b, const struct view *view)
{
	const struct job *j;

	refill_profile(b, view);
	for (size_t i = 0; i < b->kinds.nr; i++)
		alike_forget_slots(b->kinds.kind[i]);
	for_each_waiting(j, view) if (is_reserved(b, j))
		add_slot(b, view, alikes_of(&b->kinds, j));
	b->rebuild = b->given = false;
	b->nr_freed = 0;
}

/* Slot i of k moves to an earlier start; what it leaves is free. */
static void move_slot(struct backfill *b, struct alike *k, size_t i, usec_t to)
{
	usec_t from = k->slot[k->first + i], end = add_time(to, k->length);

	occupy(b, k, from, -1);
	occupy(b, k, to, 1);
	alike_take(k, i);
	alike_add(k, to);
	note_first(b, k);
	if (from != USEC_MAX)
		note_freed(b, from > end ? from : end,
			   add_time(from, k->length));
}

/*
 * Move a slot of k to the run [start, end) of enough free processors, if that
 * is earlier: the last of all if there is room for its whole length or it
 * begins within, for it may use its present place as well; else the last that
 * begins within or right after the run.
 */
static bool use_run(struct backfill *b, struct alike *k, usec_t start,
		    usec_t end)
{
	int64_t i = (int64_t)k->nr - 1;

	if (end != USEC_MAX && end - start < k->length)
		i = alike_find(k, end);
	if (i < 0 || k->slot[k->first + (size_t)i] <= start)
		return false;
	move_slot(b, k, (size_t)i, start);
	return true;
}

/* Improve the slots of k in one stretch of time; what begins at its last slot
 * or later is of no use to it. */
static void improve_in(struct backfill *b, const struct view *view,
		       struct alike *k, struct freed f)
{
	usec_t start, end, to;

	if (f.from < view->now)
		f.from = view->now;
	while (f.from < f.to) {
		to = alike_last(k) > f.from ? alike_last(k) : f.from + 1;
		if (to > f.to)
			to = f.to;
		if (!profile_run(&b->profile, f.from, to, k->size, k->length,
				 &start, &end) ||
		    start >= alike_last(k))
			break;
		if (start < view->now)
			start = view->now;
		if (!use_run(b, k, start, end))
			f.from = end;
	}
}

static int64_t most_freed(const struct backfill *b, const struct view *view)
{
	int64_t most = 0;

	for (size_t i = 0; i < b->nr_freed; i++) {
		usec_t from = b->freed[i].from, max;

		if (from < view->now)
			from = view->now;
		if (from >= b->freed[i].to)
			continue;
		max = profile_max(&b->profile, from, b->freed[i].to);
		if (max > most)
			most = max;
	}
	return most;
}

/* Whoever can start now by moving to now, in the order of the queue. */
static void improve_now(struct backfill *b, const struct view *view)
{
	const struct freed now = { view->now, view->now + 1 };
	const struct job *j = NULL;
	int64_t most = profile_max(&b->profile, view->now, view->now + 1);

	while (most > 0 && (j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		if (alike_last(k) <= view->now)
			continue;
		improve_in(b, view, k, now);
		most = profile_max(&b->profile, view->now, view->now + 1);
	}
}

/*
 * Once through the kinds, each looking at what came free since the last time
 * and by the moves so far.  What comes free by moves now is looked at by
 * those before next time.
 */
static void improve(struct backfill *b, const struct view *view)
{
	struct freed seen[2 * MAX_FREED];
	size_t nr_seen, nr_moved;
	int64_t most;
	const struct job *j = NULL;

	b->looked = view->now;
	join_freed(b);
	most = most_freed(b, view);
	nr_seen = b->nr_freed;
	memcpy(seen, b->freed, sizeof(seen));
	b->nr_freed = 0;
	while ((j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		for (size_t i = 0; i < nr_seen; i++)
			improve_in(b, view, k, seen[i]);
		/* Its own moves and those of kinds before it. */
		for (nr_moved = 0; nr_moved < b->nr_freed; nr_moved++)
			improve_in(b, view, k, b->freed[nr_moved]);
		if (nr_moved) {
			int64_t more = most_freed(b, view);

			if (more > most)
				most = more;
		}
	}
}

static void start_job(struct backfill *b, const struct view *view,
		      struct plan *plan, const struct job *job,
		      const struct reason *why, int64_t a, int64_t c)
{
	plan_start(plan, job, job->size, NULL, why, a, c, 0);
	ends_insert(&b->ends, job->ix, add_time(view->now, length_of(job)),
		    job->size);
}

/* Start those whose reservation has come. */
static void start_due(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	while (heap_first_key(&b->starts) <= view->now) {
		struct alike *k = b->kinds.kind[heap_pop(&b->starts)];
		const struct job *j = k->head;

		if (k->size > plan_free(plan)) {
			/* Processors that are lost, not late: plan anew. */
			note_first(b, k);
			b->rebuild = true;
			break;
		}
		start_job(b, view, plan, j, &its_turn, j->size,
			  plan_free(plan));
		leave(b, j);
		alike_take(k, 0);
		note_first(b, k);
	}
}

static bool may_reserve(const struct backfill *b)
{
	return b->depth < 0 || b->nr_reserved < b->depth;
}

/* The queue moves up: reservations for those who have none. */
static void reserve_more(struct backfill *b, const struct view *view,
			 struct plan *plan)
{
	const struct job *j;

	while (may_reserve(b) && (j = fitset_first(&b->open))) {
		reserve(b, view, j);
		start_due(b, view, plan);
		if (b->rebuild)
			break;
	}
}

static usec_t time_for(const struct backfill *b, const struct view *view,
		       uint32_t n)
{
	usec_t until = profile_until(&b->profile, view->now, n);

	return until == USEC_MAX ? USEC_MAX : until - view->now;
}

/*
 * Those without a reservation start if they delay none: if their processors
 * stay free for as long as they take.  Looked at are only those that fit for
 * ever, or as long as any processor stays free.
 */
static void fill(struct backfill *b, const struct view *view, struct plan *plan)
{
	const struct job *j = NULL, *next;
	int64_t spare = profile_min(&b->profile, view->now, USEC_MAX);
	usec_t within = time_for(b, view, 1);

	j = fitset_backfill(&b->open, NULL, plan_free(plan), spare, within);
	for (; j; j = next) {
		bool fits = j->size <= plan_free(plan) &&
			    length_of(j) <= time_for(b, view, j->size);

		if (fits) {
			profile_add(&b->profile, view->now,
				    add_time(view->now, length_of(j)),
				    -(int64_t)j->size);
			spare = profile_min(&b->profile, view->now, USEC_MAX);
			within = time_for(b, view, 1);
			start_job(b, view, plan, j, &fills, plan_free(plan),
				  b->nr_reserved);
		}
		next = fitset_backfill(&b->open, j, plan_free(plan), spare,
				       within);
		if (fits)
			fitset_remove(&b->open, j);
	}
}

static void set_timer(struct backfill *b, const struct view *view,
		      struct plan *plan)
{
	usec_t next = heap_first_key(&b->starts);

	if (b->wake <= view->now)
		b->wake = USEC_MAX;
	if (next < b->wake && next > view->now) {
		plan_wake(plan, next, &next_start, 0, 0, 0);
		b->wake = next;
	}
}

static void backfill_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct backfill *b = (struct backfill *)policy;

	if (!view->nr_waiting && !b->rebuild) {
		b->given = false;
		b->nr_freed = 0;
		return;
	}
	profile_trim(&b->profile, view->now);
	extend_estimates(b, view);
	if (b->rebuild)
		plan_anew(b, view);
	else if (b->given && view->now - b->looked >= b->interval)
		improve(b, view);
	else if (b->given)
		improve_now(b, view);
	b->given = false;
	start_due(b, view, plan);
	reserve_more(b, view, plan);
	if (b->open.nr && plan_free(plan) > 0)
		fill(b, view, plan);
	set_timer(b, view, plan);
}

/* The slot of a job: as the jobs of its kind stand, so do the slots. */
static usec_t slot_of(const struct backfill *b, const struct job *job)
{
	const struct alike *k = NULL;
	const struct job *j;
	size_t i = 0;

	for (size_t n = 0; n < b->kinds.nr && !k; n++)
		if (b->kinds.kind[n]->size == job->size &&
		    b->kinds.kind[n]->length == length_of(job))
			k = b->kinds.kind[n];
	for (j = k ? k->head : NULL; j && j != job; i++)
		j = alikes_next(&b->kinds, j);
	return j && i < k->nr ? k->slot[k->first + i] : USEC_MAX;
}

static void backfill_explain(const struct policy *policy,
			     const struct view *view, const struct job *job,
			     struct plan *plan)
{
	const struct backfill *b = (const struct backfill *)policy;

	if (is_reserved(b, job))
		plan_defer(plan, job, &reserved_for, job->size, slot_of(b, job),
			   view->nr_free);
	else
		plan_defer(plan, job, &would_delay, job->size, b->nr_reserved,
			   view->nr_free);
}

#define DETAILS                                                                  \
	"Jobs of the same size and estimate are interchangeable: they have "     \
	"their reservations in common, the earliest for the first in the "       \
	"queue.  A job that ends before its estimate lets them, kind by kind "   \
	"in the order of their first jobs, move to the earliest start there "    \
	"is with the others where they are, now at once, later at intervals; "   \
	"none gets worse.  A job that "                                          \
	"outruns its estimate is believed to go on for as long again, and all "  \
	"is planned anew.  A job without an estimate counts as one that never "  \
	"ends.  With k steps in the profile of free processors, an arrival or "  \
	"start costs O(k/64 + log n), an early end up to that for each kind of " \
	"job that is small enough for what came free."

const struct policy_ops policy_backfill = {
	.name = "backfill",
	.summary = "reservations for the first n; others start if none is late",
	.source = "Lifka 1995; Mu'alem and Feitelson 2001",
	.details = DETAILS,
	.params = depth_params,
	.flags = POLICY_ESTIMATES,
	.create = backfill_create,
	.event = backfill_event,
	.decide = backfill_decide,
	.explain = backfill_explain,
	.destroy = backfill_destroy,
};

const struct policy_ops policy_conservative = {
	.name = "conservative",
	.summary = "every job has a reservation, which only ever gets better",
	.source = "Mu'alem and Feitelson 2001",
	.details = DETAILS,
	.params = conservative_params,
	.flags = POLICY_ESTIMATES,
	.create = conservative_create,
	.event = backfill_event,
	.decide = backfill_decide,
	.explain = backfill_explain,
	.destroy = backfill_destroy,
};
