/*
 * test_liar.c - a host that says it has another host's rank is not believed,
 * users that come in crowds keep nobody else out, and no field gains who lies in it
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/controller/front/priv.h"
#include "cluster/controller/sched/sched.h"
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

/* ---- crowds of users */

static bool users_come(void *ctx)
{
	static struct conn *users[8], *host, *admin;
	struct ctl *ctl = ctx;
	unsigned n = 0;

	if (!step++) {
		assert_in_range(ctl->front->users_max, 1,
				ctl->front->conns_max - 1);
		ctl->front->users_max = 3;
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

/* ---- hosts and clients that lie about everything */

static struct conn *lh1, *lh2, *lada;
static bool refused;

static void on_refused(struct conn *c, const Control__Message *m)
{
	refused |= m->body_case == MESSAGE_BODY(FAILED);
}

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
	start_at(h1);
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

/* Numbers that are none, about a host. */
static bool nonsense(void *ctx)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY, -1, 1e300 };
	struct ctl *ctl = ctx;
	Control__HostReport rep = CONTROL__HOST_REPORT__INIT;
	Control__Presence away = CONTROL__PRESENCE__INIT;
	Control__Hello hello = CONTROL__HELLO__INIT;
	Control__AgentInfo info = CONTROL__AGENT_INFO__INIT;
	struct conn *h1 = actor_greet("host/h1", -1), *h2;
	const struct host *v;

	rep.idle_usec = UINT64_MAX;
	rep.users = UINT32_MAX;
	rep.memory_free = UINT64_MAX;
	hello.version = CONTROL__VERSION__MAJOR;
	hello.agent = &info;
	info.address = (char *)"10.0.0.2";
	info.net = (char *)"none";
	info.cores = 1;
	for (size_t i = 0; i < 5; i++) {
		rep.load = rep.runnable = rep.pressure = bad[i];
		actor_say(h1, MESSAGE_BODY(HOST_REPORT), &rep);
		v = &ctl_sched_view(ctl)->hosts[ctl_host_find(ctl, "h1")->ix];
		assert_true(v->load > 1000 && v->load <= 1e6);
		assert_true(v->owner_active && v->idle_since == USEC_MAX);
		/* It has said that it has none at all. */
		assert_int_equal(ctl_host_find(ctl, "h1")->report.memory_free,
				 0);
		h2 = fake_accept("host/h2");
		info.score = bad[i];
		actor_say(h2, MESSAGE_BODY(HELLO), &hello);
		assert_false(fake_alive(h2));
		assert_true(v->speed == 1);
	}
	rep.presence = &away;
	away.idle_usec = away.since_usec = UINT64_MAX;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &rep);
	v = &ctl_sched_view(ctl)->hosts[ctl_host_find(ctl, "h1")->ix];
	assert_true(!v->owner_active && v->idle_since >= 0 &&
		    v->idle_since <= ctl_now());
	away.cause = PRESENCE_INPUT; /* of one who is away */
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &rep);
	assert_true(v->owner_active);
	away.here = true;
	away.cause = UINT32_MAX;
	away.who = (char *)"\033[2J";
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &rep);
	assert_int_equal(ctl_host_find(ctl, "h1")->owner.cause,
			 PRESENCE_UNREADABLE);
	away.cause = PRESENCE_INPUT;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &rep);
	assert_string_equal(ctl_host_find(ctl, "h1")->owner.who, "?[2J");
	info.score = 1;
	info.net = (char *)"\033[2J";
	h2 = fake_accept("host/h2");
	actor_say(h2, MESSAGE_BODY(HELLO), &hello);
	assert_false(fake_alive(h2));
	return false;
}

static void numbers_that_are_none(void **state)
{
	actors_begin();
	actors_run(nonsense, NULL);
}

/* Output of no stream, too much of it, an end with any number, keepers of any
 * name: its own rank may end by that, and nothing else. */
static bool too_much(void *ctx)
{
	static uint8_t big[64 << 10];
	struct ctl *ctl = ctx;
	struct ctl_job *job;
	Keeper__Output o = KEEPER__OUTPUT__INIT;
	Keeper__Exited end = KEEPER__EXITED__INIT;
	struct klink *k;
	unsigned n = 0;

	switch (step++) {
	case 0:
		lh1 = actor_greet("host/h1", -1);
		lh2 = actor_greet("host/h2", -1);
		actor_submit(actor_greet("admin/root", -1), "h1");
		start_at(lh1);
		for (uint64_t e = 1; e < 5000; e++)
			actor_keeper_hello(lh2, e, KEEPER__STATE__LEFT, 0);
		for (size_t i = 0; i < ctl->hosts.nr; i++)
			TAILQ_FOREACH (k, &ctl->hosts.at[i]->klinks, link)
				n += !k->job;
		assert_in_range(n, 1, 1024);
		o.stream = 7;
		actor_keeper(lh1, 0, 2, 0, KEEPER__EVENT__BODY_OUTPUT, &o);
		o.stream = 1;
		o.data.data = big;
		o.data.len = sizeof(big);
		for (uint64_t i = 3; i < 100 && fake_alive(lh1); i++) {
			o.offset = i % 2 ? UINT64_MAX - 5 : 0;
			actor_keeper(lh1, 0, i, 0, KEEPER__EVENT__BODY_OUTPUT,
				     &o);
		}
		k = klink_at(ctl_host_find(ctl, "h1"), 1, 0, 0);
		assert_true(k && k->out.held <= 4 << 20);
		return true;
	case 1:
		assert_false(fake_alive(lh1));
		assert_true(fake_alive(lh2));
		lh1 = actor_greet("host/h1", 0);
		actor_keeper_hello(lh1, 0, KEEPER__STATE__RUNNING, 0);
		end.signaled = true;
		end.code = INT32_MAX;
		actor_keeper(lh1, 0, 1000, 0, KEEPER__EVENT__BODY_EXITED, &end);
		job = TAILQ_FIRST(&ctl->jobs.list);
		assert_int_equal(job->ranks[0].state, STATE(DONE));
		assert_in_range(job->exit, 1, 255);
		return false;
	}
	return false;
}

