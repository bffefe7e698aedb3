/*
 * test_flood.c - what a user makes the controller say through an agent waits
 * while that agent's connection is full, and is said when it is not: else one
 * user's flood would end the connection, for everybody's ranks there
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors.h"

enum { FULL = CONN_QUEUE_MAX / 2, ASKED_MAX = 32 };

static unsigned asked[ASKED_MAX]; /* of the keeper, by body */
static unsigned rooms;		  /* that the client was told of */

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	assert_in_range(q->body_case, 0, ASKED_MAX - 1);
	asked[q->body_case]++;
}

static void on_said(struct conn *c, const Control__Message *m)
{
	rooms += m->body_case == MESSAGE_BODY(STDIN_ROOM);
}

#define ASKED(NAME) asked[KEEPER__REQUEST__BODY_##NAME]

static void type(struct conn *client)
{
	Control__Stdin s = CONTROL__STDIN__INIT;

	s.job = 1;
	s.data.data = (uint8_t *)"x";
	s.data.len = 1;
	actor_say(client, MESSAGE_BODY(STDIN_DATA), &s);
}

static bool floods(void *ctx)
{
	Keeper__Started started = KEEPER__STARTED__INIT;
	Keeper__PmiFence fence = KEEPER__PMI_FENCE__INIT;
	Control__Signal kill_it = CONTROL__SIGNAL__INIT;
	struct conn *h1 = actor_greet("host/h1", -1),
		    *admin = actor_greet("admin/root", -1);

	actors_asked = on_asked;
	actors_said = on_said;
	actor_submit(admin, "h1");
	fake_queue(h1, FULL);
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	assert_int_equal(ASKED(START), 0);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(START), 1);
	actor_keeper(h1, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);

	fake_queue(h1, FULL);
	rooms = 0;
	type(admin);
	assert_int_equal(ASKED(STDIN_DATA), 0);
	fake_queue(h1, 0);
	assert_int_equal(rooms, 1);
	type(admin);
	assert_int_equal(ASKED(STDIN_DATA), 1);

	fake_queue(h1, FULL);
	actor_keeper(h1, 0, 0, 0, KEEPER__EVENT__BODY_PMI_FENCE, &fence);
	assert_int_equal(ASKED(PMI_RELEASE), 0);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(PMI_RELEASE), 1);

	fake_queue(h1, FULL);
	kill_it.job = 1;
	kill_it.signo = SIGKILL;
	for (unsigned i = 0; i < 100; i++)
		actor_say(admin, MESSAGE_BODY(SIGNAL), &kill_it);
	assert_int_equal(ASKED(KILL), 1);
	fake_queue(h1, 0);
	assert_int_equal(ASKED(START), 1);
	assert_true(fake_alive(h1));
	return false;
}

static void what_is_too_much_waits(void **state)
{
	actors_begin();
	actors_run(floods, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_too_much_waits),
	};

	return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
