/* test_ended.c - in which order a rank's end is told and its capsule removed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/keeper/priv.h"
#include "core/xalloc.h"
#include "fake_capsule.h"

/* A keeper whose rank has just ended, and whose agent is at the end of *ret. */
static struct keeper *ended_rank(int *ret)
{
	struct keeper *k = xcalloc(1, sizeof(*k));
	struct keeper_rank *rank = &k->rank;
	struct capsule_spec spec = {
		.name = "j.0",
		.run_dir = "/nowhere",
		.hostname = "h",
		.hosts = "",
	};
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	assert_true(sd_event_new(&k->event) >= 0);
	rank->k = k;
	rank->state = KEEPER__STATE__RUNNING;
	rank->have_exit = true;
	for (int i = 0; i < EXT_MAX; i++)
		rank->end[i].far = rank->end[i].near = -1;
	assert_int_equal(capsule_create(&spec, &rank->capsule, NULL), 0);
	k->agent.queue = keeper_queue_create();
	keeper_queue_restart(k->agent.queue, 0);
	k->agent.fd = sv[0];
	assert_true(sd_event_add_io(k->event, &k->agent.source, sv[0], 0, NULL,
				    k) >= 0);
	k->agent.ready = true;
	*ret = sv[1];
	return k;
}

static void free_keeper(struct keeper *k, int agent)
{
	sd_event_source_unref(k->agent.source);
	sd_event_unref(k->event);
	keeper_queue_destroy(k->agent.queue);
	close(k->agent.fd);
	close(agent);
	free(k);
}

static bool heard_exited(int agent)
{
	uint8_t buf[4096];
	ssize_t n = recv(agent, buf, sizeof(buf), MSG_DONTWAIT);
	Keeper__Event *ev;
	bool exited;

	if (n < 0)
		return false;
	ev = keeper__event__unpack(NULL, (size_t)n, buf);
	assert_non_null(ev);
	exited = ev->body_case == KEEPER__EVENT__BODY_EXITED;
	keeper__event__free_unpacked(ev, NULL);
	return exited;
}

static bool loop_ended(const struct keeper *k)
{
	int code;

	return sd_event_get_exit_code(k->event, &code) >= 0;
}

/* Nobody waits for what the kernel needs to remove links and groups. */
static void told_first(void **state)
{
	struct keeper *k;
	int agent;

	k = ended_rank(&agent);
	keeper_maybe_exited(&k->rank);
	assert_true(fake_capsule_ended());
	assert_true(fake_capsule_there());
	assert_true(heard_exited(agent));
	/* The agent is quick: the keeper stays until all is removed. */
	keeper_queue_ack(k->agent.queue, 1);
	keeper_maybe_end(k);
	assert_false(loop_ended(k));
	assert_true(sd_event_run(k->event, 0) > 0);
	assert_false(fake_capsule_there());
	assert_true(loop_ended(k));
	free_keeper(k, agent);
}

/* And it is removed where the agent takes its time, or has gone. */
static void removed_unheard(void **state)
{
	struct keeper *k;
	int agent;

	k = ended_rank(&agent);
	k->agent.ready = false;
	keeper_maybe_exited(&k->rank);
	assert_false(heard_exited(agent));
	assert_true(sd_event_run(k->event, 0) > 0);
	assert_false(fake_capsule_there());
	assert_false(loop_ended(k));
	free_keeper(k, agent);
}

/* What does not die is dealt with before anybody is told that it is over. */
static void undead(void **state)
{
	struct keeper *k;
	int agent;

	k = ended_rank(&agent);
	fake_capsule_dies(false);
	keeper_maybe_exited(&k->rank);
	assert_false(fake_capsule_there());
	assert_true(heard_exited(agent));
	fake_capsule_dies(true);
	free_keeper(k, agent);
}

/* A keeper that is told to end meanwhile leaves nothing. */
static void hurried(void **state)
{
	struct keeper *k;
	int agent;

	k = ended_rank(&agent);
	keeper_maybe_exited(&k->rank);
	assert_true(fake_capsule_there());
	keeper_drop_capsule(&k->rank);
	assert_false(fake_capsule_there());
	free_keeper(k, agent);
}

/* A rank that has left is gone from here before its new place is told so. */
static void dropped(void **state)
{
	struct keeper *k;
	int agent;

	k = ended_rank(&agent);
	keeper_drop_capsule(&k->rank);
	assert_true(fake_capsule_ended());
	assert_false(fake_capsule_there());
	assert_null(k->rank.burial);
	free_keeper(k, agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_first), cmocka_unit_test(removed_unheard),
		cmocka_unit_test(undead),     cmocka_unit_test(hurried),
		cmocka_unit_test(dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
