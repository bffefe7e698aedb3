/* actors.c - a real controller's peers, played by hand, see actors.h */
#include "actors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/controller.h"
#include "core/log.h"
#include "core/scratch.h"
#include "core/xalloc.h"

void (*actors_asked)(struct conn *c, const Keeper__Request *q);
void (*actors_said)(struct conn *c, const Control__Message *m);

uint32_t actors_rank, actors_cores;
const char *actors_net;

static char dir[SCRATCH_MAX];

/* ---- the daemon */

static void forget_state(void)
{
	static const char *const names[] = { "state.db", "state.db-wal",
					     "state.db-shm" };
	char path[96];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

void actors_begin(void)
{
	static const char *const names[] = { "host/h1",	 "host/h2",
					     "host/h3",	 "admin/root",
					     "user/ada", "user/daemon" };
	struct tls_key key;
	char path[96];

	actors_rank = 0;
	actors_cores = 1;
	actors_net = "none";
	if (*dir) {
		forget_state();
		return;
	}
	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/keys", dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(keys_enrol(path, names[i], &key, NULL), 0);
	log_init("actors", LOG_L_ERROR);
}

static void look(struct conn *c, const Control__KeeperPacket *packet)
{
	Keeper__Request *q = keeper__request__unpack(NULL, packet->data.len,
						     packet->data.data);

	assert_non_null(q);
	if (actors_asked)
		actors_asked(c, q);
	keeper__request__free_unpacked(q, NULL);
}

static void on_sent(struct conn *c, const uint8_t *p, size_t n)
{
	Control__Message *m = message_parse(p, n, NULL);

	assert_non_null(m);
	if (actors_said)
		actors_said(c, m);
	else if (m->body_case == MESSAGE_BODY(FAILED))
		fail_msg("%s", m->failed->why);
	if (m->body_case == MESSAGE_BODY(KEEPER_PACKET))
		look(c, m->keeper_packet);
	message_free(m);
}

static void set(struct controller_conf *conf, const char *name,
		const char *value)
{
	assert_int_equal(controller_conf_set(conf, name, value, NULL), 0);
}

void actors_run(bool (*play)(void *ctl), const char *const *settings)
{
	struct controller_conf conf;
	struct error err = ERROR_INIT;
	char listen[96];

	fake_play = play;
	fake_sent = on_sent;
	controller_conf_init(&conf);
	conf.started_waits = 0;
	snprintf(listen, sizeof(listen), "unix:%s/sock", dir);
	set(&conf, "state-dir", dir);
	set(&conf, "listen", listen);
	set(&conf, "min-uid", "0"); /* whoever runs this test */
	set(&conf, "admin-submits", "others");
	for (; settings && *settings; settings += 2)
		set(&conf, settings[0], settings[1]);
	if (controller_run(&conf, -1, &err) < 0)
		fail_msg("%s", err.text);
	controller_conf_clear(&conf);
}

/* ---- who speaks with it */

void actor_answer(struct conn *c, uint64_t re, Control__Message__BodyCase what,
		  void *body)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	uint8_t *buf;

	m.id = 1;
	m.re = re;
	m.body_case = what;
	m.hello = body;
	buf = xmalloc(control__message__get_packed_size(&m));
	fake_receive(c, buf, control__message__pack(&m, buf));
	free(buf);
}

void actor_say(struct conn *c, Control__Message__BodyCase what, void *body)
{
	actor_answer(c, 0, what, body);
}

struct conn *actor_greet(const char *identity, int64_t epoch)
{
	Control__Hello hello = CONTROL__HELLO__INIT;
	Control__AgentInfo agent = CONTROL__AGENT_INFO__INIT;
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__Presence away = CONTROL__PRESENCE__INIT;
	Control__Lending lending = CONTROL__LENDING__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT, *names = &name;
	struct conn *c = fake_accept(identity);

	hello.version = CONTROL__VERSION__MAJOR;
	agent.boot_id = (char *)identity;
	agent.address = (char *)"10.0.0.1";
	agent.cores = actors_cores;
	agent.net = (char *)actors_net;
	report.presence = &away;
	lending.guests_most = GUESTS_ANY;
	report.lending = &lending;
	agent.report = &report;
	name.job = (char *)"1";
	name.rank = actors_rank;
	name.epoch = epoch;
	agent.keepers = &names;
	agent.n_keepers = epoch >= 0;
	hello.agent = *identity == 'h' ? &agent : NULL;
	actor_say(c, MESSAGE_BODY(HELLO), &hello);
	return c;
}

void actor_submit(struct conn *admin, const char *host)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" }, *hosts[] = { (char *)host };

	s.argv = argv;
	s.hosts = hosts;
	s.n_argv = s.n_hosts = s.ranks = 1;
	s.uid = getuid();
	s.stdin_open = true;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

void actor_signal(struct conn *admin, uint32_t signo)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;

	s.job = 1;
	s.signo = signo;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &s);
}

void actor_keeper(struct conn *agent, uint64_t epoch, uint64_t seq, uint64_t re,
		  Keeper__Event__BodyCase what, void *body)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	Control__KeeperPacket packet = CONTROL__KEEPER_PACKET__INIT;
	Keeper__Event e = KEEPER__EVENT__INIT;

	name.job = (char *)"1";
	name.rank = actors_rank;
	name.epoch = epoch;
	e.seq = seq;
	e.re = re;
	e.body_case = what;
	e.hello = body;
	packet.name = &name;
	packet.data.data = xmalloc(keeper__event__get_packed_size(&e));
	packet.data.len = keeper__event__pack(&e, packet.data.data);
	actor_say(agent, MESSAGE_BODY(KEEPER_PACKET), &packet);
	free(packet.data.data);
}

void actor_migrate(struct conn *admin, struct conn *to)
{
	Control__Migrate migrate = CONTROL__MIGRATE__INIT;
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;

	migrate.job = 1;
	migrate.host = (char *)"h2";
	actor_say(admin, MESSAGE_BODY(MIGRATE), &migrate);
	actor_keeper_hello(to, 1, KEEPER__STATE__EMPTY, 0);
	receiving.epoch = 1;
	receiving.port = 1;
	actor_keeper(to, 1, 0, 0, KEEPER__EVENT__BODY_RECEIVING, &receiving);
}

void actor_keeper_hello(struct conn *agent, uint64_t epoch, Keeper__State state,
			uint64_t signals)
{
	Keeper__Hello hello = KEEPER__HELLO__INIT;
	Keeper__Status status = KEEPER__STATUS__INIT;

	hello.version = KEEPER__VERSION__MAJOR;
	hello.status = &status;
	status.state = state;
	status.signals = signals;
	actor_keeper(agent, epoch, 0, 0, KEEPER__EVENT__BODY_HELLO, &hello);
}

void actor_keeper_starts(struct conn *agent)
{
	Keeper__Started started = KEEPER__STARTED__INIT;

	actor_keeper_hello(agent, 0, KEEPER__STATE__EMPTY, 0);
	actor_keeper(agent, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
}
