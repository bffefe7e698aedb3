/*
 * test_liar.c - a host that says it has another host's rank is not believed, nor
 * one end of a move that speaks for the other
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/controller/state/find.h"

static int step;

/* It says all that could hurt the job. */
static void claim(struct conn *c, uint64_t epoch)
{
	Keeper__PmiAbort gone = KEEPER__PMI_ABORT__INIT;
	Keeper__PmiFence fence = KEEPER__PMI_FENCE__INIT;
	Keeper__Exited exited = KEEPER__EXITED__INIT;
	Keeper__Started started = KEEPER__STARTED__INIT;

	fence.generation = 77; /* no such barrier: would end the job */
	exited.code = 3;
	actor_keeper_hello(c, epoch, KEEPER__STATE__RUNNING, 0);
	actor_keeper(c, epoch, 0, 0, KEEPER__EVENT__BODY_STARTED, &started);
	actor_keeper(c, epoch, 0, 0, KEEPER__EVENT__BODY_PMI_FENCE, &fence);
	actor_keeper(c, epoch, 0, 0, KEEPER__EVENT__BODY_PMI_ABORT, &gone);
	actor_keeper(c, epoch, 0, 0, KEEPER__EVENT__BODY_EXITED, &exited);
}

static bool claims(void *ctx)
{
	static struct conn *h1, *h2;
	struct ctl *ctl = ctx;
	struct ctl_job *job = TAILQ_FIRST(&ctl->jobs.list);

	switch (step++) {
	case 0:
		h1 = actor_greet("host/h1", -1);
		h2 = actor_greet("host/h2", -1);
		actor_submit(actor_greet("admin/root", -1), "h1");
		return true;
	case 1:
		assert_int_equal(job->state, STATE(STARTING));
		claim(h2, 0);
		claim(h2, 5);
		return true;
	case 2:
		assert_int_equal(job->state, STATE(STARTING));
		claim(h1, 0); /* and who has it is believed */
		return true;
	default:
		assert_int_equal(job->exit, 1);
		assert_int_not_equal(job->state, STATE(STARTING));
		return false;
	}
}

static void a_liar_is_not_believed(void **state)
{
	actors_begin();
	step = 0;
	actors_run(claims, NULL);
	assert_int_equal(step, 4);
}

/* ---- leftovers of a rank that has moved on */

