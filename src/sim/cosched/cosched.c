/*
 * cosched.c - one run, message by message; see cosched.h
 *
 * Processes act in the order of time: a tree of winners finds who is next, of
 * those that are not waiting for all.  A process acts when it sends; what it
 * does until its next message follows from its own node.
 */
#include "sim/cosched/cosched.h"

#include <stdlib.h>

#include "core/random.h"
#include "core/xalloc.h"

#define NEVER INT64_MAX

struct process {
	nsec_t handled; /* by then all that it sent is */
	nsec_t owed;	/* of work, for messages that came */
	double length;	/* of its rounds, 1 is whole */
	uint32_t round; /* it is in */
	uint32_t left;	/* messages of it */
	uint32_t to;	/* of the message it is about to send */
	/* Its node runs it, or not, until then. */
	nsec_t until;
	bool runs;
	uint64_t buffered; /* bytes, since it ran last */
};

struct run {
	const struct cosched *c;
	struct process *p;
	nsec_t *at;	/* when each acts next */
	uint32_t *tree; /* winners; tree[1] is next of all */
	uint32_t leaves;
	uint32_t waiting; /* for all */
	nsec_t latest;	  /* of those */
	struct random_stream random;
	struct cosched_result result;
};

/* ---- who is next ---- */

static uint32_t winner(const struct run *r, uint32_t a, uint32_t b)
{
	return r->at[b] < r->at[a] ? b : a;
}

static void act_at(struct run *r, uint32_t i, nsec_t at)
{
	uint32_t k = (r->leaves + i) / 2;

	r->at[i] = at;
	for (; k; k /= 2)
		r->tree[k] = winner(r, r->tree[2 * k], r->tree[2 * k + 1]);
}

static void make_tree(struct run *r)
{
	r->leaves = 2;
	while (r->leaves < r->c->nr)
		r->leaves *= 2;
	r->at = xcalloc(r->leaves, sizeof(*r->at));
	r->tree = xcalloc(2 * (size_t)r->leaves, sizeof(*r->tree));
	for (uint32_t i = 0; i < r->leaves; i++) {
		r->at[i] = NEVER;
		r->tree[r->leaves + i] = i;
	}
	for (uint32_t i = r->leaves - 1; i; i--)
		r->tree[i] = r->tree[2 * i];
}

/* ---- rounds ---- */

static void start_round(struct run *r, uint32_t i)
{
	const struct program *g = r->c->program;
	struct process *p = &r->p[i];

	p->left = (uint32_t)(g->messages * p->length);
	if (!p->left)
		p->left = 1;
	p->owed += (nsec_t)((double)g->compute * p->length);
}

static uint32_t draw_receiver(struct run *r, uint32_t i)
{
	uint32_t nr = r->c->nr, near = r->c->program->near;
	uint64_t range = near && near < nr ? near : nr - 1;

	if (nr == 1)
		return 0;
	return (uint32_t)((i + 1 + random_below(&r->random, range)) % nr);
}

/* From t on it works until it sends its next message. */
static void work(struct run *r, uint32_t i, nsec_t t)
{
	struct process *p = &r->p[i];
	nsec_t gap = r->c->program->gap;
	nsec_t need = gap / 2 + p->owed +
		      (nsec_t)random_below(&r->random, (uint64_t)gap + 1);

	p->owed = 0;
	p->to = draw_receiver(r, i);
	act_at(r, i, node_works(&r->c->node[i], t, need));
}

static void go_on(struct run *r, uint32_t i, nsec_t t)
{
	struct process *p = &r->p[i];

	p->round++;
	if (p->round == r->c->rounds) {
		act_at(r, i, NEVER);
		if (t > r->result.time)
			r->result.time = t;
		return;
	}
	start_round(r, i);
	work(r, i, t);
}

/* All are there: they go on, each as its node lets it. */
static void release_all(struct run *r)
{
	nsec_t t = r->latest + r->c->network.latency;

	r->waiting = 0;
	r->latest = 0;
	for (uint32_t i = 0; i < r->c->nr; i++)
		go_on(r, i, t);
}

static void end_round(struct run *r, uint32_t i, nsec_t t)
{
	if (r->p[i].handled > t)
		t = node_runs(&r->c->node[i], r->p[i].handled);
	if (!r->c->program->together) {
		go_on(r, i, t);
		return;
	}
	act_at(r, i, NEVER);
	if (t > r->latest)
		r->latest = t;
	if (++r->waiting == r->c->nr)
		release_all(r);
}

/* ---- messages ---- */

/* Bring what is known of a node up to t, which never goes back. */
static void catch_up(struct run *r, uint32_t i, nsec_t t)
{
	const struct node *n = &r->c->node[i];
	struct process *p = &r->p[i];

	if (t < p->until)
		return;
	p->until = node_runs(n, t);
	p->runs = p->until == t;
	p->buffered = 0;
	if (p->runs)
		p->until = node_stops(n, t);
}

/* When the receiver has handled it, and whether it had room for it meanwhile. */
static nsec_t deliver(struct run *r, uint32_t to, nsec_t t, bool *ret_room)
{
	struct process *p = &r->p[to];
	uint32_t bytes = r->c->program->bytes;

	catch_up(r, to, t);
	*ret_room = true;
	if (!p->runs) {
		*ret_room = p->buffered + bytes <= r->c->network.buffer;
		if (*ret_room)
			p->buffered += bytes;
		r->result.buffered += *ret_room;
		r->result.stalled += !*ret_room;
		t = p->until;
	}
	p->owed += r->c->network.overhead;
	return t + r->c->network.overhead;
}

static void send_message(struct run *r, uint32_t i, nsec_t t)
{
	nsec_t latency = r->c->network.latency;
	struct process *p = &r->p[i];
	bool room;
	nsec_t handled = deliver(r, p->to, t + latency, &room);

	r->result.messages++;
	if (handled > p->handled)
		p->handled = handled;
	if (r->c->program->answer || !room)
		t = node_runs(&r->c->node[i], handled + latency);
	if (--p->left)
		work(r, i, t);
	else
		end_round(r, i, t);
}

/* ---- a run ---- */

static double draw_length(struct run *r, uint32_t i)
{
	const struct program *g = r->c->program;
	double share = g->imbalance * random_unit(&r->random);

	if (!i)
		share = g->busy_first ? 0 : g->imbalance;
	return 1 - share;
}

static void prepare_run(struct run *r)
{
	random_init(&r->random, r->c->seed, "cosched", r->c->replication);
	r->p = xcalloc(r->c->nr, sizeof(*r->p));
	make_tree(r);
	for (uint32_t i = 0; i < r->c->nr; i++) {
		r->p[i].length = draw_length(r, i);
		start_round(r, i);
		work(r, i, 0);
	}
}

void cosched_run(const struct cosched *c, struct cosched_result *ret)
{
	struct run r = { .c = c };
	uint32_t i;

	prepare_run(&r);
	while (i = r.tree[1], r.at[i] != NEVER)
		send_message(&r, i, r.at[i]);
	free(r.p);
	free(r.at);
	free(r.tree);
	*ret = r.result;
}
