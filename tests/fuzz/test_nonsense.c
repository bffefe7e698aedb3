/*
 * test_nonsense.c - figures that are none, more than anybody may, words for a terminal,
 * what is another's: users that come in crowds keep nobody else out, and no field gains
 * who lies in it
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/conn/known.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"

static int step;

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

/* ---- a client of a later version */

static unsigned submitted, lacking;

static void on_newer(struct conn *c, const Control__Message *m)
{
	submitted += m->body_case == MESSAGE_BODY(SUBMITTED);
	if (m->body_case == MESSAGE_BODY(FAILED))
		lacking = m->failed->unknown;
}

/* Its acknowledgement of output, which nobody answers. */
static void no_request(struct conn *c, ProtobufCMessageUnknownField *field)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	Control__OutputAck ack = CONTROL__OUTPUT_ACK__INIT;
	uint8_t buf[100];

	ack.base.unknown_fields = field;
	ack.base.n_unknown_fields = 1;
	m.body_case = MESSAGE_BODY(OUTPUT_ACK);
	m.output_ack = &ack;
	assert_in_range(control__message__get_packed_size(&m), 1, sizeof(buf));
	fake_receive(c, buf, control__message__pack(&m, buf));
}

/* It asks for what would not be done: only what may be dropped is. */
static bool newer(void *ctx)
{
	static const unsigned tags[] = { 500, KNOWN_MAY_DROP };
	struct conn *h1 = actor_greet("host/h1", -1),
		    *admin = actor_greet("admin/root", -1);
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };
	uint8_t one[] = { 1 };
	ProtobufCMessageUnknownField field = { .len = 1, .data = one };

	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.uid = getuid();
	s.detached = true;
	s.base.unknown_fields = &field;
	s.base.n_unknown_fields = 1;
	for (unsigned i = 0; i < 2; i++) {
		field.tag = tags[i];
		actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
		assert_int_equal(submitted, i);
		assert_int_equal(lacking, 500);
	}
	lacking = 0;
	field.tag = 500;
	no_request(admin, &field);
	assert_int_equal(lacking, 0);
	/* agents say more as they know more */
	report.base = s.base;
	report.base.descriptor = &control__host_report__descriptor;
	actor_say(h1, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(lacking, 0);
	assert_true(fake_alive(h1));
	return false;
}

static void what_is_not_known_is_refused(void **state)
{
	actors_begin();
	actors_said = on_newer;
	actors_run(newer, NULL);
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
		actor_keeper_starts(lh1);
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
	actor_keeper_starts(h1);
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
	actor_keeper_starts(h1);
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
	Control__GetRecord record = CONTROL__GET_RECORD__INIT;
	Control__Drain drain = CONTROL__DRAIN__INIT;
	char *hosts[] = { (char *)"h1" };
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
	actor_keeper_starts(lh1);
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
	refused = false;
	drain.hosts = hosts;
	drain.n_hosts = 1;
	actor_say(lada, MESSAGE_BODY(DRAIN), &drain);
	assert_true(refused && !ctl_host_find(ctl, "h1")->drain);
	refused = false;
	actor_say(lada, MESSAGE_BODY(GET_RECORD), &record);
	assert_true(refused);
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
		cmocka_unit_test(users_leave_room),
		cmocka_unit_test(numbers_that_are_none),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(more_than_it_may),
		cmocka_unit_test(ends_have_their_reasons),
		cmocka_unit_test(words_and_what_is_anothers),
	};

	return cmocka_run_group_tests_name("nonsense", tests, NULL, NULL);
}
