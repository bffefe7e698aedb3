/* test_states.c - see test_states.h */
#include "policy/migrate/test_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct host random_host(struct random_stream *r, uint64_t *ret_memory)
{
	struct host h = {
		.speed = 1 + (double)random_below(r, 4),
		.cores = 1 + (uint32_t)random_below(r, 3),
		.slots = 4 + (uint32_t)random_below(r, 4),
		.memory = 1000 * MB,
		.load = random_below(r, 2) ? random_uniform(r, 0, 4) : 0,
		.users = (uint32_t)random_below(r, 3) / 2,
		.up = random_below(r, 12) != 0,
		.drain = !random_below(r, 10),
		.link = 1.25e8,
	};

	*ret_memory = (100 + random_below(r, 800)) * MB;
	h.memory_free = *ret_memory;
	if (!random_below(r, 5)) {
		h.closed = CLOSED_OWNER;
		h.owner_active = true;
		h.idle_since = USEC_MAX;
	} else if (!random_below(r, 6)) {
		h.closed = CLOSED_LOAD;
	}
	return h;
}

/* Neighbours talk, some of them much. */
static void make_talk(struct play *p, struct job *j)
{
	struct random_stream own;
	struct job_talk talk[RANKS];
	struct event e = { .type = EVENT_TALK,
			   .at = p->view.now,
			   .job = j,
			   .n = j->n - 1,
			   .talk = talk };

	random_init(&own, p->seed, "talk", (uint64_t)j->id);
	for (uint32_t i = 0; i < e.n; i++)
		talk[i] = (struct job_talk){ i, i + 1,
					     random_uniform(&own, 0, 1e8),
					     random_uniform(&own, 0, 2e4) };
	model_apply(&p->view, &e);
	policy_event(p->policy, &p->view, &e);
}

struct drawn {
	uint32_t n, on[RANKS];
	uint64_t memory;
	usec_t estimate;
};

static struct drawn draw_job(struct random_stream *r)
{
	struct drawn d = { .n = 1 + (uint32_t)random_below(r, RANKS) };

	d.memory = random_below(r, 120) * MB;
	d.estimate = (usec_t)(1 + random_below(r, 50)) * 3600 * SEC;
	for (uint32_t k = 0; k < d.n; k++)
		d.on[k] = (uint32_t)random_below(r, HOSTS);
	return d;
}

static void place_job(struct play *p, const struct drawn *d, int i)
{
	struct job *j = view_job_create(&p->view);
	struct event e = { .type = EVENT_ARRIVE, .at = p->view.now, .job = j };

	p->job[i] = j;
	j->id = i + 1;
	j->size = j->min_size = d->n;
	j->memory = d->memory;
	j->estimate = d->estimate;
	model_apply(&p->view, &e);
	policy_event(p->policy, &p->view, &e);
	model_apply(&p->view, &(struct event){ .type = EVENT_START,
					       .at = p->view.now,
					       .job = j,
					       .n = d->n,
					       .hosts = d->on });
	if (i % 2)
		make_talk(p, j);
}

/* Room for those that are there, and on some hosts for one more. */
static void crowd_hosts(struct host *hosts, const struct drawn *drawn,
			uint64_t seed)
{
	struct random_stream r;

	random_init(&r, seed, "crowd", 0);
	for (int h = 0; h < HOSTS; h++)
		hosts[h].slots = (uint32_t)random_below(&r, 2);
	for (int i = 0; i < JOBS; i++)
		for (uint32_t k = 0; k < drawn[i].n; k++)
			hosts[drawn[i].on[k]].slots++;
}

void play_begin(struct play *p, const char *spec, uint64_t seed,
		enum play_mode mode)
{
	struct host hosts[HOSTS];
	struct drawn drawn[JOBS];
	struct random_stream r;

	memset(p, 0, sizeof(*p));
	p->spec = spec;
	p->seed = seed;
	p->mode = mode;
	random_init(&p->luck, seed, "luck", 0);
	random_init(&r, seed, "deciders", 0);
	for (int i = 0; i < HOSTS; i++)
		hosts[i] = random_host(&r, &p->memory[i]);
	for (int i = 0; i < JOBS; i++)
		drawn[i] = draw_job(&r);
	if (mode == CROWD)
		crowd_hosts(hosts, drawn, seed);
	view_init_hosts(&p->view, hosts, HOSTS);
	p->view.now = 3600 * SEC;
	p->plan = (struct plan)PLAN_INIT;
	assert_int_equal(policy_create(spec, 1, &p->view, &p->policy, NULL), 0);
	for (int i = 0; i < JOBS; i++)
		place_job(p, &drawn[i], i);
}

void play_end(struct play *p)
{
	policy_destroy(p->policy);
	plan_clear(&p->plan);
	view_clear(&p->view);
}
