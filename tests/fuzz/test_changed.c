/*
 * test_changed.c - what is done to a job that is there: held, let go, updated,
 * limited in time, frozen; and what of it is kept
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include "three.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/priv.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "core/xalloc.h"

#define HOUR (3600 * USEC_PER_SEC)

static bool is_granted(Control__ChangeJob *c)
{
	unsigned before = heard.granted, refused = heard.refused;

	c->job = 1;
	actor_say(admin, MESSAGE_BODY(CHANGE_JOB), c);
	assert_int_equal(heard.granted + heard.refused, before + refused + 1);
	return heard.granted > before;
}

static bool change(Control__Change what)
{
	Control__ChangeJob c = CONTROL__CHANGE_JOB__INIT;

	c.change = what;
	return is_granted(&c);
}

static bool update(usec_t estimate, usec_t limit, const char *name)
{
	Control__ChangeJob c = CONTROL__CHANGE_JOB__INIT;

	c.change = CONTROL__CHANGE__UPDATE;
	c.estimate_usec = (uint64_t)estimate;
	c.limit_usec = (uint64_t)limit;
	c.name = (char *)name;
	return is_granted(&c);
}

static void exit_with(struct conn *agent, int code)
{
	Keeper__Exited e = KEEPER__EXITED__INIT;

	e.code = code;
	actor_keeper(agent, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &e);
}

/* ---- held ---- */

static bool hold_it(void *ctl)
{
	admin = actor_greet("admin/root", -1);
	submit_one(NULL, 0, 0);
	assert_non_null(job_of(ctl, 1)->model);
	assert_true(change(CONTROL__CHANGE__HOLD));
	assert_null(job_of(ctl, 1)->model);
	return false;
}

static bool held_still(void *ctl)
{
	const struct ctl_job *job = job_of(ctl, 1);

	admin = actor_greet("admin/root", -1);
	assert_true(job->spec->held);
	assert_string_equal(job->why, "held by root");
	assert_null(job->model);
	assert_true(change(CONTROL__CHANGE__RELEASE));
	assert_false(job->spec->held);
	assert_string_equal(job->why, "");
	assert_non_null(job->model);
	return false;
}

static void a_job_that_is_held_stays_so(void **state)
{
	actors_run(hold_it, NULL);
	actors_run(held_still, NULL);
}

/* It waits for its host, and is none of the policy's. */
static bool let_go(void *ctl)
{
	admin = actor_greet("admin/root", -1);
	submit_one("h1", 0, 0);
	assert_null(job_of(ctl, 1)->model);
	assert_true(change(CONTROL__CHANGE__HOLD));
	assert_true(change(CONTROL__CHANGE__RELEASE));
	assert_null(job_of(ctl, 1)->model);
	return false;
}

static void who_names_hosts_is_no_policys(void **state)
{
	actors_run(let_go, NULL);
}

/* ---- updated ---- */

static bool update_it(void *ctl)
{
	struct ctl_job *job;

	admin = actor_greet("admin/root", -1);
	submit_one(NULL, 0, 0);
	job = job_of(ctl, 1);
	assert_true(update(HOUR, 2 * HOUR, "new"));
	assert_int_equal(job->model->estimate, HOUR);
	assert_false(update(HOUR, 0, "a/b"));
	/* Of one that is refused in part nothing is done. */
	assert_false(update(3 * HOUR, 11 * 366 * 24 * HOUR, "newest"));
	assert_int_equal(job->spec->estimate_usec, HOUR);
	assert_int_equal(job->model->estimate, HOUR);
	assert_int_equal(job->spec->limit_usec, 2 * HOUR);
	assert_string_equal(job->spec->name, "new");
	return false;
}

static bool updated_still(void *ctl)
{
	struct ctl_job *job = job_of(ctl, 1);

	assert_int_equal(job->spec->estimate_usec, HOUR);
	assert_int_equal(job->spec->limit_usec, 2 * HOUR);
	assert_string_equal(job->spec->name, "new");
	admin = actor_greet("admin/root", -1);
	actor_signal(admin, SIGKILL);
	assert_int_equal(job->state, STATE(DONE));
	assert_false(update(0, 0, "newer"));
	assert_false(change(CONTROL__CHANGE__HOLD));
	return false;
}

static void an_update_is_kept(void **state)
{
	actors_run(update_it, NULL);
	actors_run(updated_still, NULL);
}

/* ---- limited ---- */

static bool warn_once(void *ctl)
{
	if (!step) {
		all_come(-1, -1);
		submit_one("h1", HOUR, HOUR - 1);
		actor_keeper_starts(h1);
	}
	if (not_yet(ASKED(SIGNAL)))
		return true;
	/* Some turns later it is one still. */
	if (++step < 20)
		return true;
	assert_int_equal(ASKED(SIGNAL), 1);
	assert_true(job_of(ctl, 1)->spec->warned);
	return false;
}

