/*
 * test_put_off.c - a policy counts on no move that does not take place, on random states
 *
 * Owners come and go, moves fail, and those that their driver puts off (model/pause.h) or
 * cannot try yet are told by it.  What is under way by what the policy saves is what is
 * under way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/pause.h"
#include "policy/migrate/test_states.h"

enum { STATES = 60, STEPS = 120 };

static const char *const deciders[] = { "stint", "dynamite", "dynamic-sed",
					"harvest" };

static struct random_stream luck;
static struct move_pause pauses[JOBS][RANKS];
static unsigned put_off, untried;

static int index_of(const struct play *p, const struct job *job)
{
	int i = 0;

	while (p->job[i] != job)
		i++;
	return i;
}

static void tell(struct play *p, struct event *e, bool told)
{
	e->at = p->view.now;
	model_apply(&p->view, e);
	if (told)
		policy_event(p->policy, &p->view, e);
}

static void tell_place(struct play *p, const struct flying *f, uint32_t host,
		       bool was_untried)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = p->job[f->job],
			   .rank = f->rank,
			   .host = host,
			   .untried = was_untried };

	tell(p, &e, true);
}

/* What was not tried has not failed, either: no line of what is saved is about it. */
static void check_forgotten(const struct play *p, const struct flying *f)
{
	char *text = policy_save(p->policy, &p->view), line[64];

	snprintf(line, sizeof(line), "\n%lld %u %u %u -1 ",
		 (long long)p->job[f->job]->id, f->rank,
		 p->job[f->job]->hosts[f->rank], f->to);
	assert_null(strstr(text, line));
	free(text);
}

/* As do_move() of the controller. */
static void begin(struct play *p, const struct flying *f)
{
	struct move_pause *pause = &pauses[f->job][f->rank];
	uint32_t here = p->job[f->job]->hosts[f->rank];

	if (move_pauses(pause, f->to, p->view.now)) {
		put_off++;
		if (move_pause_tells(pause, f->to))
			tell_place(p, f, here, false);
	} else if (!random_below(&luck, 8)) {
		untried++;
		tell_place(p, f, here, true);
		check_forgotten(p, f);
	} else {
		p->flying[p->nr_flying++] = *f;
	}
}

static void carry_out(struct play *p, const struct plan_entry *e)
{
	struct event event = { .job = e->job, .rank = e->rank };

	for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
		begin(p, &(struct flying){ index_of(p, e->job), e->ranks[k],
					   e->hosts[k] });
	if (e->type != PLAN_FREEZE && e->type != PLAN_THAW)
		return;
	event.type = e->type == PLAN_FREEZE ? EVENT_FREEZE : EVENT_THAW;
	if (job_rank_frozen(e->job, e->rank) != (e->type == PLAN_FREEZE))
		tell(p, &event, e->told);
}

/* Most of those that are under way end, and most of these fail. */
static void end_moves(struct play *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->nr_flying; i++) {
		struct flying f = p->flying[i];
		uint32_t here = p->job[f.job]->hosts[f.rank];

		if (!random_below(&luck, 4)) {
			p->flying[n++] = f;
		} else if (random_below(&luck, 4)) {
			move_pause_failed(&pauses[f.job][f.rank], f.to,
					  p->view.now);
			tell_place(p, &f, here, false);
		} else {
			tell_place(p, &f, f.to, false);
		}
	}
	p->nr_flying = n;
}

static void owners_change(struct play *p)
{
	for (uint32_t h = 0; h < HOSTS; h++) {
		struct host fresh = p->view.hosts[h];
		struct event e = { .type = EVENT_HOST,
				   .host = h,
				   .fresh = &fresh };

		if (random_below(&luck, 12))
			continue;
		fresh.owner_active = !fresh.owner_active;
		fresh.closed = fresh.owner_active ? CLOSED_OWNER : CLOSED_NOT;
		tell(p, &e, true);
	}
}

static bool is_flying(const struct play *p, int64_t job, uint32_t rank,
		      uint32_t to)
{
	for (unsigned i = 0; i < p->nr_flying; i++)
		if (p->job[p->flying[i].job]->id == job &&
		    p->flying[i].rank == rank && p->flying[i].to == to)
			return true;
	return false;
}

/* The policy saves its moves first: how many, and a line for each (flights.h). */
static void check(const struct play *p)
{
	char *text = policy_save(p->policy, &p->view), *line = text;
	unsigned nr = 0, lines;
	long long job, began;
	uint32_t rank, to;

	assert_int_equal(sscanf(line, "%u", &lines), 1);
	for (; lines; lines--) {
		line = strchr(line, '\n') + 1;
		assert_int_equal(sscanf(line, "%lld %u %*u %u %lld", &job,
					&rank, &to, &began),
				 4);
		if (began == -1)
			continue;
		nr++;
		if (!is_flying(p, job, rank, to))
			fail_msg(
				"%s, state %u at %d s: rank %u of job %lld is not on its way to %u",
				p->spec, (unsigned)p->seed,
				(int)(p->view.now / SEC), rank, job, to);
	}
	assert_int_equal(nr, p->nr_flying);
	free(text);
}

static void decide(struct play *p)
{
	plan_reset(&p->plan, &p->view);
	policy_decide(p->policy, &p->view, &p->plan);
	for (size_t i = 0; i < p->plan.nr; i++)
		carry_out(p, &p->plan.entry[i]);
	check(p);
}

static void play(const char *spec, uint64_t seed)
{
	struct play p;

	play_begin(&p, spec, seed, TROUBLE);
	memset(pauses, 0, sizeof(pauses));
	random_init(&luck, seed, "put off", 0);
	for (int i = 0; i < STEPS; i++) {
		p.view.now += SEC + (usec_t)random_below(&luck, 2 * SEC);
		end_moves(&p);
		owners_change(&p);
		decide(&p);
	}
	play_end(&p);
}

static void no_policy_counts_on_a_move_that_is_not(void **state)
{
	(void)state;
	for (size_t d = 0; d < sizeof(deciders) / sizeof(*deciders); d++)
		for (uint64_t seed = 1; seed <= STATES; seed++)
			play(deciders[d], seed);
	/* Or nothing would have been tried. */
	assert_true(put_off > STATES && untried > STATES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_policy_counts_on_a_move_that_is_not),
	};

	return cmocka_run_group_tests_name("put_off", tests, NULL, NULL);
}