/* Without a key they are two jobs; the ends of both have their own reasons. */
static bool ends(void *ctx)
{
	struct ctl *ctl = ctx;
	struct conn *h1 = actor_greet("host/h1", -1),
		    *admin = actor_greet("admin/root", -1);
	Keeper__Exited end = KEEPER__EXITED__INIT;
	struct ctl_job *job;

	actor_submit(admin, "h1");
	actor_submit(admin, "h1");
	job = TAILQ_FIRST(&ctl->jobs.list);
	assert_non_null(TAILQ_NEXT(job, link));
	start_at(h1);
	end.signaled = end.killed = true;
	end.code = SIGKILL;
	end.memory_kills = 1; /* of a child, before we killed it */
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &end);
	assert_int_equal(job->exit, 128 + SIGKILL);
	assert_non_null(strstr(job->why, "was ended by signal 9"));
	return false;
}

/* The last signal is one, too. */
static bool last_signal(void *ctx)
{
	struct ctl *ctl = ctx;
	struct conn *h1 = actor_greet("host/h1", -1);
	Keeper__Exited end = KEEPER__EXITED__INIT;

	actor_submit(actor_greet("admin/root", -1), "h1");
	start_at(h1);
	end.signaled = true;
	end.code = 64;
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &end);
	assert_int_equal(TAILQ_FIRST(&ctl->jobs.list)->exit, 128 + 64);
	return false;
}

static void ends_have_their_reasons(void **state)
{
	actors_begin();
	actors_run(ends, NULL);
	actors_begin();
	actors_run(last_signal, NULL);
}

static void more_than_it_may(void **state)
{
	actors_begin();
	step = 0;
	actors_run(too_much, NULL);
}

/* Words that a terminal would obey, and who is asked for another's. */
static bool words(void *ctx)
{
	struct ctl *ctl = ctx;
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveProgress progress = KEEPER__MOVE_PROGRESS__INIT;
	Control__OutputAck ack = CONTROL__OUTPUT_ACK__INIT;
	Control__Attach attach = CONTROL__ATTACH__INIT;
	Control__Signal sig = CONTROL__SIGNAL__INIT;
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Keeper__Output o = KEEPER__OUTPUT__INIT;
	uint32_t groups[] = { 0, 42 };
	char *argv[] = { (char *)"true" };
	struct ctl_job *job;
	struct klink *k;

	lh1 = actor_greet("host/h1", -1);
	lh2 = actor_greet("host/h2", -1);
	actor_submit(actor_greet("admin/root", -1), "h1");
	start_at(lh1);
	job = TAILQ_FIRST(&ctl->jobs.list);
	o.stream = 1;
	o.data.data = (uint8_t *)"x";
	o.data.len = 1;
	actor_keeper(lh1, 0, 2, 0, KEEPER__EVENT__BODY_OUTPUT, &o);
	lada = actor_greet("user/ada", -1);
	actors_said = on_refused;
	ack.job = attach.job = sig.job = 1;
	ack.seq = 2;
	actor_say(lada, MESSAGE_BODY(OUTPUT_ACK), &ack);
	k = klink_at(ctl_host_find(ctl, "h1"), 1, 0, 0);
	assert_int_equal(k->out.nr, 1);
	refused = false;
	actor_say(lada, MESSAGE_BODY(ATTACH), &attach);
	assert_true(refused && job->client && job->client->conn != lada);
	refused = false;
	actor_say(lada, MESSAGE_BODY(SIGNAL), &sig);
	assert_true(refused && !job->spec->stopping);
	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.groups = groups;
	s.n_groups = 2;
	s.user = (char *)"root";
	refused = false;
	actor_say(lada, MESSAGE_BODY(SUBMIT), &s);
	assert_true(refused && !TAILQ_NEXT(job, link));
	actors_said = NULL;
	actor_migrate(TAILQ_FIRST(&ctl->jobs.list)->client->conn, lh2);
	progress.epoch = done.epoch = 1;
	progress.text = (char *)"\033]0;owned\a\xc2\x9b"
				"31m\r\n";
	actor_keeper(lh2, 1, 0, 0, KEEPER__EVENT__BODY_MOVE_PROGRESS,
		     &progress);
	done.outcome = KEEPER__OUTCOME__DISCARDED;
	done.why = progress.text;
	actor_keeper(lh2, 1, 1, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	assert_non_null(job->ranks[0].move);
	assert_string_equal(job->ranks[0].move->report.why, "?]0;owned??31m  ");
	return false;
}

static void words_and_what_is_anothers(void **state)
{
	actors_begin();
	actors_run(words, NULL);
	actors_said = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_liar_is_not_believed),
		cmocka_unit_test(leftovers_after_a_restart),
		cmocka_unit_test(users_leave_room),
		cmocka_unit_test(each_end_speaks_for_itself),
		cmocka_unit_test(numbers_that_are_none),
		cmocka_unit_test(more_than_it_may),
		cmocka_unit_test(ends_have_their_reasons),
		cmocka_unit_test(words_and_what_is_anothers),
	};

	return cmocka_run_group_tests_name("liar", tests, NULL, NULL);
}