static void a_warning_comes_once_and_in_time(void **state)
{
	actors_run(warn_once, NULL);
}

static bool limit_it(void *ctl)
{
	if (!step++) {
		all_come(-1, -1);
		submit_one("h1", 0, 0);
		actor_keeper_starts(h1);
		assert_true(update(0, 1, ""));
	}
	if (not_yet(job_of(ctl, 1)->spec->stopping))
		return true;
	assert_int_equal(job_of(ctl, 1)->reason, ENDED(TIME_LIMIT));
	return false;
}

static void a_new_limit_holds(void **state)
{
	actors_run(limit_it, NULL);
}

/* What it was told before is why it ends. */
static bool stop_it(void *ctl)
{
	struct ctl_job *job;

	if (!step++) {
		all_come(-1, -1);
		submit_one("h1", HOUR, 0);
		actor_keeper_starts(h1);
		ctl_job_stop(job_of(ctl, 1), "told to");
		assert_true(update(0, 1, ""));
	}
	job = job_of(ctl, 1);
	if (not_yet(!job->limiter))
		return true;
	assert_int_equal(job->reason, ENDED(REASON_NONE));
	assert_string_equal(job->why, "told to");
	return false;
}

static void who_ends_already_is_not_limited(void **state)
{
	actors_run(stop_it, NULL);
}

/* A warning at its begin is none, and one that was given leaves the limit free. */
static bool bounds(void *ctl)
{
	admin = actor_greet("admin/root", -1);
	submit_one(NULL, HOUR, HOUR);
	assert_int_equal(heard.refused, 1);
	submit_one(NULL, 2 * HOUR, HOUR);
	assert_false(update(0, HOUR, ""));
	assert_true(update(0, HOUR + 1, ""));
	job_of(ctl, 1)->spec->warned = true;
	assert_true(update(0, 1, ""));
	return false;
}

static void a_warning_comes_after_the_begin(void **state)
{
	actors_run(bounds, NULL);
}

/* ---- frozen ---- */

static bool freeze_it(void *ctl)
{
	struct ctl_rank *r;
	usec_t since;

	all_come(-1, -1);
	submit_one("h1", 0, 0);
	r = rank_of(ctl);
	assert_false(ctl_rank_freeze(r, true, true)); /* it does not run yet */
	actor_keeper_starts(h1);
	assert_true(ctl_rank_freeze(r, true, true));
	since = r->frozen_since;
	assert_true(since && job_rank_frozen(r->job->model, 0));
	assert_false(ctl_rank_freeze(r, true, true));
	while (ctl_now() == since)
		continue;
	ctl_rank_is_frozen(r, true); /* as its keeper says */
	assert_int_equal(r->frozen_since, since);
	assert_int_equal(ASKED(SUSPEND), 1);
	/* Also in the view that is made for a host more. */
	ctl_sched_anew(ctl);
	assert_true(job_rank_frozen(r->job->model, 0));
	fake_hang_up(h1);
	fake_turn();
	assert_false(ctl_rank_freeze(r, false, true)); /* nobody hears it */
	h1 = actor_greet("host/h1", 0);
	actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
	exit_with(h1, 0);
	assert_int_equal(r->state, STATE(DONE));
	assert_int_equal(r->frozen_since, 0);
	return false;
}

static void a_rank_is_frozen_once(void **state)
{
	actors_run(freeze_it, NULL);
}

static bool freeze_moving(void *ctl)
{
	all_come(-1, -1);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	actor_migrate(admin, h2);
	assert_non_null(rank_of(ctl)->move);
	assert_false(ctl_rank_freeze(rank_of(ctl), true, true));
	return false;
}

static void who_moves_is_not_frozen(void **state)
{
	actors_run(freeze_moving, NULL);
}

static void stopped_by_agent(void)
{
	Keeper__Ok ok = KEEPER__OK__INIT;

	actor_keeper(h1, 0, 0, KEEPER__AGENTS__STOP, KEEPER__EVENT__BODY_OK,
		     &ok);
}

/* Policies know it, and can let it go; once it is sent its engine has. */
static bool stop_unasked(void *ctl)
{
	struct ctl_rank *r;

	all_come(-1, -1);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	r = rank_of(ctl);
	stopped_by_agent();
	assert_true(r->frozen_since && job_rank_frozen(r->job->model, 0));
	assert_int_equal(ASKED(SUSPEND), 0);
	assert_true(ctl_rank_freeze(r, false, true));
	assert_int_equal(ASKED(SUSPEND), 1);
	actor_migrate(admin, h2);
	stopped_by_agent();
	assert_int_equal(r->frozen_since, 0);
	return false;
}

static void an_agent_may_stop_a_rank(void **state)
{
	actors_run(stop_unasked, NULL);
}

/* ---- kept ---- */

static bool take_account(void *arg, const struct store_account *row)
{
	Control__Account **ret = arg;

	*ret = control__account__unpack(NULL, row->n, row->data);
	return true;
}

