/*
 * test_deciders.c - what every policy that moves ranks keeps, on random states
 *
 * Hosts of any speed, load and memory, closed, drained, down or their owners'; jobs that
 * run anywhere on them.  Passes are carried out at once, and nothing else changes, so
 * that whoever moves for ever does so of their own.  In a crowd hosts have hardly more
 * slots than ranks, and moves last until after the next pass, so that whoever counts on
 * a slot before its rank has left it goes beyond what the host may hold.  In trouble half
 * of the moves fail, and the next pass is a second later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/migrate/test_states.h"

enum { STATES = 150 };

static const char *const deciders[] = { "stint",       "dynamite",
					"dynamic-sed", "dynamic-sed-1997",
					"harvest",     "harvest:by=cpu" };

enum { NR_DECIDERS = sizeof(deciders) / sizeof(*deciders) };

/* ---- what holds ---- */

static void fails(const struct play *p, const char *what,
		  const struct plan_entry *e)
{
	char line[300];

	plan_print(&p->view, e, line, sizeof(line));
	fail_msg("%s, state %u at %d s: %s: %s", p->spec, (unsigned)p->seed,
		 (int)(p->view.now / SEC), what, line);
}

static int index_of(const struct play *p, const struct job *job)
{
	for (int i = 0; i < JOBS; i++)
		if (p->job[i] == job)
			return i;
	return -1;
}

/*
 * Dynamic-SED then also takes a host without enough memory (Schnor 1997, 5.7).
 */
static bool away_from_users(const struct play *p, uint32_t from)
{
	return !strncmp(p->spec, "dynamic-sed", 11) &&
	       p->view.hosts[from].users;
}

/*
 * Ranks and memory that its hosts will have, one entry after the other; no rank has
 * left before its move is over.
 */
static void check_limits(const struct play *p)
{
	uint32_t ranks[HOSTS];
	int64_t memory[HOSTS];

	for (int h = 0; h < HOSTS; h++) {
		ranks[h] = p->view.hosts[h].nr_ranks;
		memory[h] = (int64_t)p->view.hosts[h].memory_free;
	}
	for (unsigned i = 0; i < p->nr_flying; i++) {
		ranks[p->flying[i].to]++;
		memory[p->flying[i].to] -=
			(int64_t)p->job[p->flying[i].job]->memory;
	}
	for (size_t i = 0; i < p->plan.nr; i++) {
		const struct plan_entry *e = &p->plan.entry[i];

		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++) {
			const struct host *to = &p->view.hosts[e->hosts[k]];

			if (!host_usable(to) || to->owner_active)
				fails(p, "to a host that is not available", e);
			if (++ranks[to->ix] > to->slots)
				fails(p, "more ranks than slots", e);
			memory[to->ix] -= (int64_t)e->job->memory;
			if (memory[to->ix] < 0 &&
			    !away_from_users(p, e->job->hosts[e->ranks[k]]))
				fails(p, "more memory than is free", e);
			if (!p->view.hosts[e->job->hosts[e->ranks[k]]].up)
				fails(p, "from a host that is down", e);
		}
	}
}

static void check_once(const struct play *p)
{
	bool planned[JOBS][RANKS] = { { false } };

	for (unsigned i = 0; i < p->nr_flying; i++)
		planned[p->flying[i].job][p->flying[i].rank] = true;
	for (size_t i = 0; i < p->plan.nr; i++) {
		const struct plan_entry *e = &p->plan.entry[i];
		int j = index_of(p, e->job);

		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++) {
			if (planned[j][e->ranks[k]])
				fails(p, "a rank is moved twice", e);
			planned[j][e->ranks[k]] = true;
			if (e->job->hosts[e->ranks[k]] == e->hosts[k])
				fails(p, "to where it is", e);
		}
	}
}

/* Must the rank go, wherever there is room? */
static bool must_go(const struct play *p, const struct job *job, uint32_t rank)
{
	const struct host *h = &p->view.hosts[job->hosts[rank]];

	return h->drain || h->owner_active || !strncmp(p->spec, "harvest", 7);
}

