/*
 * test_lies.c - a host with a good key, and a user, that lie in every field
 *
 * Job 1 is an administrator's, with a rank on h2, which is honest; of job 2 a
 * rank is on each of h1, the liar, and h2.  An input is steps, each a byte for
 * who (h1, user/daemon, or h1 that connects anew) and the bytes of a message
 * (lie.h).  Whatever they say, job 1 and h2 are as they were.
 */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/state/find.h"
#include "lie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct lie_bytes bytes;
static struct conn *admin, *h1, *h2, *user;

static void heard(struct conn *c, const Control__Message *m)
{
}

static void keeper_says(struct conn *c, uint64_t job, uint32_t rank,
			uint64_t epoch, ProtobufCBinaryData what)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	Control__KeeperPacket packet = CONTROL__KEEPER_PACKET__INIT;
	char text[] = { (char)('0' + job), 0 };

	name.job = text;
	name.rank = rank;
	name.epoch = epoch;
	packet.name = &name;
	packet.data = what;
	if (fake_alive(c))
		actor_say(c, MESSAGE_BODY(KEEPER_PACKET), &packet);
}

static void keeper_hello(struct conn *c, uint64_t job, uint32_t rank,
			 uint64_t epoch, uint8_t state)
{
	Keeper__Hello hello = KEEPER__HELLO__INIT;
	Keeper__Status status = KEEPER__STATUS__INIT;
	Keeper__Event e = KEEPER__EVENT__INIT;
	uint8_t buf[64];

	hello.version = KEEPER__VERSION__MAJOR;
	hello.status = &status;
	status.state = state;
	e.body_case = KEEPER__EVENT__BODY_HELLO;
	e.hello = &hello;
	keeper_says(c, job, rank, epoch,
		    (ProtobufCBinaryData){ keeper__event__pack(&e, buf), buf });
}

static void start_both(void)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Keeper__Started started = KEEPER__STARTED__INIT;
	char *argv[] = { (char *)"true" };
	char *hosts[] = { (char *)"h1", (char *)"h2" };

	actor_submit(admin, "h2");
	actor_keeper_hello(h2, 0, KEEPER__STATE__EMPTY, 0);
	actor_keeper(h2, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
	s.argv = argv;
	s.hosts = hosts;
	s.n_argv = 1;
	s.n_hosts = s.ranks = 2;
	s.uid = getuid();
	actor_say(actor_greet("admin/root", -1), MESSAGE_BODY(SUBMIT), &s);
	keeper_hello(h1, 2, 0, 0, KEEPER__STATE__EMPTY);
	keeper_hello(h2, 2, 1, 0, KEEPER__STATE__EMPTY);
}

static void check(struct ctl *ctl)
{
	const struct ctl_job *job = ctl_job_find(ctl, 1);
	const struct ctl_host *h = ctl_host_find(ctl, "h2");

	assert(job && job->state == STATE(RUNNING) && !job->exit && !*job->why);
	assert(job->client && job->client->conn == admin);
	assert(job->ranks[0].state == STATE(RUNNING));
	assert(job->ranks[0].host == h && !job->ranks[0].epoch);
	assert(!job->ranks[0].move && !job->ranks[0].signals.waiting);
	assert(!job->spec->stopping && klink_of(&job->ranks[0]));
	assert(fake_alive(h2) && h->agent && h->agent->conn == h2);
	assert(!h->drain && h->cores == 1 && !strcmp(h->address, "10.0.0.1"));
	TAILQ_FOREACH (job, &ctl->jobs.list, link)
		if (job->id > 2)
			assert(!strcmp(job->spec->user, "daemon") &&
			       job->spec->uid && !job->spec->n_groups);
}

static void say_lie(struct conn *c)
{
	size_t n;
	uint8_t *p = lie_packed(&bytes, &control__message__descriptor, &n);

	if (fake_alive(c))
		fake_receive(c, p, n);
	free(p);
}

/* A keeper of job 1 or 2, rank 0 or 1, and epoch 0 to 3, whoever has it. */
static void keeper_lies(struct conn *c)
{
	uint8_t which = lie_byte(&bytes);
	uint64_t job = 1 + (which & 1), epoch = which >> 2 & 3;
	uint32_t rank = which >> 1 & 1;
	ProtobufCBinaryData what;

	if (which & 0x80) {
		keeper_hello(c, job, rank, epoch, which >> 4 & 7);
		return;
	}
	what.data = lie_packed(&bytes, &keeper__event__descriptor, &what.len);
	keeper_says(c, job, rank, epoch, what);
	free(what.data);
}

static bool play(void *ctx)
{
	static const struct ctl *begun;
	uint8_t who;

	if (begun != ctx || !admin) {
		begun = ctx;
		admin = actor_greet("admin/root", -1);
		h1 = actor_greet("host/h1", -1);
		h2 = actor_greet("host/h2", -1);
		user = actor_greet("user/daemon", -1);
		start_both();
	}
	check(ctx);
	if (bytes.at == bytes.end)
		return false;
	who = lie_byte(&bytes) % 16;
	if (!fake_alive(user))
		user = actor_greet("user/daemon", -1);
	if (who == 15 || !fake_alive(h1))
		h1 = who & 1 ? fake_accept("host/h1")
			     : actor_greet("host/h1", who / 4);
	if (who > 6)
		keeper_lies(h1);
	else
		say_lie(who < 4 ? user : h1);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bytes = (struct lie_bytes){ data, data + size };
	admin = NULL;
	actors_said = heard;
	actors_begin();
	actors_run(play, NULL);
	return 0;
}
