/*
 * test_waiters.c - who waits for an answer gets it, once, while both are there
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors.h"

#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/waiters.h"

enum { REQUEST = 1 }; /* the id of all that actor_say() says */

static struct conn *agent, *client, *other;
static uint64_t asked;	 /* the number of what the agent was asked last */
static unsigned refused; /* times the agent was */

/* What a client was told last, and how often anything. */
static struct {
	struct conn *to;
	Control__Message__BodyCase what;
	uint64_t re;
	int code;
	unsigned times, ok, drained;
	char why[200];
} told;

static void on_said(struct conn *c, const Control__Message *m)
{
	if (c == agent) {
		refused += m->body_case == MESSAGE_BODY(FAILED);
		asked = m->id;
		return;
	}
	told.to = c;
	told.what = m->body_case;
	told.re = m->re;
	told.times++;
	told.ok += m->body_case == MESSAGE_BODY(OK);
	told.drained += m->body_case == MESSAGE_BODY(DRAINED);
	*told.why = 0;
	if (m->body_case == MESSAGE_BODY(DRAINED))
		strncat(told.why, m->drained->why, sizeof(told.why) - 1);
	if (m->body_case != MESSAGE_BODY(FAILED))
		return;
	strncat(told.why, m->failed->why, sizeof(told.why) - 1);
	told.code = m->failed->code;
}

static int set_up(void **state)
{
	actors_said = on_said;
	actors_begin();
	agent = client = other = NULL;
	refused = 0;
	return 0;
}

static int tear_down(void **state)
{
	actors_said = NULL;
	return 0;
}

static void all_come(void)
{
	agent = actor_greet("host/h1", -1);
	client = actor_greet("admin/root", -1);
	other = actor_greet("admin/second", -1);
	memset(&told, 0, sizeof(told));
}

static struct ctl_peer *peer_of(struct ctl *ctl, const struct conn *c)
{
	struct ctl_peer *p;

	LIST_FOREACH (p, &ctl->front->peers, link)
		if (p->conn == c)
			return p;
	fail_msg("it is not connected");
	return NULL;
}

/* The client asks h1; the number of what its agent is asked then, 0: nothing. */
static uint64_t ask(const char *host)
{
	Control__OwnerAsk body = CONTROL__OWNER_ASK__INIT;

	asked = 0;
	body.host = (char *)host;
	actor_say(client, MESSAGE_BODY(OWNER_ASK), &body);
	return asked;
}

static void answer_host(uint64_t re)
{
	Control__OwnerHost host = CONTROL__OWNER_HOST__INIT;

	actor_answer(agent, re, MESSAGE_BODY(OWNER_HOST), &host);
}

static void answer_ok(uint64_t re)
{
	Control__Ok ok = CONTROL__OK__INIT;

	actor_answer(agent, re, MESSAGE_BODY(OK), &ok);
}

static void answer_failed(uint64_t re, const char *why)
{
	Control__Failed failed = CONTROL__FAILED__INIT;

	failed.why = (char *)why;
	failed.code = -EIO;
	actor_answer(agent, re, MESSAGE_BODY(FAILED), &failed);
}

static bool answers(void *ctl)
{
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	uint64_t first, second;

	all_come();
	first = ask("h1");
	second = ask("h1");
	assert_true(first && second && first != second);
	answer_host(first + second); /* to nothing */
	answer_ok(first);	     /* which is no answer to this */
	actor_answer(agent, first, MESSAGE_BODY(HOST_REPORT), &report);
	assert_int_equal(told.times, 0); /* nothing that was asked for */
	assert_int_equal(refused, 0);	 /* or it would hang up */
	answer_failed(second, "no\033[2Jway");
	assert_ptr_equal(told.to, client);
	assert_int_equal(told.re, REQUEST);
	assert_int_equal(told.what, MESSAGE_BODY(FAILED));
	assert_int_equal(told.code, -EIO);
	assert_string_equal(told.why, "no?[2Jway");
	answer_host(first);
	assert_int_equal(told.what, MESSAGE_BODY(OWNER_HOST));
	assert_int_equal(told.times, 2);
	answer_host(first); /* once */
	answer_host(second);
	assert_int_equal(told.times, 2);
	answer_failed(ask("h1"), ""); /* its agent does not say why */
	assert_string_equal(told.why, "");
	assert_int_equal(told.times, 3);
	return false;
}

static bool agent_goes(void *ctl)
{
	all_come();
	ask("h1");
	fake_hang_up(agent);
	fake_turn();
	assert_int_equal(told.what, MESSAGE_BODY(FAILED));
	assert_int_equal(told.re, REQUEST);
	assert_int_equal(told.code, -EHOSTDOWN);
	ask("h1");
	assert_int_equal(told.times, 2);
	assert_int_equal(told.code, -EHOSTDOWN);
	return false;
}

