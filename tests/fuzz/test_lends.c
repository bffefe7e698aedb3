/*
 * test_lends.c - what an agent says that its host lends, and what the policy sees
 * of it; nonsense counts as occupied
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include "three.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/rank.h"
#include "model/presence.h"
#include "model/record.h"

#define SEC USEC_PER_SEC

static Control__Lending lending;
static Control__Presence presence;
static struct ctl_host *host;
static struct conn **agent = &h1;

/* Giving back never takes too long without a reason, whatever agents tell. */
static void all_late_have_a_cause(const struct ctl_lending *l)
{
	for (uint32_t i = 0; i < l->nr_last; i++) {
		const struct ctl_late *late = ctl_late_of(l, l->last[i].wall);

		if (l->limit && l->last[i].took > l->limit)
			assert_true(late && *late_text(late->why));
	}
}

static const struct host *seen(void)
{
	return &ctl_sched_view(host->ctl)->hosts[host->ix];
}

static void report(void)
{
	Control__HostReport r = CONTROL__HOST_REPORT__INIT;

	r.lending = &lending;
	r.presence = &presence;
	actor_say(*agent, MESSAGE_BODY(HOST_REPORT), &r);
	all_late_have_a_cause(&host->lending);
}

static void begin(struct ctl *ctl)
{
	all_come(-1, -1);
	host = ctl_host_find(ctl, "h1");
	assert_non_null(host);
	control__lending__init(&lending);
	control__presence__init(&presence);
	lending.guests_most = GUESTS_ANY;
}

static void owner_comes(void)
{
	presence.here = true;
	presence.cause = PRESENCE_SESSION;
	presence.since_usec = 0;
}

static bool lend(void *ctl)
{
	begin(ctl);
	report();
	assert_int_equal(seen()->cores, 2);
	assert_int_equal(seen()->slots, 16);
	lending.cores = 1;
	lending.guests_most = 3;
	report();
	assert_int_equal(seen()->cores, 1);
	assert_int_equal(seen()->slots, 3);
	lending.cores = 7; /* more than there are: a guest finds one */
	report();
	assert_int_equal(seen()->cores, 1);
	lending.closed = CLOSED_QUIET;
	report();
	assert_int_equal(seen()->closed, CLOSED_QUIET);
	lending.closed = CLOSED_LOAD;
	report();
	assert_int_equal(seen()->closed, CLOSED_LOAD);
	return false;
}

static void the_policy_sees_what_is_lent(void **state)
{
	actors_run(lend, NULL);
}

/* Spans count from its owner's return; without one there are none. */
static bool give_back(void *ctl)
{
	begin(ctl);
	lending.give_back_usec = 5 * SEC;
	lending.freeze_usec = 60 * SEC;
	lending.freeze = true;
	report();
	assert_int_equal(seen()->leave_by, 0);
	assert_int_equal(seen()->freeze_until, 0);
	owner_comes();
	lending.closed = CLOSED_OWNER;
	lending.leave = true;
	report();
	assert_true(seen()->owner_active && host->owner.since > 5 * SEC);
	assert_int_equal(seen()->leave_by, host->owner.since + 5 * SEC);
	assert_int_equal(seen()->freeze_until, host->owner.since + 60 * SEC);
	assert_int_equal(seen()->freeze_most, 60 * SEC);
	return false;
}

/*
 * The owner has left, and may be disturbed no more: who is still there has so long, however
 * often that is told.
 */
static bool leave_in_time(void *ctl)
{
	usec_t by, now = ctl_now();

	begin(ctl);
	lending.closed = CLOSED_DISTURBED;
	lending.leave = true;
	lending.leave_usec = 5 * SEC;
	report();
	by = seen()->leave_by;
	assert_true(by >= now + 5 * SEC && by <= ctl_now() + 5 * SEC);
	lending.leave_usec = 5 * SEC - SEC / 10;
	report();
	assert_int_equal(seen()->leave_by, by);
	lending.leave_usec = 2 * SEC; /* others are meant */
	report();
	assert_true(seen()->leave_by < by - 2 * SEC);
	lending.leave_usec = 0;
	report();
	assert_int_equal(seen()->leave_by, 0);
	return false;
}

static void spans_count_from_the_return(void **state)
{
	actors_run(give_back, NULL);
	set_up(state);
	actors_run(leave_in_time, NULL);
}

static void is_lost(bool leave)
{
	report();
	assert_int_equal(seen()->closed, CLOSED_LOST);
	assert_int_equal(seen()->owner_active, leave);
	begin(host->ctl);
	report();
	assert_int_equal(seen()->closed, CLOSED_NOT);
}

