/*
 * test_gone.c - what becomes of jobs whose host, keeper, client or controller
 * goes before they run: one copy of each rank, under an address of its own
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "three.h"

#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"

/* ---- what a job is given */

static bool addresses(void *ctx)
{
	struct ctl *ctl = ctx;
	uint32_t fourth;

	all_come(-1, -1);
	for (int i = 0; i < 14; i++) /* but for the first and last */
		submit(1, "h1", NULL);
	fourth = job_of(ctl, 4)->ranks[0].address.s_addr;
	ctl_job_fail(job_of(ctl, 4), -1, 1, "that one ends");
	assert_int_equal(job_of(ctl, 4)->state, STATE(DONE));
	submit(1, "h1", NULL);
	/* It has the only one that nobody has, and the next one has none. */
	assert_int_equal(job_of(ctl, 15)->ranks[0].address.s_addr, fourth);
	submit(1, "h1", NULL);
	assert_int_equal(job_of(ctl, 16)->ranks[0].address.s_addr, 0);
	return false;
}

static void nobody_has_anothers_address(void **state)
{
	static const char *const small[] = { "pool", "10.9.0.0/28", NULL };

	actors_run(addresses, small);
}

static bool two_ranks(void *ctx)
{
	struct ctl *ctl = ctx;
	struct ctl_job *job;

	all_come(-1, -1);
	submit(2, "h1", NULL);
	job = job_of(ctl, 1);
	assert_int_equal(job->nr, 2);
	assert_false(job->spec->stopping);
	actor_keeper_starts(h1);
	assert_int_equal(job->ranks[0].state, STATE(RUNNING));
	assert_int_equal(job->ranks[1].state, STATE(STARTING));
	assert_int_equal(job->state, STATE(STARTING));
	return false;
}

static void a_job_runs_when_all_of_it_does(void **state)
{
	actors_run(two_ranks, NULL);
}

/* ---- its host goes before it began */

static void goes_to(struct ctl *ctl, const char *name, struct conn *c)
{
	assert_string_equal(rank_of(ctl)->host->name, name);
	assert_int_equal(rank_of(ctl)->epoch, 1);
	assert_true(heard.started_at == c && heard.started_epoch == 1);
}

/* The policy's choice is h1, since no other is there yet; then h2 has one. */
static bool only_h1_at_first(struct ctl *ctl)
{
	if (!step) {
		step = 1;
		h1 = actor_greet("host/h1", -1);
		admin = actor_greet("admin/root", -1);
		submit(1, NULL, NULL);
	}
	if (step > 1 || not_yet(rank_of(ctl)->host))
		return false;
	step = 2;
	h2 = actor_greet("host/h2", -1);
	h3 = actor_greet("host/h3", -1);
	submit(1, "h2", NULL);
	assert_int_equal(heard.refused, 0);
	return true;
}

static bool is_still_at_h1(struct ctl *ctl)
{
	return step < 2 ||
	       not_yet(rank_of(ctl)->host != ctl_host_find(ctl, "h1"));
}

static bool emptiest(void *ctx)
{
	struct ctl *ctl = ctx;

	if (only_h1_at_first(ctl))
		fake_hang_up(h1);
	if (is_still_at_h1(ctl))
		return true;
	goes_to(ctl, "h3", h3);
	/* The keeper of the first start, should it come back, is ended. */
	h1 = actor_greet("host/h1", 0);
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(KILL), 1);
	assert_int_equal(ASKED(START), 0);
	return false;
}

static bool undrained(void *ctx)
{
	Control__Drain drain = CONTROL__DRAIN__INIT;
	char *names[] = { (char *)"h3" };

	if (only_h1_at_first(ctx)) {
		drain.hosts = names;
		drain.n_hosts = 1;
		actor_say(admin, MESSAGE_BODY(DRAIN), &drain);
		fake_hang_up(h1);
	}
	if (is_still_at_h1(ctx))
		return true;
	goes_to(ctx, "h2", h2);
	return false;
}

static bool named(void *ctx)
{
	if (!step) {
		step = 2;
		all_come(-1, -1);
		submit(1, "h1", "h2");
		submit(1, "h2", NULL); /* h3 is the emptiest */
		fake_hang_up(h1);
	}
	if (is_still_at_h1(ctx))
		return true;
	goes_to(ctx, "h2", h2);
	return false;
}

static void it_starts_where_it_may_and_once(void **state)
{
	actors_run(emptiest, soon);
	set_up(state);
	actors_run(undrained, soon);
	set_up(state);
	actors_run(named, soon);
}

static bool sent(void *ctx)
{
	if (only_h1_at_first(ctx))
		actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	if (step < 2)
		return true;
	assert_int_equal(ASKED(START), 1);
	return false;
}

