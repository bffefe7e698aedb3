/*
 * test_moved.c - what becomes of moves whose host, keeper or controller goes, and
 * of ranks that end in them: one copy of each rank, where it then is
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "model/presence.h"
#include "model/view.h"
#include "three.h"

static void gets_ready(struct conn *to, uint64_t epoch)
{
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;

	actor_keeper_hello(to, epoch, KEEPER__STATE__EMPTY, 0);
	receiving.epoch = epoch;
	receiving.port = 1;
	actor_keeper(to, epoch, 0, 0, KEEPER__EVENT__BODY_RECEIVING,
		     &receiving);
}

/* Rank 1.0 is asked for by its old keeper to be sent there. */
static void send_out(const char *name, struct conn *to, uint64_t epoch)
{
	migrate(name, name); /* each is a request of its own */
	gets_ready(to, epoch);
}

static void begin(void)
{
	all_come(-1, -1);
	submit(1, "h1", NULL);
	actor_keeper_starts(h1);
	send_out("h2", h2, 1);
	assert_int_equal(ASKED(MIGRATE_OUT), 1);
}

static void done(struct conn *agent, uint64_t epoch, uint64_t move,
		 uint64_t seq, Keeper__Outcome outcome, uint64_t downtime)
{
	Keeper__MoveDone d = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveReport r = KEEPER__MOVE_REPORT__INIT;

	d.epoch = move;
	d.outcome = outcome;
	d.report = &r;
	r.downtime_usec = downtime;
	r.total_usec = 2 * downtime;
	actor_keeper(agent, epoch, seq, 0, KEEPER__EVENT__BODY_MOVE_DONE, &d);
}

static void doubt(struct conn *agent, uint64_t epoch, uint64_t move,
		  bool source)
{
	Keeper__MoveDoubt d = KEEPER__MOVE_DOUBT__INIT;

	d.epoch = move;
	d.source = source;
	ASKED(VERDICT) = 0;
	actor_keeper(agent, epoch, 0, 0, KEEPER__EVENT__BODY_MOVE_DOUBT, &d);
}

static void status(struct conn *agent, uint64_t epoch, Keeper__State state,
		   uint64_t committed)
{
	Keeper__Status s = KEEPER__STATUS__INIT;

	s.state = state;
	s.committed = committed;
	actor_keeper(agent, epoch, 0, 0, KEEPER__EVENT__BODY_STATUS, &s);
}

static bool past_doubts(void *ctx)
{
	struct ctl *ctl = ctx;

	begin();
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_null(rank_of(ctl)->move);
	send_out("h3", h3, 2);
	done(h3, 2, 2, 1, KEEPER__OUTCOME__LANDED, 0);
	done(h2, 1, 2, 2, KEEPER__OUTCOME__GONE, 5);
	assert_null(rank_of(ctl)->move);
	assert_int_equal(rank_of(ctl)->epoch, 2);
	/* Whoever gave it away has it no more, wherever it went from there. */
	doubt(h1, 0, 1, true);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(heard.verdict);
	doubt(h2, 1, 1, false);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_false(heard.verdict);
	return false;
}

static bool other_network(void *ctx)
{
	h1 = actor_greet("host/h1", -1);
	actors_net = "routed";
	h2 = actor_greet("host/h2", -1);
	actors_net = "none";
	admin = actor_greet("admin/root", -1);
	submit(1, "h1", NULL);
	actor_keeper_starts(h1);
	assert_int_equal(heard.refused, 0);
	migrate("h2", "h2");
	assert_int_equal(heard.refused, 1);
	assert_null(rank_of(ctx)->move);
	return false;
}

static void a_rank_keeps_its_network(void **state)
{
	actors_run(other_network, NULL);
}

static void doubts_about_what_is_over(void **state)
{
	actors_run(past_doubts, NULL);
}

static bool by_status(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	doubt(h2, 1, 1, false);
	assert_int_equal(ASKED(VERDICT), 0);
	assert_int_equal(ASKED(STATUS), 1);
	status(h1, 0, KEEPER__STATE__MOVING, 0); /* nobody knows yet */
	assert_int_equal(ASKED(VERDICT), 0);
	status(h1, 0, KEEPER__STATE__DOUBT, 1);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(heard.verdict);
	assert_int_equal(r->epoch, 1);
	return false;
}

static bool by_record(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	doubt(h2, 1, 1, false);
	lacks(h1, 0, 0, false); /* the old keeper has died */
	lacks(h1, 0, 7, true);	/* which had given it away, another time */
	lacks(h2, 0, 1, true);	/* says another host, which wants it */
	assert_int_equal(r->epoch, 0);
	assert_int_equal(ASKED(VERDICT), 0);
	lacks(h1, 0, 1, true);
	assert_int_equal(r->epoch, 1);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(heard.verdict);
	return false;
}

