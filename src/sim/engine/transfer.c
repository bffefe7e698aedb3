/*
 * transfer.c - moves of ranks that take their time
 *
 * A host's link carries one move after the other.  A move that is under way ends
 * at its destination, whatever happens there meanwhile, unless that fails.  It
 * is told as live ones are: EVENT_MIGRATE at its end, with the host where the
 * rank then is.  One that has failed pauses by the same rule (model/pause.h).
 */
#include "sim/engine/moves.h"

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* Beside an owner a process stands still for that much of its copy (move/send/halt.c). */
#define AT_ONCE (300 * USEC_PER_MSEC)

static usec_t copying(const struct sim_costs *c, const struct job *job)
{
	return (usec_t)((double)job->memory / (double)c->link * USEC_PER_SEC);
}

/* Of a job whose rank runs while most of its memory is sent. */
static usec_t pause_of(const struct engine *g, const struct job *job,
		       uint32_t from)
{
	const struct sim_costs *c = &g->config->costs;
	const struct host *h = &g->view.hosts[from];
	usec_t copy = copying(c, job);

	if (!host_wanted(h) || h->idle_since != USEC_MAX)
		return c->migrate;
	return c->migrate + (copy < AT_ONCE ? copy : AT_ONCE);
}

/*
 * It stays, for now: its policy is told, and where its host is wanted back it stands still
 * till then, as live (plan.c, freeze.c of the controller).
 */
static void put_off(struct engine *g, struct job *job, uint32_t rank,
		    struct move_pause *p, uint32_t to)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .at = g->view.now,
			   .job = job,
			   .rank = rank,
			   .host = job->hosts[rank] };

	if (move_pause_tells(p, to)) {
		engine_event(g, &e, true);
		engine_wake(g, g->view.now);
	}
	engine_wake(g, p->until);
	if (!host_evicts(&g->view.hosts[e.host], job) ||
	    job_rank_frozen(job, rank))
		return;
	e.type = EVENT_FREEZE;
	engine_event(g, &e, true);
}

void moves_begin(struct engine *g, struct job *job, uint32_t rank, uint32_t to)
{
	const struct sim_costs *c = &g->config->costs;
	struct moves *m = g->moves;
	uint32_t from = job->hosts[rank];
	struct transfer t = { .job = job, .rank = rank, .to = to };
	struct move_pause *p = moves_pause_of(m, job, rank);
	usec_t begins, stands;

	if (moves_under_way(m, job, rank) || from == to)
		return;
	if (p && move_pauses(p, to, g->view.now)) {
		put_off(g, job, rank, p, to);
		return;
	}
	begins = later(g->view.now, later(m->busy[from], m->busy[to]));
	t.ends = begins + c->migrate_rank + copying(c, job);
	m->busy[from] = m->busy[to] = t.ends;
	stands = later(g->view.now, g->truth[job->ix].stall);
	t.standstill = c->precopy ? pause_of(g, job, from)
				  : later(t.ends, stands) - stands;
	moves_add(m, &t);
	owners_touch(g->owners, to);
	if (!c->precopy)
		engine_stall_until(g, job, t.ends);
}

static void land(struct engine *g, const struct transfer *t)
{
	bool there = g->view.hosts[t->to].up;
	struct event e = { .type = EVENT_MIGRATE,
			   .at = g->view.now,
			   .job = t->job,
			   .rank = t->rank,
			   .host = there ? t->to : t->job->hosts[t->rank],
			   .cost = t->standstill };

	engine_advance(g, t->job);
	if (there)
		engine_count_moves(g, t->job, 1);
	else
		moves_failed(g->moves, t->job, t->rank, t->to, g->view.now);
	engine_event(g, &e, true);
	if (g->config->costs.precopy)
		engine_stall_until(g, t->job, g->view.now + t->standstill);
	engine_pace(g, t->job);
}

static usec_t next_end(const struct engine *g, bool jobs)
{
	return jobs ? moves_end(g->moves) : USEC_MAX;
}

static bool moves_happen(struct engine *g)
{
	struct moves *m = g->moves;
	bool any = false;

	for (; moves_end(m) <= g->view.now; any = true) {
		struct transfer t = m->transfer[--m->nr];

		owners_touch(g->owners, t.to);
		land(g, &t);
	}
	return any;
}

const struct engine_part engine_part_moves = {
	.next = next_end,
	.happen = moves_happen,
	.leave = moves_forget,
};
