/* test_books.c - see test_books.h */
#include "sim/engine/test_books.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct books books;

void books_begin(const struct among *a, const char *policy)
{
	memset(&books, 0, sizeof(books));
	books.a = a;
	books.policy = policy;
	for (int i = 0; i < AMONG_HOSTS; i++)
		books.host[i].waits = -1;
}

void books_wrong(const char *what, int64_t job)
{
	fail_msg("%s, seed %u: %s: job %d at %.6f s", books.policy,
		 (unsigned)books.a->seed, what, (int)job,
		 usec_to_seconds(books.now));
}

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* ---- owners ---- */

static double waiting(const struct host *h, const struct bearing *b)
{
	double cores = h->cores, alone = b->load > cores ? b->load / cores : 1;
	double shared = (b->load + b->running) / cores;

	/* Of the processor that they would have, what guests leave them. */
	return b->load > 0 && shared > alone
		       ? b->load - b->load * alone / shared
		       : 0;
}

static void gives_back(struct bearing *b, usec_t at)
{
	if (b->waits < 0 || (b->here && b->running))
		return;
	b->sum.given_back++;
	b->sum.give_back += usec_to_seconds(at - b->waits);
	b->sum.give_back_most = later(b->sum.give_back_most, at - b->waits);
	b->waits = -1;
}

static void owner_comes(struct bearing *b, usec_t at)
{
	b->sum.returns++;
	b->sum.refill += b->taken / 4096 * 0.01;
	b->taken = 0;
	if (b->running)
		b->waits = at;
}

/* Those that are due, each at its own time. */
static void change_owners(usec_t until)
{
	const struct activity *all = &books.a->activity;

	for (; books.next_change < all->nr &&
	       all->change[books.next_change].at <= until;
	     books.next_change++) {
		const struct activity_change *c =
			&all->change[books.next_change];
		struct bearing *b = &books.host[c->host];
		bool was = b->here;

		if (c->what == ACTIVITY_LOAD)
			b->load = c->value;
		if (c->what == ACTIVITY_OWNER)
			b->owner = c->value;
		if (c->what == ACTIVITY_KEYBOARD)
			b->keyboard = c->value;
		b->here = b->owner > 0 || b->keyboard > 0;
		if (b->here && !was && c->at > 0)
			owner_comes(b, c->at);
		gives_back(b, c->at);
	}
}

static void bear(usec_t dt)
{
	for (uint32_t i = 0; i < AMONG_HOSTS; i++) {
		struct bearing *b = &books.host[i];

		if (!b->here) /* no more than there is */
			b->taken = fmax(b->taken,
					fmin(b->memory,
					     (double)books.a->host[i].memory));
		if (!b->here || !b->running)
			continue;
		b->sum.beside += usec_to_seconds(dt);
		b->sum.waited +=
			usec_to_seconds(dt) * waiting(&books.a->host[i], b);
	}
}

/* ---- time goes by ---- */

static void job_spends(struct tally *t, usec_t dt)
{
	usec_t still = t->stall - books.now;

	if (!t->begun) {
		t->split.queue += dt;
		return;
	}
	still = still < 0 ? 0 : still < dt ? still : dt;
	t->split.still += still;
	*(t->rate > 0 ? &t->split.run : &t->split.frozen) += dt - still;
	t->left -= t->rate * (double)(dt - still);
}

static void pass_time(usec_t dt)
{
	for (int i = 0; i <= AMONG_JOBS; i++)
		if (books.job[i].here)
			job_spends(&books.job[i], dt);
	bear(dt);
	books.now += dt;
}

/* What is seen at the end of an instant lasts until the next one. */
void books_go_to(usec_t now)
{
	const struct activity *all = &books.a->activity;

	if (now > books.now)
		for (uint32_t i = 0; i < AMONG_HOSTS; i++)
			gives_back(&books.host[i], books.now);
	while (books.next_change < all->nr &&
	       all->change[books.next_change].at <= now) {
		usec_t at = all->change[books.next_change].at;

		pass_time(later(at, books.now) - books.now);
		change_owners(at);
	}
	pass_time(now - books.now);
}

/* ---- moves ---- */

static void stands_until(struct tally *t, usec_t until)
{
	usec_t from = later(t->stall, books.now);

	if (until <= from)
		return;
	t->stood += usec_to_seconds(until - from);
	t->stall = until;
}

/* By a link that carries one move after the other. */
static void begin_move(const struct view *view, const struct job *j,
		       uint32_t rank, uint32_t to)
{
	const struct sim_costs *c = &books.a->costs;
	struct tally *t = &books.job[j->id];
	uint32_t from = j->hosts[rank];
	usec_t copy = (usec_t)((double)j->memory * 1e6 / (double)c->link);
	struct under_way *m = &books.move[books.nr_moves];

	for (size_t i = 0; i < books.nr_moves; i++)
		if (books.move[i].job == j->id && books.move[i].rank == rank)
			return;
	if (from == to)
		return;
	assert_true(++books.nr_moves < BOOKS_MOVES);
	*m = (struct under_way){ j->id, rank, to, 0, 0 };
	m->ends = later(books.now, later(books.busy[from], books.busy[to])) +
		  c->migrate_rank + copy;
	books.busy[from] = books.busy[to] = m->ends;
	m->still = c->migrate;
	if (c->precopy && view->hosts[from].owner_active &&
	    view->hosts[from].closed &&
	    view->hosts[from].idle_since == USEC_MAX)
		m->still += copy < 300000 ? copy : 300000;
	if (c->precopy)
		return;
	m->still = later(m->ends, later(books.now, t->stall)) -
		   later(books.now, t->stall);
	stands_until(t, m->ends);
}

