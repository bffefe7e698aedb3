/*
 * test_liar.c - a host that says it has another host's rank is not believed,
 * and users that come in crowds keep nobody else out
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors.h"

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
	struct ctl_job *job = TAILQ_FIRST(&ctl->jobs);

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

static void start_at(struct conn *agent)
{
	Keeper__Started started = KEEPER__STARTED__INIT;

	actor_keeper_hello(agent, 0, KEEPER__STATE__EMPTY, 0);
	actor_keeper(agent, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
}

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
	start_at(h1);
	move_to(admin, h1, h2);
	r = &TAILQ_FIRST(&ctl->jobs)->ranks[0];
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

/* ---- crowds of users */

static bool users_come(void *ctx)
{
	static struct conn *users[8], *host, *admin;
	struct ctl *ctl = ctx;
	unsigned n = 0;

	if (!step++) {
		assert_in_range(ctl->users_max, 1, ctl->conns_max - 1);
		ctl->users_max = 3;
		for (size_t i = 0; i < 8; i++)
			users[i] = fake_accept("user/ada");
		host = actor_greet("host/h1", -1);
		admin = actor_greet("admin/root", -1);
		return true;
	}
	for (size_t i = 0; i < 8; i++)
		n += fake_alive(users[i]);
	assert_int_equal(n, 3);
	assert_true(fake_alive(host) && fake_alive(admin));
	return false;
}

static void users_leave_room(void **state)
{
	actors_begin();
	step = 0;
	actors_run(users_come, NULL);
	assert_int_equal(step, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_liar_is_not_believed),
		cmocka_unit_test(leftovers_after_a_restart),
		cmocka_unit_test(users_leave_room),
	};

	return cmocka_run_group_tests_name("liar", tests, NULL, NULL);
}