/* While a rank of a job has to leave its host, or that is down, no other one moves for speed. */
static void check_concerned(const struct play *p)
{
	for (size_t i = 0; i < p->plan.nr; i++) {
		const struct plan_entry *e = &p->plan.entry[i];
		bool speed = false;

		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
			speed |= !must_go(p, e->job, e->ranks[k]);
		for (uint32_t r = 0; speed && r < e->job->n; r++) {
			const struct host *h = &p->view.hosts[e->job->hosts[r]];

			if (!h->up || h->drain || h->owner_active)
				fails(p, "another rank has to leave", e);
		}
	}
}

/*
 * Nobody goes where he could not go a second ago; and who need not go not where others
 * could not.
 */
static void check_failed(const struct play *p)
{
	for (size_t i = 0; i < p->plan.nr; i++) {
		const struct plan_entry *e = &p->plan.entry[i];
		int j = index_of(p, e->job);

		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
			for (unsigned f = 0; f < p->nr_failed; f++)
				if (p->failed[f].to == e->hosts[k] &&
				    ((p->failed[f].job == j &&
				      p->failed[f].rank == e->ranks[k]) ||
				     !must_go(p, e->job, e->ranks[k])))
					fails(p, "to where it has just failed",
					      e);
	}
}

/* ---- carried out ---- */

static void tell(struct play *p, struct event *e, bool told)
{
	e->at = p->view.now;
	model_apply(&p->view, e);
	if (told)
		policy_event(p->policy, &p->view, e);
}

static void move(struct play *p, int j, uint32_t rank, uint32_t to)
{
	uint32_t from = p->job[j]->hosts[rank];
	struct event event = { .type = EVENT_MIGRATE,
			       .job = p->job[j],
			       .rank = rank,
			       .host = to,
			       .cost = SEC / 10 };

	/* Nobody else has moved since. */
	if (p->was[j][rank] == to + 1 && p->since[j][rank] == p->moves)
		fail_msg("%s, state %u at %d s: ping-pong: job %d, rank %u",
			 p->spec, (unsigned)p->seed, (int)(p->view.now / SEC),
			 j + 1, rank);
	p->was[j][rank] = from + 1;
	p->since[j][rank] = ++p->moves;
	tell(p, &event, true);
}

static void begin_move(struct play *p, const struct plan_entry *e, uint32_t k)
{
	int j = index_of(p, e->job);

	if (p->mode != ALONE)
		p->flying[p->nr_flying++] =
			(struct flying){ j, e->ranks[k], e->hosts[k] };
	else
		move(p, j, e->ranks[k], e->hosts[k]);
}

static void stay(struct play *p, const struct flying *f)
{
	struct event event = { .type = EVENT_MIGRATE,
			       .job = p->job[f->job],
			       .rank = f->rank,
			       .host = p->job[f->job]->hosts[f->rank] };

	p->failed[p->nr_failed++] = *f;
	tell(p, &event, true);
}

static void land(struct play *p)
{
	p->nr_failed = 0;
	for (unsigned i = 0; i < p->nr_flying; i++)
		if (p->mode == TROUBLE && random_below(&p->luck, 2))
			stay(p, &p->flying[i]);
		else
			move(p, p->flying[i].job, p->flying[i].rank,
			     p->flying[i].to);
	p->nr_flying = 0;
}

static void carry_out(struct play *p, const struct plan_entry *e)
{
	struct event event = { .job = e->job, .rank = e->rank };

	switch (e->type) {
	case PLAN_MIGRATE:
		for (uint32_t k = 0; k < e->n; k++)
			begin_move(p, e, k);
		break;
	case PLAN_FREEZE:
	case PLAN_THAW:
		event.type = e->type == PLAN_FREEZE ? EVENT_FREEZE : EVENT_THAW;
		if (job_rank_frozen(e->job, e->rank) !=
		    (e->type == PLAN_FREEZE))
			tell(p, &event, e->told);
		break;
	case PLAN_WAKE:
		break;
	default:
		fails(p, "nobody waits, and no job may be requeued", e);
	}
}

/* Measure the memory of hosts: guests take some, and give it back. */
static void measure(struct play *p)
{
	for (uint32_t h = 0; h < HOSTS; h++) {
		struct host fresh = p->view.hosts[h];
		uint64_t taken = 0;
		struct event e = { .type = EVENT_HOST,
				   .host = h,
				   .fresh = &fresh };

		for (int j = 0; j < JOBS; j++)
			for (uint32_t k = 0; k < p->job[j]->n; k++)
				if (p->job[j]->hosts[k] == h)
					taken += p->job[j]->memory;
		fresh.memory_free =
			taken < p->memory[h] ? p->memory[h] - taken : 0;
		if (fresh.memory_free != p->view.hosts[h].memory_free)
			tell(p, &e, true);
	}
}