/* Rank 1.0, all the way from there to there. */
static void move_to(struct conn *admin, struct conn *from, struct conn *to)
{
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;

	actor_migrate(admin, to);
	done.epoch = 1;
	done.outcome = KEEPER__OUTCOME__LANDED;
	actor_keeper(to, 1, 1, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	done.outcome = KEEPER__OUTCOME__GONE;
	actor_keeper(from, 0, 2, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
}

static bool moves(void *ctx)
{
	struct ctl *ctl = ctx;
	struct conn *h1 = actor_greet("host/h1", -1),
		    *h2 = actor_greet("host/h2", -1),
		    *admin = actor_greet("admin/root", -1);
	struct ctl_rank *r;

	actor_submit(admin, "h1");
	actor_keeper_starts(h1);
	move_to(admin, h1, h2);
	r = &TAILQ_FIRST(&ctl->jobs.list)->ranks[0];
	assert_int_equal(r->epoch, 1);
	assert_null(r->move);
	return false;
}

/* Is the keeper that a host says it has one of the job's? */
static bool believed(struct ctl *ctl, const char *host, uint64_t epoch)
{
	struct klink *k = klink_at(ctl_host_find(ctl, host), 1, 0, epoch);

	assert_non_null(k);
	return k->job;
}

static bool leftovers(void *ctx)
{
	struct ctl *ctl = ctx;
	/* The liars first: they must not take anybody's place. */
	struct conn *h3 = actor_greet("host/h3", 0),
		    *h2 = actor_greet("host/h2", 1),
		    *h1 = actor_greet("host/h1", 0);

	actor_keeper_hello(h3, 0, KEEPER__STATE__LEFT, 0);
	actor_keeper_hello(h2, 0, KEEPER__STATE__LEFT, 0);
	actor_keeper_hello(h1, 0, KEEPER__STATE__LEFT, 0);
	actor_keeper_hello(h2, 1, KEEPER__STATE__RUNNING, 0);
	assert_false(believed(ctl, "h3", 0));
	assert_false(believed(ctl, "h2", 0));
	assert_true(believed(ctl, "h1", 0));
	assert_true(believed(ctl, "h2", 1));
	return false;
}

static void leftovers_after_a_restart(void **state)
{
	actors_begin();
	actors_run(moves, NULL);
	actors_run(leftovers, NULL);
}

/* ---- both ends of a move */

/* What only the other end of the move may say, or nobody yet. */
static bool wrong_end(void *ctx)
{
	static const Keeper__Outcome sources[] = { KEEPER__OUTCOME__GONE,
						   KEEPER__OUTCOME__STAYED,
						   KEEPER__OUTCOME__LOST };
	struct ctl *ctl = ctx;
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveDoubt doubt = KEEPER__MOVE_DOUBT__INIT;
	struct conn *h1 = actor_greet("host/h1", -1),
		    *h2 = actor_greet("host/h2", -1),
		    *admin = actor_greet("admin/root", -1);
	Control__Migrate migrate = CONTROL__MIGRATE__INIT;
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;
	struct ctl_rank *r;
	uint64_t seq = 1;

	actor_submit(admin, "h1");
	actor_keeper_starts(h1);
	r = &TAILQ_FIRST(&ctl->jobs.list)->ranks[0];
	migrate.job = 1;
	migrate.host = (char *)"h2";
	actor_say(admin, MESSAGE_BODY(MIGRATE), &migrate);
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	done.epoch = doubt.epoch = receiving.epoch = 1;
	/* It was sent nothing yet. */
	done.outcome = KEEPER__OUTCOME__LANDED;
	actor_keeper(h2, 1, seq++, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	assert_int_equal(r->epoch, 0);
	actor_keeper_hello(h2, 1, KEEPER__STATE__RUNNING, 0);
	assert_int_equal(r->epoch, 0);
	/* The source names a port in the destination's place. */
	receiving.port = 7;
	actor_keeper(h1, 0, 0, 0, KEEPER__EVENT__BODY_RECEIVING, &receiving);
	assert_int_equal(r->move->step, STEP_RECEIVING);
	actor_keeper(h2, 1, 0, 0, KEEPER__EVENT__BODY_RECEIVING, &receiving);
	assert_int_equal(r->move->step, STEP_OUT);
	doubt.source = true;
	actor_keeper(h2, 1, 0, 0, KEEPER__EVENT__BODY_MOVE_DOUBT, &doubt);
	for (size_t i = 0; i < 3; i++) {
		done.outcome = sources[i];
		actor_keeper(h2, 1, seq++, 0, KEEPER__EVENT__BODY_MOVE_DONE,
			     &done);
	}
	done.outcome = KEEPER__OUTCOME__LANDED;
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	assert_non_null(r->move);
	assert_false(r->move->committed);
	assert_int_equal(r->epoch, 0);
	assert_int_equal(r->state, STATE(RUNNING));
	/* And the truth is believed. */
	done.outcome = KEEPER__OUTCOME__LANDED;
	actor_keeper(h2, 1, seq, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	assert_int_equal(r->epoch, 1);
	return false;
}

static void each_end_speaks_for_itself(void **state)
{
	actors_begin();
	actors_run(wrong_end, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_liar_is_not_believed),
		cmocka_unit_test(leftovers_after_a_restart),
		cmocka_unit_test(each_end_speaks_for_itself),
	};

	return cmocka_run_group_tests_name("liar", tests, NULL, NULL);
}