static void met(uint64_t returns, uint64_t give_back)
{
	const struct ctl_rank *r = rank_of(host->ctl);

	report();
	report(); /* once is enough */
	assert_int_equal(r->had.returns, returns);
	assert_int_equal(r->had.give_back_usec, give_back);
}

/* Those that a guest was there for, and until they had their hosts back. */
static bool come_back(void *ctl)
{
	Control__OwnerReturn one = CONTROL__OWNER_RETURN__INIT;
	Control__OwnerReturn two = CONTROL__OWNER_RETURN__INIT;
	Control__OwnerReturn *list[] = { &one, &two };

	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	lending.last = list;
	lending.n_last = 1;
	/* To a controller that has just been started. */
	host->lending.heard = false;
	one.at_usec = 1000;
	met(0, 0);
	one.at_usec = 2000;
	met(1, 0);
	one.done = true;
	one.took_usec = 700;
	met(1, 700);
	two.at_usec = 3000;
	two.done = true;
	two.took_usec = 50;
	lending.n_last = 2;
	met(2, 750);
	/* Whose own host it is is no guest. */
	host->owners.uid[0] = (int32_t)rank_of(ctl)->job->spec->uid;
	host->owners.nr = 1;
	two.at_usec = 4000;
	met(2, 750);
	return false;
}

/* A guest that is there when the time is over, and one return without. */
static bool takes_too_long(void *ctl)
{
	Control__OwnerReturn one = CONTROL__OWNER_RETURN__INIT;
	Control__OwnerReturn *list[] = { &one };
	const struct ctl_rank *r;

	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	r = rank_of(ctl);
	host->lending.heard = true;
	host->lending.known = 0;
	lending.last = list;
	lending.n_last = 1;
	owner_comes();
	lending.give_back_usec = 60 * SEC;
	lending.leave = lending.giving = true;
	one.at_usec = 9000;
	report();
	assert_int_equal(r->had.late, LATE_NOT);
	lending.give_back_usec = 1; /* which is over */
	report();
	assert_int_equal(r->had.late, LATE_STAYED);
	one.done = true;
	one.took_usec = 401;
	lending.leave = lending.giving = false;
	lending.give_back_usec = 0;
	report();
	assert_int_equal(r->had.late_usec, 400);
	assert_int_equal(host->lending.nr_lates, 1);
	assert_int_equal(host->lending.lates[0].wall, 9000);
	assert_int_equal(host->lending.lates[0].limit, 1);
	return false;
}

/* A return to h1, or to h2, of which nobody hears the end for now. */
static Control__OwnerReturn ret;
static Control__OwnerReturn *ret_list[] = { &ret };

static void owner_returned(usec_t ago, usec_t limit)
{
	control__owner_return__init(&ret);
	host->lending.heard = true;
	lending.last = ret_list;
	lending.n_last = 1;
	owner_comes();
	presence.since_usec = (uint64_t)ago;
	lending.give_back_usec = (uint64_t)limit;
	lending.leave = lending.giving = true;
	ret.at_usec = 9000;
	report();
}

static void given_back(usec_t took)
{
	ret.done = true;
	ret.took_usec = (uint64_t)took;
	lending.leave = lending.giving = false;
	report();
}

static enum late cause(void)
{
	const struct ctl_late *late = ctl_late_of(&host->lending, 9000);

	return late ? late->why : LATE_NOT;
}

/* No report comes at the limit; the agent has been in time, or not. */
static bool silent_agent(void *ctl, usec_t took, usec_t late, enum late why)
{
	const struct ctl_rank *r;

	if (!step++) {
		begin(ctl);
		submit_one("h1", 0, 0);
		actor_keeper_starts(h1);
		owner_returned(0, SEC / 20);
		assert_int_equal(cause(), LATE_NOT);
	}
	r = rank_of(ctl);
	if (not_yet(r->had.late))
		return true;
	assert_int_equal(cause(), LATE_STAYED);
	given_back(took);
	assert_int_equal(cause(), why);
	assert_int_equal(r->had.late, why);
	assert_int_equal(r->had.late_usec, late);
	return false;
}

static bool silent_and_late(void *ctl)
{
	return silent_agent(ctl, SEC, SEC - SEC / 20, LATE_STAYED);
}

static bool silent_and_in_time(void *ctl)
{
	return silent_agent(ctl, SEC / 25, 0, LATE_NOT);
}