/* It has not given it away, and goes on: the copy shall end. */
static bool by_staying(void *ctx)
{
	begin();
	doubt(h2, 1, 1, false);
	status(h1, 0, KEEPER__STATE__RUNNING, 0);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_false(heard.verdict);
	assert_int_equal(rank_of(ctx)->epoch, 0);
	return false;
}

/* That it was given away once says nothing of the next time. */
static bool by_this_move(void *ctx)
{
	begin();
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	send_out("h3", h3, 2);
	doubt(h3, 2, 2, false);
	status(h2, 1, KEEPER__STATE__MOVING, 1);
	assert_int_equal(ASKED(VERDICT), 0);
	status(h2, 1, KEEPER__STATE__DOUBT, 2);
	assert_int_equal(ASKED(VERDICT), 1);
	assert_true(heard.verdict);
	assert_int_equal(rank_of(ctx)->epoch, 2);
	return false;
}

static void the_sources_word_decides(void **state)
{
	actors_run(by_status, NULL);
	set_up(state);
	actors_run(by_staying, NULL);
	set_up(state);
	actors_run(by_this_move, NULL);
	set_up(state);
	actors_run(by_record, NULL);
}

static bool reports(void *ctx)
{
	struct ctl_rank *r;

	begin();
	r = rank_of(ctx);
	/* A keeper that comes anew while it is sent to can take nothing. */
	ASKED(RECEIVE) = 0;
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(RECEIVE), 0);
	assert_int_equal(ASKED(KILL), 1);
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_int_equal(r->downtime, 5);
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0); /* which knows none */
	assert_null(r->move);
	assert_int_equal(r->downtime, 5);
	return false;
}

static bool records(void *ctx)
{
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT, *names = &name;

	begin();
	name.job = (char *)"1";
	name.epoch = 1;
	report.records = &names;
	report.n_records = 1;
	heard.forgotten = 0;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(heard.forgotten, 0); /* it may decide that move yet */
	name.epoch = 9;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(heard.forgotten, 1);
	return false;
}

static void each_says_what_it_knows(void **state)
{
	actors_run(reports, NULL);
	set_up(state);
	actors_run(records, NULL);
}

static bool source_lost(void *ctx)
{
	if (!step++) {
		begin();
		done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
		assert_non_null(rank_of(ctx)->move); /* no report yet */
		fake_hang_up(h1);
	}
	if (not_yet(!rank_of(ctx)->move))
		return true;
	assert_int_equal(rank_of(ctx)->state, STATE(RUNNING));
	assert_string_equal(rank_of(ctx)->host->name, "h2");
	return false;
}

/* Its old keeper heard of no move, and whoever asked for it is told. */
static bool ended_first(void *ctx)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;

	begin();
	heard.moved = 0;
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &exited);
	assert_int_equal(rank_of(ctx)->state, STATE(DONE));
	assert_null(rank_of(ctx)->move);
	assert_int_equal(heard.moved, 1);
	assert_string_equal(heard.moved_why, "the rank has ended");
	assert_int_equal(ASKED(KILL),
			 1); /* of the keeper that was to have it */
	lacks(h1, 0, 1, false);
	assert_int_equal(heard.moved, 1);
	return false;
}

static void a_rank_that_ends_ends_its_move(void **state)
{
	actors_run(ended_first, NULL);
}

static void it_runs_on_without_the_host_it_left(void **state)
{
	actors_run(source_lost, soon);
}

/* ---- a controller that is killed in a move */

static bool begins(void *ctx)
{
	begin();
	return false;
}

static bool lands(void *ctx)
{
	begin();
	done(h2, 1, 1, 1, KEEPER__OUTCOME__LANDED, 0);
	assert_int_equal(rank_of(ctx)->moves, 1);
	return false;
}

static bool landed(void *ctx)
{
	all_come(0, 1);
	actor_keeper_hello(h2, 1, KEEPER__STATE__RUNNING, 0);
	assert_int_equal(rank_of(ctx)->moves, 1); /* and not twice */
	assert_int_equal(rank_of(ctx)->epoch, 1);
	return false;
}

static bool asked_again(void *ctx)
{
	all_come(0, 1);
	actor_keeper_hello(h1, 0, KEEPER__STATE__MOVING, 0);
	heard.refused = 0;
	migrate("h2", "h3");
	assert_int_equal(heard.refused, 1); /* it is being moved already */
	migrate("h2", "h2");
	assert_int_equal(heard.refused, 1); /* by that very request */
	assert_false(TAILQ_EMPTY(&rank_of(ctx)->move->askers));
	/* Its copy ends: what the source has done only the source knows. */
	actor_keeper_hello(h2, 1, KEEPER__STATE__RECEIVING, 0);
	lacks(h2, 1, 0, false);
	assert_non_null(rank_of(ctx)->move);
	assert_int_equal(rank_of(ctx)->state, STATE(RUNNING));
	done(h1, 0, 1, 2, KEEPER__OUTCOME__GONE, 5);
	assert_true(rank_of(ctx)->lost);
	return false;
}

