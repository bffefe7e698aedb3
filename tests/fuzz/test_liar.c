/*
 * test_liar.c - a host that says it has another host's rank is not believed
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller_priv.h"
#include "cluster/keys.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "fake_conn.h"

static struct conn *admin, *h1, *h2;
static int step;

static void say(struct conn *c, Control__Message__BodyCase what, void *body)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	uint8_t *buf;

	m.id = 1;
	m.body_case = what;
	m.hello = body;
	buf = xmalloc(control__message__get_packed_size(&m));
	fake_receive(c, buf, control__message__pack(&m, buf));
	free(buf);
}

static struct conn *greet(const char *identity)
{
	Control__Hello hello = CONTROL__HELLO__INIT;
	Control__AgentInfo agent = CONTROL__AGENT_INFO__INIT;
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	struct conn *c = fake_accept(identity);

	hello.version = CONTROL__VERSION__MAJOR;
	agent.boot_id = (char *)identity;
	agent.address = (char *)"10.0.0.1";
	agent.cores = 1;
	agent.net = (char *)"none";
	agent.report = &report;
	hello.agent = *identity == 'h' ? &agent : NULL;
	say(c, MESSAGE_BODY(HELLO), &hello);
	return c;
}

/* What a keeper of rank 1.0 on that agent's host says. */
static void keeper(struct conn *c, uint64_t epoch, Keeper__Event__BodyCase what,
		   void *body)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	Control__KeeperPacket packet = CONTROL__KEEPER_PACKET__INIT;
	Keeper__Event e = KEEPER__EVENT__INIT;

	name.job = (char *)"1";
	name.epoch = epoch;
	e.body_case = what;
	e.hello = body;
	packet.name = &name;
	packet.data.data = xmalloc(keeper__event__get_packed_size(&e));
	packet.data.len = keeper__event__pack(&e, packet.data.data);
	say(c, MESSAGE_BODY(KEEPER_PACKET), &packet);
	free(packet.data.data);
}

/* It says all that could hurt the job. */
static void claim(struct conn *c, uint64_t epoch)
{
	Keeper__Hello hello = KEEPER__HELLO__INIT;
	Keeper__Status status = KEEPER__STATUS__INIT;
	Keeper__PmiAbort gone = KEEPER__PMI_ABORT__INIT;
	Keeper__PmiFence fence = KEEPER__PMI_FENCE__INIT;
	Keeper__Exited exited = KEEPER__EXITED__INIT;
	Keeper__Started started = KEEPER__STARTED__INIT;

	hello.version = KEEPER__VERSION__MAJOR;
	hello.status = &status;
	status.state = KEEPER__STATE__RUNNING;
	fence.generation = 77; /* no such barrier: would end the job */
	exited.code = 3;
	keeper(c, epoch, KEEPER__EVENT__BODY_HELLO, &hello);
	keeper(c, epoch, KEEPER__EVENT__BODY_STARTED, &started);
	keeper(c, epoch, KEEPER__EVENT__BODY_PMI_FENCE, &fence);
	keeper(c, epoch, KEEPER__EVENT__BODY_PMI_ABORT, &gone);
	keeper(c, epoch, KEEPER__EVENT__BODY_EXITED, &exited);
}

static void submit(void)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" }, *hosts[] = { (char *)"h1" };

	s.argv = argv;
	s.hosts = hosts;
	s.n_argv = s.n_hosts = s.ranks = 1;
	s.uid = getuid();
	say(admin, MESSAGE_BODY(SUBMIT), &s);
}

static bool play(void *ctx)
{
	struct ctl *ctl = ctx;
	struct ctl_job *job = TAILQ_FIRST(&ctl->jobs);

	switch (step++) {
	case 0:
		h1 = greet("host/h1");
		h2 = greet("host/h2");
		admin = greet("admin/root");
		submit();
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

/* Nothing that is asked for here is refused. */
static void on_sent(struct conn *c, const uint8_t *p, size_t n)
{
	Control__Message *m = message_parse(p, n, NULL);

	assert_non_null(m);
	if (m->body_case == MESSAGE_BODY(FAILED))
		fail_msg("%s", m->failed->why);
	message_free(m);
}

static void a_liar_is_not_believed(void **state)
{
	char dir[] = "/tmp/stint-liar-XXXXXX", path[64], command[64];
	struct controller_conf conf;
	struct tls_key key;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/keys", dir);
	assert_int_equal(keys_enrol(path, "host/h1", &key, NULL), 0);
	assert_int_equal(keys_enrol(path, "host/h2", &key, NULL), 0);
	log_init("liar", LOG_L_ERROR);
	fake_play = play;
	fake_sent = on_sent;
	controller_conf_init(&conf);
	snprintf(path, sizeof(path), "unix:%s/sock", dir);
	assert_int_equal(controller_conf_set(&conf, "state-dir", dir, NULL), 0);
	assert_int_equal(controller_conf_set(&conf, "listen", path, NULL), 0);
	assert_int_equal(controller_run(&conf, -1, NULL), 0);
	assert_int_equal(step, 4);
	controller_conf_clear(&conf);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_liar_is_not_believed),
	};

	return cmocka_run_group_tests_name("liar", tests, NULL, NULL);
}