static void note_places(const struct play *p, uint32_t ret[JOBS][RANKS])
{
	memset(ret, 0, sizeof(uint32_t[JOBS][RANKS]));
	for (int j = 0; j < JOBS; j++)
		memcpy(ret[j], p->job[j]->hosts,
		       p->job[j]->n * sizeof(*p->job[j]->hosts));
}

/* Places of all ranks that occurred before and were left since: a circle. */
static void check_circle(struct play *p)
{
	uint32_t now[JOBS][RANKS];

	note_places(p, now);
	if (p->nr_seen && !memcmp(now, p->seen[p->nr_seen - 1], sizeof(now)))
		return;
	for (unsigned i = 0; i < p->nr_seen; i++)
		if (!memcmp(now, p->seen[i], sizeof(now)))
			fail_msg("%s, state %u at %d s: a circle of %u moves",
				 p->spec, (unsigned)p->seed,
				 (int)(p->view.now / SEC), p->moves);
	memcpy(p->seen[p->nr_seen++], now, sizeof(now));
}

static void decide(struct play *p)
{
	plan_reset(&p->plan, &p->view);
	policy_decide(p->policy, &p->view, &p->plan);
	check_limits(p);
	check_once(p);
	check_concerned(p);
	check_failed(p);
	for (size_t i = 0; i < p->plan.nr; i++)
		carry_out(p, &p->plan.entry[i]);
}

static void play_pass(struct play *p)
{
	decide(p);
	if (p->nr_flying) {
		p->view.now += SEC / 10;
		decide(p);
	}
	land(p);
	measure(p);
	check_circle(p);
	if (!p->nr_failed)
		return;
	p->view.now += SEC;
	decide(p);
	land(p);
	p->nr_failed = 0; /* when the next pass is that is long ago */
	measure(p);
	check_circle(p);
}

/* How many moves there were. */
static unsigned play_state(const char *spec, uint64_t seed, enum play_mode mode)
{
	unsigned moves, half = 0;
	struct play p;

	play_begin(&p, spec, seed, mode);
	measure(&p);
	for (int i = 0; i < PASSES; i++) {
		p.view.now += 200 * SEC;
		play_pass(&p);
		if (i == PASSES / 2)
			half = p.moves;
	}
	moves = p.moves;
	if (moves != half)
		fail_msg("%s, state %u: it goes on for ever: %u moves, then %u",
			 spec, (unsigned)seed, half, moves);
	play_end(&p);
	return moves;
}

static void play_states(enum play_mode mode)
{
	for (int d = 0; d < NR_DECIDERS; d++) {
		unsigned moves = 0;

		for (uint64_t seed = 1; seed <= STATES; seed++)
			moves += play_state(deciders[d], seed, mode);
		/* Or nothing would have been tried. */
		if (moves < STATES / (mode == CROWD ? 10 : 5))
			fail_msg("%s: only %u moves", deciders[d], moves);
	}
}

static void every_decider_on_random_states(void **state)
{
	(void)state;
	play_states(ALONE);
}

static void every_decider_in_a_crowd(void **state)
{
	(void)state;
	play_states(CROWD);
}

static void every_decider_in_trouble(void **state)
{
	(void)state;
	play_states(TROUBLE);
}

/* A rank leaves a full host, and another wants to come at once (found among 4000 states
 * each). */
static void a_slot_is_held_until_its_rank_has_moved(void **state)
{
	(void)state;
	for (int d = 0; d < NR_DECIDERS; d++) {
		play_state(deciders[d], 3648, ALONE);
		play_state(deciders[d], 1508, CROWD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_decider_on_random_states),
		cmocka_unit_test(every_decider_in_a_crowd),
		cmocka_unit_test(every_decider_in_trouble),
		cmocka_unit_test(a_slot_is_held_until_its_rank_has_moved),
	};

	return cmocka_run_group_tests_name("deciders", tests, NULL, NULL);
}