static bool use_it(void *ctl)
{
	Control__Account *a = NULL;
	struct ctl_job *job;
	struct ctl_rank *r;

	all_come(-1, -1);
	submit(2, "h1", "h2");
	actor_keeper_starts(h1);
	job = job_of(ctl, 1);
	r = &job->ranks[0];
	ctl_rank_used(r, 5, 100);
	ctl_rank_used(r, 7, 50);
	ctl_rank_was_held(r, 40);
	ctl_rank_was_held(r, 2);
	ctl_rank_meets_return(r, 1000);
	ctl_rank_meets_return(r, 2000);
	ctl_rank_is_late(r, 2000, LATE_OUT);
	ctl_rank_given_back(r, 2000, 30, 20);
	ctl_rank_given_back(r, 2000, 7, 5); /* told again */
	ctl_rank_moved(r, r->host, r->epoch, 1);
	ctl_rank_cost(r, 3, 9);
	job->nr = 1; /* it has begun with fewer */
	job->start = job->submit + 1;
	ctl_account_store(job);
	store_commit(job->ctl->store);
	job->nr = 2;
	store_each_account(job->ctl->store, 1, take_account, &a);
	assert_non_null(a);
	assert_true(a->ranks == 1 && a->ranks_asked == 2 && a->n_had == 1);
	assert_int_equal(a->start_usec, a->submit_usec + 1);
	assert_int_equal(a->had[0]->cpu_usec, 12);
	assert_int_equal(a->had[0]->max_rss, 100);
	assert_int_equal(a->had[0]->moves, 1);
	assert_int_equal(a->had[0]->stood_usec, 3);
	assert_int_equal(a->had[0]->moved_bytes, 9);
	assert_int_equal(a->had[0]->held_usec, 42);
	assert_int_equal(a->had[0]->returns, 2);
	assert_int_equal(a->had[0]->give_back_usec, 30);
	assert_int_equal(a->had[0]->late_usec, 20);
	assert_string_equal(a->had[0]->late, "it is being sent");
	assert_null(a->limits); /* none was asked for */
	control__account__free_unpacked(a, NULL);
	ctl_rank_is_refused(r);
	ctl_rank_place_again(r, r->host);
	assert_int_equal(r->starts, 0); /* its host refused: it was none */
	ctl_rank_place_again(r, r->host);
	assert_int_equal(r->starts, 1);
	ctl_rank_give_up(r);
	ctl_rank_done(r, 1);
	return false;
}

static bool used_still(void *ctl)
{
	const struct ctl_rank *r = rank_of(ctl);

	assert_int_equal(r->had.cpu_usec, 12);
	assert_int_equal(r->had.max_rss, 100);
	assert_int_equal(r->had.stood_usec, 3);
	assert_int_equal(r->had.moved_bytes, 9);
	assert_int_equal(r->had.held_usec, 42);
	assert_int_equal(r->had.returns, 2);
	assert_int_equal(r->had.give_back_usec, 30);
	assert_true(r->had.late_usec == 20 && r->had.late == LATE_OUT);
	assert_true(r->lost && r->state == STATE(DONE));
	return false;
}

static void what_ranks_had_is_kept(void **state)
{
	actors_run(use_it, NULL);
	actors_run(used_still, NULL);
}

/* In whatever order the policy asks for them, the next one is waited for. */
static bool instants(void *ctx)
{
	static const int hours[] = { 3, 1, 2, 1 };
	struct ctl *ctl = ctx;
	struct sched_wakes *w = &ctl->sched->wakes;
	usec_t begin = ctl_now() / HOUR * HOUR;
	uint64_t when = 0, now = 0;

	all_come(-1, -1);
	sched_forget_wakes(ctl);
	for (size_t i = 0; i < 4; i++)
		ctl_sched_wake(ctl, begin + hours[i] * HOUR);
	assert_int_equal(w->nr, 3); /* the same one counts once */
	assert_true(w->at[0] > w->at[1] && w->at[1] > w->at[2]);
	assert_int_equal(sd_event_source_get_time(w->timer, &when), 0);
	assert_true(sd_event_now(ctl->event, CLOCK_MONOTONIC, &now) >= 0);
	assert_in_range(when, now, now + HOUR + HOUR / 2);
	return false;
}

static void a_policy_is_woken_in_order(void **state)
{
	actors_run(instants, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_that_is_held_stays_so),
		TEST(who_names_hosts_is_no_policys),
		TEST(an_update_is_kept),
		TEST(a_warning_comes_once_and_in_time),
		TEST(a_new_limit_holds),
		TEST(who_ends_already_is_not_limited),
		TEST(a_warning_comes_after_the_begin),
		TEST(a_rank_is_frozen_once),
		TEST(who_moves_is_not_frozen),
		TEST(an_agent_may_stop_a_rank),
		TEST(what_ranks_had_is_kept),
		TEST(a_policy_is_woken_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