static bool heard_too_late(void *ctl)
{
	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	owner_returned(0, 60 * SEC);
	given_back(61 * SEC);
	assert_int_equal(cause(), LATE_UNHEARD);
	/* The guest ran once more, and both together took this. */
	given_back(62 * SEC);
	assert_int_equal(host->lending.nr_lates, 1);
	/* To a controller that has just been started. */
	host->lending = (struct ctl_lending){ .heard = false };
	given_back(62 * SEC);
	assert_int_equal(cause(), LATE_UNHEARD);
	return false;
}

/* In time at first, but then the guest runs again, as it moves. */
static bool runs_again(void *ctl)
{
	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	owner_returned(2, 60 * SEC);
	given_back(7);
	lending.give_back_usec = 1;
	lending.giving = true;
	ret.done = false;
	report();
	assert_int_equal(cause(), LATE_STAYED);
	given_back(401);
	assert_int_equal(rank_of(ctl)->had.late_usec, 400);
	assert_int_equal(rank_of(ctl)->had.give_back_usec, 7);
	return false;
}

static bool nobody_is_there(void *ctl)
{
	begin(ctl);
	owner_returned(2, 1);
	assert_int_equal(cause(), LATE_NOBODY);
	given_back(2);
	return false;
}

static bool somebody_comes(void *ctl)
{
	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	actor_migrate(admin, h2);
	host = ctl_host_find(ctl, "h2");
	agent = &h2;
	owner_returned(2, 1);
	assert_int_equal(cause(), LATE_COMING);
	given_back(2);
	agent = &h1;
	return false;
}

static bool somebody_is_removed(void *ctl)
{
	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	ctl_rank_done(rank_of(ctl), 0);
	owner_returned(2, 1);
	assert_int_equal(cause(), LATE_REMOVED);
	assert_int_equal(ctl_late_of(&host->lending, 9000)->job, 1);
	given_back(2);
	return false;
}

static void no_late_return_is_without_a_cause(void **state)
{
	bool (*const plays[])(void *) = {
		silent_and_late,     silent_and_in_time, heard_too_late,
		runs_again,	     nobody_is_there,	 somebody_comes,
		somebody_is_removed,
	};

	for (size_t i = 0; i < sizeof(plays) / sizeof(*plays); i++) {
		actors_run(plays[i], NULL);
		tear_down(state);
		set_up(state);
	}
}

/* What comes later is of an earlier time. */
static bool set_back(void *ctl)
{
	Control__OwnerReturn two = CONTROL__OWNER_RETURN__INIT;
	Control__OwnerReturn *list[] = { &ret, &two };

	begin(ctl);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	owner_returned(0, 60 * SEC);
	given_back(7);
	lending.last = list;
	lending.n_last = 2;
	two.at_usec = 5000;
	met(2, 7);
	two.done = true;
	two.took_usec = 5;
	met(2, 12);
	return false;
}

static void a_clock_that_is_set_back_hides_no_return(void **state)
{
	actors_run(set_back, NULL);
}

static void who_is_late_is_accounted_for(void **state)
{
	actors_run(takes_too_long, NULL);
}

static void returns_are_accounted_for(void **state)
{
	actors_run(come_back, NULL);
}

static bool lie(void *ctl)
{
	Control__OwnerReturn one = CONTROL__OWNER_RETURN__INIT;
	Control__OwnerReturn *list[CONTRACT_RETURNS + 1];

	begin(ctl);
	lending.closed = 99;
	is_lost(false);
	lending.closed = 99;
	owner_comes();
	is_lost(true);
	lending.give_back_usec = UINT64_MAX;
	is_lost(false);
	for (size_t i = 0; i <= CONTRACT_RETURNS; i++)
		list[i] = &one;
	lending.last = list;
	lending.n_last = CONTRACT_RETURNS + 1;
	is_lost(false);
	lending.last = list;
	lending.n_last = 2;
	report();
	assert_int_equal(host->lending.nr_last, 2);
	one.took_usec = UINT64_MAX; /* of both */
	report();
	assert_int_equal(host->lending.nr_last, 0);
	assert_int_equal(seen()->closed, CLOSED_NOT);
	return false;
}

static void nonsense_is_occupied(void **state)
{
	actors_run(lie, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_policy_sees_what_is_lent),
		TEST(returns_are_accounted_for),
		TEST(who_is_late_is_accounted_for),
		TEST(no_late_return_is_without_a_cause),
		TEST(a_clock_that_is_set_back_hides_no_return),
		TEST(spans_count_from_the_return),
		TEST(nonsense_is_occupied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