static bool agent_comes_twice(void *ctl)
{
	all_come();
	ask("h1");
	actor_greet("host/h1", -1);
	assert_int_equal(told.code, -EHOSTDOWN);
	return false;
}

static bool no_such_host(void *ctl)
{
	all_come();
	assert_int_equal(ask("h9"), 0);
	assert_int_equal(told.code, -ENOENT);
	return false;
}

static bool client_goes(void *ctl)
{
	uint64_t number;

	all_come();
	number = ask("h1");
	fake_hang_up(client);
	fake_turn();
	assert_true(TAILQ_EMPTY(&ctl_host_find(ctl, "h1")->asked));
	answer_host(number);
	assert_int_equal(told.times, 0);
	return false;
}

static bool many(void *ctl)
{
	unsigned n = 0;

	all_come();
	while (!told.times && n < 10000)
		n += ask("h1") != 0;
	assert_in_range(n, 8, 1000);
	assert_int_equal(told.code, -EBUSY);
	return false;
}

static void an_agents_answer_is_handed_on(void **state)
{
	actors_run(answers, NULL);
	actors_run(agent_goes, NULL);
	actors_run(agent_comes_twice, NULL);
	actors_run(no_such_host, NULL);
	actors_run(client_goes, NULL);
	actors_run(many, NULL);
}

static bool start_fails(void *ctl)
{
	const struct ctl_job *job;

	all_come();
	actor_submit(client, "h1");
	job = ctl_job_find(ctl, 1);
	answer_failed(asked + 1, "of another");
	/* Nothing of it has begun, so it is tried again, but not for ever. */
	for (int i = 0; i < 4; i++) {
		assert_int_equal(job->state, STATE(STARTING));
		answer_failed(asked, "no room");
	}
	assert_int_equal(job->state, STATE(DONE));
	assert_non_null(strstr(job->why, "no room"));
	assert_true(TAILQ_EMPTY(&ctl_host_find(ctl, "h1")->asked));
	actor_submit(client, "h1");
	answer_ok(asked);
	assert_true(TAILQ_EMPTY(&ctl_host_find(ctl, "h1")->asked));
	assert_int_equal(ctl_job_find(ctl, 2)->state, STATE(STARTING));
	return false;
}

static void a_start_that_fails_again_and_again_ends_its_job(void **state)
{
	actors_run(start_fails, NULL);
}

/* ---- drains */

static void drain(struct conn *c)
{
	Control__Drain d = CONTROL__DRAIN__INIT;
	char *hosts[] = { (char *)"h1", (char *)"h1" };

	d.hosts = hosts;
	d.n_hosts = 2;
	d.wait = true;
	actor_say(c, MESSAGE_BODY(DRAIN), &d);
}

static bool drains(void *ctl)
{
	const struct ctl_host *h;

	all_come();
	h = ctl_host_find(ctl, "h1");
	drain(client); /* nothing is there */
	assert_int_equal(told.drained, 1);
	assert_int_equal(told.ok, 1);
	ctl_wait(&ctl_host_find(ctl, "h1")->drainers, peer_of(ctl, client), 7);
	ctl_wait(&ctl_host_find(ctl, "h1")->drainers, peer_of(ctl, client), 7);
	drain(other);
	assert_int_equal(told.drained, 3); /* who waited, and then the other */
	assert_int_equal(told.ok, 3);
	assert_ptr_equal(told.to, other);
	ctl_wait(&ctl_host_find(ctl, "h1")->drainers, peer_of(ctl, client), 7);
	assert_false(TAILQ_EMPTY(&h->drainers));
	fake_hang_up(client);
	fake_turn();
	assert_true(TAILQ_EMPTY(&h->drainers));
	return false;
}

static void who_drains_hears_of_it_once(void **state)
{
	actors_run(drains, NULL);
}

static bool floods(void *ctl)
{
	enum { MOST = 4096 };
	struct ctl_host *h;

	all_come();
	h = ctl_host_find(ctl, "h1");
	for (uint64_t re = 1; re <= MOST; re++)
		ctl_wait(&h->drainers, peer_of(ctl, client), re);
	ctl_wait(&h->drainers, peer_of(ctl, client), MOST); /* as before */
	assert_int_equal(told.times, 0);
	ctl_wait(&h->drainers, peer_of(ctl, client), MOST + 1);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.re, MOST + 1);
	assert_int_equal(told.code, -EBUSY);
	return false;
}

static void nobody_waits_for_too_much(void **state)
{
	actors_run(floods, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agents_answer_is_handed_on),
		TEST(a_start_that_fails_again_and_again_ends_its_job),
		TEST(who_drains_hears_of_it_once),
		TEST(nobody_waits_for_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