static void forget_moves(int64_t job)
{
	size_t n = 0;

	for (size_t i = 0; i < books.nr_moves; i++)
		if (books.move[i].job != job)
			books.move[n++] = books.move[i];
	books.nr_moves = n;
}

void books_saw_plan(void *data, const struct view *view,
		    const struct plan *plan)
{
	(void)data;
	books_go_to(view->now);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_entry *e = &plan->entry[i];
		struct tally *t = e->job ? &books.job[e->job->id] : NULL;

		if (e->type == PLAN_SUSPEND) {
			/* What is left of it is still to be stood. */
			if (t->stall > books.now)
				t->left += (double)(t->stall - books.now);
			t->stall = 0;
		}
		if (e->type == PLAN_REQUEUE)
			forget_moves(e->job->id);
		for (uint32_t k = 0;
		     e->type == PLAN_MIGRATE && books.a->costs.link && k < e->n;
		     k++)
			begin_move(view, e->job, e->ranks[k], e->hosts[k]);
	}
}

static void lands(const struct event *e, const struct view *view)
{
	struct tally *t = &books.job[e->job->id];
	size_t i = 0;

	while (i < books.nr_moves && (books.move[i].job != e->job->id ||
				      books.move[i].rank != e->rank))
		i++;
	if (i == books.nr_moves || books.move[i].ends != books.now)
		books_wrong("a move ends that should not", e->job->id);
	if (books.move[i].still != e->cost)
		books_wrong("a move has another price", e->job->id);
	if (view->hosts[books.move[i].to].up) {
		if (e->job->hosts[e->rank] != books.move[i].to)
			books_wrong("a rank is elsewhere", e->job->id);
		books.migrations++;
		t->moves++;
	}
	if (books.a->costs.precopy)
		stands_until(t, books.now + books.move[i].still);
	books.move[i] = books.move[--books.nr_moves];
}

/* Ranks that move at one instant share what is paid once. */
static void moves_at_once(const struct event *e, uint32_t ranks)
{
	static int64_t job;
	static usec_t at;
	struct tally *t = &books.job[e->job->id];
	usec_t cost = (usec_t)ranks * books.a->costs.migrate_rank;

	if (e->type == EVENT_RESUME || job != e->job->id || at != books.now)
		cost += ranks ? books.a->costs.migrate : 0;
	if (e->type == EVENT_MIGRATE) {
		job = e->job->id;
		at = books.now;
	}
	if (e->cost != cost)
		books_wrong("moves have another price", e->job->id);
	books.migrations += ranks;
	t->moves += ranks;
	stands_until(t, later(t->stall, books.now) + cost);
}

/* ---- events ---- */

static uint32_t places_changed(const struct tally *t, const struct event *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; e->hosts && i < t->n; i++)
		n += t->on[i] != e->hosts[i];
	return n;
}

static void begins(struct tally *t, const struct event *e)
{
	t->begun = true;
	t->left = (double)books.a->run[e->job->id];
	t->stall = books.now;
	t->start = t->start < 0 ? books.now : t->start;
	books.ranks_started += e->n;
}

static void ends(struct tally *t, const struct event *e)
{
	if (fabs(t->left) > 5000)
		books_wrong("it ends with work left, or late", e->job->id);
	forget_moves(e->job->id);
	t->here = t->runs = false;
	t->end = books.now;
}

static void begins_anew(struct tally *t, const struct event *e)
{
	forget_moves(e->job->id);
	t->split.lost += t->split.run;
	t->split.run = 0;
	t->begun = false;
	books.restarts++;
}

static void note_event(const struct event *e, const struct view *view)
{
	struct tally *t = e->job ? &books.job[e->job->id] : NULL;

	switch (e->type) {
	case EVENT_ARRIVE:
		*t = (struct tally){ .here = true, .start = -1 };
		break;
	case EVENT_START:
		begins(t, e);
		break;
	case EVENT_END:
		ends(t, e);
		break;
	case EVENT_REQUEUE:
		begins_anew(t, e);
		break;
	case EVENT_MIGRATE:
		if (books.a->costs.link)
			lands(e, view);
		else
			moves_at_once(e, 1);
		break;
	case EVENT_RESUME:
		moves_at_once(e, places_changed(t, e));
		break;
	default:
		break;
	}
}

/* How things stand now, until the next event. */
static void look(const struct view *view)
{
	uint32_t busy[AMONG_HOSTS] = { 0 };
	const struct job *j;

	for (uint32_t i = 0; i < AMONG_HOSTS; i++) {
		books.host[i].running = 0;
		books.host[i].memory = 0;
	}
	for_each_running(j, view) for (uint32_t i = 0; i < j->n; i++)
	{
		bool home = among_is_home(books.a, j, j->hosts[i]);
		struct bearing *b = &books.host[j->hosts[i]];
		bool runs = j->state == JOB_RUNNING;

		busy[j->hosts[i]] += runs;
		b->running += runs && !home && !job_rank_frozen(j, i);
		b->memory += home ? 0 : (double)j->memory;
	}
	for_each_running(j, view)
	{
		struct tally *t = &books.job[j->id];
		double most = 0;

		if (!t->here)
			continue;
		t->n = j->n;
		for (uint32_t i = 0; i < j->n; i++) {
			const struct host *h = &view->hosts[j->hosts[i]];
			double share =
				(h->load + busy[h->ix]) / (double)h->cores;

			t->on[i] = j->hosts[i];
			most = fmax(most, h->speed * fmax(1, share));
		}
		t->rate = j->state == JOB_RUNNING && !j->ranks->nr_frozen
				  ? 1 / most
				  : 0;
	}
}

void books_saw_event(void *data, const struct view *view, const struct event *e)
{
	(void)data;
	books_go_to(view->now);
	note_event(e, view);
	look(view);
}