/* The controller before this one had sent its program. */
static bool not_again(void *ctx)
{
	struct ctl *ctl = ctx;

	if (step) {
		step = 0;
		all_come(0, -1);
		actor_keeper_hello(h1, 0, KEEPER__STATE__STARTING, 0);
		/* Not before it came; the settings are actors_run()'s. */
		((struct controller_conf *)ctl->conf)->lost_after = 1000;
		fake_hang_up(h1);
	}
	if (not_yet(rank_of(ctl)->lost || rank_of(ctl)->epoch))
		return true;
	assert_true(rank_of(ctl)->lost);
	assert_string_equal(rank_of(ctl)->host->name, "h1");
	return false;
}

static bool still_lost(void *ctx)
{
	assert_true(rank_of(ctx)->lost);
	return false;
}

static void what_began_is_lost_and_stays_so(void **state)
{
	actors_run(sent, NULL);
	actors_run(not_again, NULL);
	actors_run(still_lost, NULL);
}

/* ---- its keeper fails before it began */

/* The last keeper that was asked for. */
static void does_not_get_ready(void)
{
	Control__Failed failed = CONTROL__FAILED__INIT;

	failed.code = -EIO;
	failed.why = (char *)"its keeper does not get ready";
	actor_answer(heard.started_at, heard.started_id, MESSAGE_BODY(FAILED),
		     &failed);
}

static void count_act(void *arg, const struct store_act *act)
{
	*(unsigned *)arg += strstr(act->what, "does not get ready") != NULL;
}

static unsigned acts_of(struct ctl *ctl)
{
	unsigned n = 0;

	store_each_act(ctl->store, 1, count_act, &n);
	return n;
}

static bool unready(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit(1, "h1", "h2");
	submit(1, "h2", NULL); /* h3 is the emptiest, and not named */
	assert_string_equal(rank_of(ctl)->host->name, "h1");
	heard.started_at = h1;
	heard.started_id = TAILQ_FIRST(&rank_of(ctl)->klinks)->number;
	does_not_get_ready();
	goes_to(ctl, "h2", h2);
	assert_int_equal(acts_of(ctl), 1);
	/* The keeper that failed comes all the same: it has no program to expect. */
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 0);
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 1);
	return false;
}

/*
 * The hosts where its keepers failed are as empty as h3, and come first; it goes to none of
 * them again while there is h3.
 */
static bool unready_at_two(void *ctx)
{
	struct ctl *ctl = ctx;

	if (!step) {
		step = 1;
		all_come(-1, -1);
		submit(1, NULL, NULL);
	}
	if (not_yet(rank_of(ctl)->host))
		return true;
	does_not_get_ready();
	does_not_get_ready();
	assert_string_equal(rank_of(ctl)->host->name, "h3");
	assert_true(heard.started_at == h3 && heard.started_epoch == 2);
	/* Where all have failed, the emptiest will do. */
	does_not_get_ready();
	assert_int_equal(job_of(ctl, 1)->state, STATE(STARTING));
	assert_true(heard.started_at != h3 && heard.started_epoch == 3);
	return false;
}

/* There is no other host. */
static bool never_ready(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit(1, "h1", NULL);
	for (uint64_t n = 0; n <= 3; n++) {
		assert_int_equal(job_of(ctl, 1)->state, STATE(STARTING));
		assert_int_equal(heard.started_epoch, n);
		does_not_get_ready();
	}
	assert_int_equal(job_of(ctl, 1)->state, STATE(DONE));
	assert_int_equal(job_of(ctl, 1)->reason, ENDED(NOT_STARTED));
	assert_string_equal(
		job_of(ctl, 1)->why,
		"rank 0 could not be started on h1: its keeper does "
		"not get ready (as at 3 starts before)");
	return false;
}

/* That its keeper failed cannot be true: it has the program. */
static bool was_ready(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit(1, "h1", "h2");
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 1);
	does_not_get_ready();
	assert_int_equal(job_of(ctl, 1)->state, STATE(DONE));
	assert_int_equal(rank_of(ctl)->epoch, 0);
	return false;
}

/* ---- its keeper fails with the program */

/* The rank may be at h1 or h2, and its first keeper, at h1, says this of START. */
static void fails_with_start(struct ctl *ctl, Keeper__Begun begun, bool requeue)
{
	Keeper__Failed failed = KEEPER__FAILED__INIT;

	all_come(-1, -1);
	submit(1, "h1", "h2");
	job_of(ctl, 1)->spec->requeue = requeue;
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 1);
	failed.code = -ENOSPC;
	failed.why = (char *)"no room";
	failed.begun = begun;
	actor_keeper(h1, 0, 0, KEEPER__REQUEST__BODY_START,
		     KEEPER__EVENT__BODY_FAILED, &failed);
}

static bool not_begun_here(void *ctx)
{
	struct ctl *ctl = ctx;

	fails_with_start(ctl, KEEPER__BEGUN__NOT_BEGUN_HERE, false);
	goes_to(ctl, "h2", h2);
	assert_int_equal(ASKED(KILL), 1);
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 1);
	actor_keeper_hello(h2, 1, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 2);
	return false;
}