static void the_next_controller_knows_the_move(void **state)
{
	actors_run(begins, NULL);
	actors_run(asked_again, NULL);
	set_up(state);
	actors_run(lands, NULL);
	actors_run(landed, NULL);
}

/* ---- a rank that stands still */

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

static void runs_on_h1(void)
{
	all_come(-1, -1);
	submit(1, "h1", NULL);
	actor_keeper_starts(h1);
}

static struct ctl_move *moves_by(struct ctl *ctl, usec_t by)
{
	const struct ctl_move_bounds bounds = { .by = by };
	struct error err;

	assert_int_equal(ctl_move_begin(rank_of(ctl), ctl_host_find(ctl, "h2"),
					bounds, NULL, &err),
			 0);
	return rank_of(ctl)->move;
}

/* Its move fails before its keeper was asked to send it: that did not let it run. */
static bool stands_on(void *ctx)
{
	struct ctl_rank *r;

	runs_on_h1();
	r = rank_of(ctx);
	assert_true(ctl_rank_freeze(r, true, true));
	ctl_move_failed(moves_by(ctx, 0), "h2 takes no guests");
	assert_true(r->frozen_since && job_rank_frozen(r->job->model, 0));
	ASKED(SUSPEND) = 0;
	assert_true(ctl_rank_freeze(r, false, true));
	assert_int_equal(ASKED(SUSPEND), 1);
	assert_false(job_rank_frozen(r->job->model, 0));
	return false;
}

static void a_rank_stands_still_when_its_move_fails(void **state)
{
	actors_run(stands_on, NULL);
}

/* Its owner waits, and the destination is not ready when most of the time is over. */
static bool stands_in_time(void *ctx)
{
	struct ctl_rank *r;

	if (!step++) {
		runs_on_h1();
		owner_comes(h1);
		moves_by(ctx, ctl_now() + 40 * USEC_PER_MSEC);
	}
	r = rank_of(ctx);
	if (not_yet(r->frozen_since != 0))
		return true;
	assert_int_equal(ASKED(SUSPEND), 1);
	assert_true(job_rank_frozen(r->job->model, 0));
	gets_ready(h2, r->move->epoch);
	assert_int_equal(ASKED(MIGRATE_OUT), 1);
	assert_false(r->frozen_since || job_rank_frozen(r->job->model, 0));
	return false;
}

/* Nobody waits, and it runs on; nor does it stand still once it is being sent. */
static bool runs_on(void *ctx)
{
	if (!step++) {
		runs_on_h1();
		moves_by(ctx, ctl_now());
	}
	if (not_yet(!rank_of(ctx)->move->stand))
		return true;
	assert_int_equal(ASKED(SUSPEND), 0);
	owner_comes(h1);
	gets_ready(h2, rank_of(ctx)->move->epoch);
	assert_false(ctl_rank_freeze(rank_of(ctx), true, true));
	return false;
}

/* Its destination dies before it gets ready: that is known at once. */
static bool dies_first(void *ctx)
{
	uint64_t epoch;

	runs_on_h1();
	epoch = moves_by(ctx, 0)->epoch;
	actor_keeper_hello(h2, epoch, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(RECEIVE), 1);
	lacks(h2, epoch, 0, false);
	assert_null(rank_of(ctx)->move);
	assert_string_equal(rank_of(ctx)->host->name, "h1");
	return false;
}

static void the_death_of_a_destination_ends_a_move(void **state)
{
	actors_run(dies_first, NULL);
}

static void it_is_in_nobodys_way_while_a_host_gets_ready(void **state)
{
	actors_run(stands_in_time, NULL);
	set_up(state);
	actors_run(runs_on, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_rank_keeps_its_network),
		TEST(doubts_about_what_is_over),
		TEST(the_sources_word_decides),
		TEST(each_says_what_it_knows),
		TEST(it_runs_on_without_the_host_it_left),
		TEST(a_rank_that_ends_ends_its_move),
		TEST(the_next_controller_knows_the_move),
		TEST(a_rank_stands_still_when_its_move_fails),
		TEST(the_death_of_a_destination_ends_a_move),
		TEST(it_is_in_nobodys_way_while_a_host_gets_ready),
	};

	return cmocka_run_group_tests_name("moved", tests, NULL, NULL);
}
