/*
 * test_put_off.c - a policy is told of each move it planned that does not take place
 *
 * It counts on a move until it hears how that ended, and looks for no other place for its
 * rank, beside an owner who waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "model/presence.h"
#include "three.h"

static const char *const by_stint[] = { "policy", "stint", NULL };

/* Of the moves that the policy saves, those that it believes to be under way (flights.h). */
static unsigned counted_on(struct ctl *ctl)
{
	char *text = policy_save(ctl->sched->policy, &ctl->sched->view);
	char *line = text;
	unsigned nr = 0, lines;
	long long began;

	assert_int_equal(sscanf(line, "%u", &lines), 1);
	for (; lines; lines--) {
		line = strchr(line, '\n') + 1;
		assert_int_equal(sscanf(line, "%*d %*u %*u %*u %lld", &began),
				 1);
		nr += began != -1;
	}
	free(text);
	return nr;
}

static void owner_comes(struct conn *agent)
{
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__Presence presence = CONTROL__PRESENCE__INIT;
	Control__Lending lending = CONTROL__LENDING__INIT;

	presence.here = lending.leave = true;
	presence.cause = PRESENCE_SESSION;
	lending.closed = CLOSED_OWNER;
	lending.guests_most = GUESTS_ANY;
	report.presence = &presence;
	report.lending = &lending;
	actor_say(agent, MESSAGE_BODY(HOST_REPORT), &report);
}

/* The policy's move begins, and the controller is killed before its destination is ready. */
static bool is_killed(void *ctx)
{
	struct ctl *ctl = ctx;

	if (!step++) {
		all_come(-1, -1);
		submit(1, "h1", NULL);
		actor_keeper_starts(h1);
		owner_comes(h1);
	}
	if (not_yet(rank_of(ctl)->move))
		return true;
	assert_int_equal(counted_on(ctl), 1);
	return false;
}

static bool goes_on(void *ctx)
{
	struct ctl *ctl = ctx;

	if (step++ == 0) {
		all_come(0, -1);
		owner_comes(h1);
		assert_non_null(rank_of(ctl)->move);
		assert_int_equal(counted_on(ctl), 1);
		actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
		assert_null(rank_of(ctl)->move);
		assert_int_equal(counted_on(ctl), 0);
	}
	return not_yet(rank_of(ctl)->move);
}

static void that_an_earlier_controller_began(void **state)
{
	(void)state;
	actors_run(is_killed, by_stint);
	step = 0;
	actors_run(goes_on, by_stint);
}

/* A user moves the rank as its owner comes, and that fails. */
static bool users_fails(void *ctx)
{
	struct ctl *ctl = ctx;

	if (!step++) {
		all_come(-1, -1);
		submit(1, "h1", NULL);
		actor_keeper_starts(h1);
		migrate("h2", "h2");
		owner_comes(h1);
	}
	if (not_yet(counted_on(ctl) == 1))
		return true;
	assert_false(rank_of(ctl)->move->policy);
	ctl_move_failed(rank_of(ctl)->move, "h2 takes nobody");
	assert_int_equal(counted_on(ctl), 0);
	return false;
}

static void beside_a_users(void **state)
{
	(void)state;
	actors_run(users_fails, by_stint);
}

/* The owner comes when the rank has its place, and before it runs there. */
static bool begins(void *ctx)
{
	struct ctl *ctl = ctx;

	if (step == 0) {
		all_come(-1, -1);
		submit(1, "h1", NULL);
		owner_comes(h1);
		step = 1;
	}
	if (step == 1) {
		if (not_yet(counted_on(ctl) == 1))
			return true;
		assert_null(rank_of(ctl)->move);
		actor_keeper_starts(h1);
		assert_int_equal(rank_of(ctl)->state, STATE(RUNNING));
		assert_int_equal(counted_on(ctl), 0);
		step = 2;
	}
	return not_yet(rank_of(ctl)->move);
}

static void of_a_rank_that_begins(void **state)
{
	(void)state;
	actors_run(begins, by_stint);
}

/* Moves of it have failed so often that no other is tried now. */
static bool pauses(void *ctx)
{
	struct ctl *ctl = ctx;

	if (!step++) {
		all_come(-1, -1);
		submit(1, "h1", NULL);
		actor_keeper_starts(h1);
		for (int i = 0; i < 4; i++)
			move_pause_failed(&rank_of(ctl)->pause, 1, ctl_now());
		owner_comes(h1);
	}
	if (not_yet(rank_of(ctl)->frozen_since && !counted_on(ctl)))
		return true;
	assert_null(rank_of(ctl)->move);
	return false;
}

static void that_pauses(void **state)
{
	(void)state;
	actors_run(pauses, by_stint);
}

static void done(struct conn *agent, uint64_t epoch, uint64_t seq,
		 Keeper__Outcome outcome)
{
	Keeper__MoveDone d = KEEPER__MOVE_DONE__INIT;

	d.epoch = 1;
	d.outcome = outcome;
	actor_keeper(agent, epoch, seq, 0, KEEPER__EVENT__BODY_MOVE_DONE, &d);
}

static void lands_on_h2(void)
{
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;

	all_come(-1, -1);
	submit(1, "h1", NULL);
	actor_keeper_starts(h1);
	migrate("h2", "h2");
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	receiving.epoch = 1;
	receiving.port = 1;
	actor_keeper(h2, 1, 0, 0, KEEPER__EVENT__BODY_RECEIVING, &receiving);
	done(h2, 1, 1, KEEPER__OUTCOME__LANDED);
	owner_comes(h2);
}

/*
 * It has landed, its old host does not say how that went, and it is not wanted there any
 * more either: it stands still meanwhile, and then goes on to another host.
 */
static bool lands(void *ctx)
{
	struct ctl_rank *r;

	if (step == 0) {
		lands_on_h2();
		step = 1;
	}
	r = rank_of(ctx);
	if (step == 1) {
		if (not_yet(r->frozen_since))
			return true;
		assert_string_equal(r->host->name, "h2");
		assert_int_equal(counted_on(ctx), 1);
		assert_true(r->move && r->move->landed);
		done(h1, 0, 2, KEEPER__OUTCOME__GONE);
		assert_null(r->move);
		assert_int_equal(counted_on(ctx), 0);
		step = 2;
	}
	return not_yet(r->move && r->move->from == r->host);
}

static void of_a_rank_that_lands(void **state)
{
	(void)state;
	actors_run(lands, by_stint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(that_an_earlier_controller_began),
		TEST(beside_a_users),
		TEST(of_a_rank_that_begins),
		TEST(that_pauses),
		TEST(of_a_rank_that_lands),
	};

	return cmocka_run_group_tests_name("put_off", tests, NULL, NULL);
}