/* Nor is it begun anew: another host would say the same. */
static bool not_begun_anywhere(void *ctx)
{
	fails_with_start(ctx, KEEPER__BEGUN__NOT_BEGUN, true);
	assert_int_equal(job_of(ctx, 1)->state, STATE(DONE));
	assert_int_equal(job_of(ctx, 1)->reason, ENDED(NOT_STARTED));
	return false;
}

static bool begun_or_not(void *ctx)
{
	fails_with_start(ctx, KEEPER__BEGUN__BEGUN_UNKNOWN, false);
	assert_int_equal(rank_of(ctx)->epoch, 0);
	assert_int_equal(job_of(ctx, 1)->state, STATE(DONE));
	return false;
}

static bool begun_or_not_and_may_again(void *ctx)
{
	fails_with_start(ctx, KEEPER__BEGUN__BEGUN_UNKNOWN, true);
	assert_int_equal(rank_of(ctx)->epoch, 0);
	assert_int_equal(ASKED(KILL), 1);
	assert_int_equal(job_of(ctx, 1)->state, STATE(ENDING));
	assert_true(job_of(ctx, 1)->spec->requeuing);
	return false;
}

static void what_has_not_begun_is_tried_elsewhere(void **state)
{
	actors_run(not_begun_here, NULL);
	set_up(state);
	actors_run(not_begun_anywhere, NULL);
	set_up(state);
	actors_run(begun_or_not, NULL);
	set_up(state);
	actors_run(begun_or_not_and_may_again, NULL);
}

static void what_had_no_keeper_is_tried_elsewhere(void **state)
{
	actors_run(unready, NULL);
	set_up(state);
	actors_run(unready_at_two, NULL);
	set_up(state);
	actors_run(never_ready, NULL);
	set_up(state);
	actors_run(was_ready, NULL);
}

static bool ended(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit(1, "h1", NULL);
	ctl_job_fail(job_of(ctl, 1), -1, 1, "it ends");
	lacks(h1, 0, 0, false);
	fake_hang_up(admin);
	(void)ctl_jobs_prune(ctl);
	assert_non_null(ctl_job_find(ctl, 1));
	return false;
}

/* Nobody comes back for it now. */
static bool ended_a_while_ago(void *ctx)
{
	(void)ctl_jobs_prune(ctx);
	assert_null(ctl_job_find(ctx, 1));
	return false;
}

/* Of one without a client its account tells; but not what it printed. */
static bool nobody_waits(void *ctx)
{
	struct ctl *ctl = ctx;

	all_come(-1, -1);
	submit_one("h1", 0, 0);
	submit_one("h1", 0, 0);
	for (uint64_t id = 1; id <= 2; id++) {
		ctl_job_fail(job_of(ctl, id), -1, 1, "it ends");
		klink_free(TAILQ_FIRST(&job_of(ctl, id)->ranks[0].klinks));
	}
	job_of(ctl, 2)->kept.known = true;
	job_of(ctl, 2)->kept.bytes = 1;
	(void)ctl_jobs_prune(ctl);
	assert_null(ctl_job_find(ctl, 1));
	assert_non_null(ctl_job_find(ctl, 2));
	return false;
}

static void a_client_may_come_back_for_its_job(void **state)
{
	static const char *const hour[] = { "history", "0", "client-grace",
					    "1h", NULL };
	static const char *const none[] = { "history", "0", "client-grace", "0",
					    NULL };

	actors_run(ended, hour);
	actors_run(ended_a_while_ago, none);
	set_up(state);
	actors_run(nobody_waits, hour);
}

/* Two hosts are to be left: the answer comes when both are. */
static bool two_drained(void *ctx)
{
	Control__Drain drain = CONTROL__DRAIN__INIT;
	char *names[] = { (char *)"h1", (char *)"h2" };

	all_come(-1, -1);
	submit(1, "h1", NULL);
	submit(1, "h2", NULL);
	drain.hosts = names;
	drain.n_hosts = 2;
	drain.wait = true;
	actor_say(admin, MESSAGE_BODY(DRAIN), &drain);
	assert_int_equal(heard.drained, 0);
	ctl_job_fail(job_of(ctx, 1), -1, 1, "it ends");
	assert_int_equal(heard.drained, 1);
	assert_int_equal(heard.granted, 0);
	ctl_job_fail(job_of(ctx, 2), -1, 1, "it ends");
	assert_int_equal(heard.drained, 2);
	assert_int_equal(heard.granted, 1);
	return false;
}

static void a_drain_is_over_with_its_last_host(void **state)
{
	actors_run(two_drained, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_has_anothers_address),
		TEST(a_job_runs_when_all_of_it_does),
		TEST(it_starts_where_it_may_and_once),
		TEST(what_began_is_lost_and_stays_so),
		TEST(what_had_no_keeper_is_tried_elsewhere),
		TEST(what_has_not_begun_is_tried_elsewhere),
		TEST(a_client_may_come_back_for_its_job),
		TEST(a_drain_is_over_with_its_last_host),
	};

	return cmocka_run_group_tests_name("gone", tests, NULL, NULL);
}
