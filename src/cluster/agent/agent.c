/*
 * agent.c - the agent's life and its connection with the controller, see
 * agent.h
 */
#include "cluster/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/conn/keys.h"
#include "cluster/conn/loop.h"
#include "cluster/host/process.h"
#include "core/claim.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "net/net.h"

#define CONNECT_TIMEOUT (10 * USEC_PER_SEC)
#define PAUSE_MIN	(100 * USEC_PER_MSEC)
#define PAUSE_MAX	(3 * USEC_PER_SEC)

/* ---- what it tells ---- */

/* *presence is room for what the report points to; monitor_free() it. */
static void fill_report(struct agent *a, Control__HostReport *ret,
			Control__Presence *presence, struct lend_report *lend)
{
	monitor_fill(a, ret);
	ret->users = owner_logged_in(a->owner);
	ret->now_usec = (uint64_t)clock_usec(CLOCK_REALTIME);
	owner_fill(owner_presence(a->owner), presence);
	ret->presence = presence;
	ret->idle_usec = ret->users ? presence->idle_usec : 0;
	lend_fill(a, lend);
	ret->lending = &lend->lending;
}

static int send_hello(struct agent *a)
{
	Control__AgentInfo info = CONTROL__AGENT_INFO__INIT;
	Control__HostReport report = CONTROL__HOST_REPORT__INIT;
	Control__Presence presence;
	struct lend_report lend;
	struct utsname u;
	int r;

	fill_report(a, &report, &presence, &lend);
	info.report = &report;
	info.prefix = agent_prefix(a);
	info.link_bits = agent_link_bits(a);
	info.boot_id = a->boot_id;
	info.address = a->address;
	info.uplink = a->conf->uplink ? a->conf->uplink : (char *)"";
	info.cores = a->cores;
	info.memory = monitor_memory(a);
	info.score = a->score;
	info.release = uname(&u) < 0 ? (char *)"" : u.release;
	info.net = (char *)a->net;
	info.memory_max = a->conf->terms.most.memory;
	info.pids_max = a->conf->terms.most.pids;
	info.cpus_max = a->conf->terms.most.cpus;
	info.limits_cpus = a->limits_cpus;
	relay_names(a, &info);
	r = message_send_hello(a->conn, 1, 0, &info, NULL);
	relay_names_free(&info);
	monitor_free(&report);
	return r;
}

/* ---- the connection ---- */

static void agent_connect(struct agent *a);

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	agent_connect(arg);
	return 0;
}

static void connect_later(struct agent *a)
{
	sd_event_source_disable_unref(a->again);
	a->again = NULL;
	loop_after(a->event, &a->again, a->pause, on_again, a);
	a->pause = a->pause * 2 < PAUSE_MAX ? a->pause * 2 : PAUSE_MAX;
}

static void on_conn_ready(struct conn *c, void *arg)
{
	struct agent *a = arg;

	relays_find(a);
	prolog_left(a);
	a->named = !send_hello(a);
	if (!a->named)
		conn_fail(c, -ENOBUFS, "HELLO cannot be sent");
}

/* Once: make this host ready for capsules with addresses of the pool. */
static int prepare_network(struct agent *a, const char *pool, struct error *err)
{
	struct in_addr addr;
	unsigned prefix;
	struct net *net;
	int r;

	if (a->prepared || strcmp(a->net, "routed") || !a->conf->uplink ||
	    !*a->conf->uplink)
		return 0;
	r = net_parse_cidr(pool, &addr, &prefix, err);
	/*
	 * Routes to a pool this wide would take precedence over the host's
	 * own.
	 */
	if (!r && prefix < 8)
		r = error_set(err, -EINVAL, "a pool of %s", pool);
	if (!r)
		r = net_open(&net, err);
	if (r < 0)
		return r;
	r = net_host_prepare(net, a->conf->uplink, addr, prefix, err);
	net_close(net);
	a->prepared = !r;
	return r < 0 ? error_prefix(err, r, "uplink %s", a->conf->uplink) : 0;
}

static int on_hello(struct agent *a, const Control__Hello *h, struct error *err)
{
	int r;

	if (h->version != CONTROL__VERSION__MAJOR || !h->controller)
		return error_set(err, -EPROTO,
				 "the controller speaks version %u of the "
				 "protocol, this agent %d",
				 h->version, CONTROL__VERSION__MAJOR);
	r = prepare_network(a, h->controller->pool, err);
	if (r < 0)
		return r;
	log_info("controller=%s connected", a->conf->controller);
	a->greeted = true;
	a->tell_records = true;
	a->pause = PAUSE_MIN;
	if (a->ready_fd >= 0 && write(a->ready_fd, "\n", 1) != 1)
		log_warnx(
			"the client that waited for the start has disconnected");
	a->ready_fd = -1;
	relays_connect(a);
	return 0;
}

static int take_message(struct agent *a, const Control__Message *m,
			struct error *err)
{
	switch (m->body_case) {
	case MESSAGE_BODY(HELLO):
		return on_hello(a, m->hello, err);
	case MESSAGE_BODY(FAILED):
		return error_set(err, -EPROTO, "the controller says: %s",
				 m->failed->why);
	case MESSAGE_BODY(OK):
		return 0;
	default:
		agent_request(a, m);
		return 0;
	}
}

static int on_conn_message(struct conn *c, const uint8_t *p, size_t n,
			   void *arg, struct error *err)
{
	Control__Message *m = message_parse(p, n, err);
	int r;

	if (!m)
		return -EPROTO;
	r = take_message(arg, m, err);
	message_free(m);
	return r;
}

static void on_conn_closed(struct conn *c, int code, const struct error *why,
			   void *arg)
{
	struct agent *a = arg;

	if (a->pause <= PAUSE_MIN || code == -EACCES || code == -EPROTO)
		log_warnx("controller=%s lost why=\"%s\"", a->conf->controller,
			  code ? why->text : "it said goodbye");
	conn_destroy(c);
	a->conn = NULL;
	a->connections++;
	a->named = a->greeted = false;
	relays_disconnect(a);
	connect_later(a);
}

static void on_conn_drained(struct conn *c, void *arg)
{
	relays_hold(arg, false);
}

static const struct conn_ops agent_ops = {
	.ready = on_conn_ready,
	.message = on_conn_message,
	.closed = on_conn_closed,
	.drained = on_conn_drained,
};

static void agent_connect(struct agent *a)
{
	struct error err;

	/* The controller's name may have come to mean another address. */
	if (address_parse(a->conf->controller, &a->controller, &err) < 0) {
		log_warnx("error=\"%s\"", err.text);
		connect_later(a);
		return;
	}
	a->conn = conn_connect(a->event, &a->controller, &a->key,
			       CONNECT_TIMEOUT, &agent_ops, a);
}

/* ---- the rest of its life ---- */

static void tell_report(struct agent *a)
{
	Control__HostReport r = CONTROL__HOST_REPORT__INIT;
	Control__Presence presence;
	struct lend_report lend;

	if (!a->greeted)
		return;
	fill_report(a, &r, &presence, &lend);
	if (a->tell_records)
		records_find(a, &r);
	a->tell_records = false;
	agent_tell(a, MESSAGE_BODY(HOST_REPORT), &r);
	records_free(&r);
	monitor_free(&r);
}

static int on_report(sd_event_source *src, uint64_t usec, void *arg)
{
	struct agent *a = arg;

	sd_event_source_set_time_relative(src, a->conf->report_every);
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	monitor_look(a);
	if (!lend_look(a) && monitor_is_news(a))
		tell_report(a);
	return 0;
}

/* As owner_ops has it: told at once, not with the next report. */
static void on_owner(void *arg)
{
	struct agent *a = arg;

	if (a->lend && !lend_look(a))
		tell_report(a);
}

static void on_closed(struct agent *a)
{
	lend_look(a);
}

static const struct prolog_ops prolog_ops = { .order = relay_order,
					      .refuse = relay_refuse,
					      .closed = on_closed };

static bool is_empty(void *arg)
{
	const struct agent *a = arg;

	return TAILQ_EMPTY(&a->relays);
}

static const struct owner_ops owner_ops = { .changed = on_owner,
					    .empty = is_empty };

static int on_signal(sd_event_source *src, const struct signalfd_siginfo *si,
		     void *arg)
{
	return sd_event_exit(sd_event_source_get_event(src), 0);
}

static int on_child(sd_event_source *src, const struct signalfd_siginfo *si,
		    void *arg)
{
	struct agent *a = arg;
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid) {
		if (!prolog_child(a, &info) && a->owner)
			owner_child(a->owner, info.si_pid);
		if (waitpid(info.si_pid, NULL, WNOHANG) != info.si_pid)
			break;
		info.si_pid = 0;
	}
	return 0;
}

/* Who was killed is seen to be dead before all of its threads have let go. */
static int lock_patiently(int fd)
{
	enum { TRIES = 40, EVERY = 50 }; /* ms */

	for (int i = 0; i < TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		poll(NULL, 0, EVERY);
	}
	return -EBUSY;
}

int agent_take_run_dir(const char *run_dir, struct error *err)
{
	char *keepers = xasprintf("%s/keepers", run_dir);
	char *lock = xasprintf("%s/agent.lock", run_dir);
	int fd = -1, r = 0;

	if ((mkdir(run_dir, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(keepers, 0700) < 0 && errno != EEXIST))
		r = error_sys(err, -errno, "run directory %s", run_dir);
	if (!r) {
		fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			r = error_sys(err, -errno, "%s", lock);
		else if (lock_patiently(fd) < 0)
			r = error_set(err, -EBUSY, "another agent works in %s",
				      run_dir);
	}
	free(keepers);
	free(lock);
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

static int check_conf(struct agent *a, struct error *err)
{
	const struct agent_conf *conf = a->conf;
	const char *name;
	int r;

	if (!conf->controller)
		return error_set(err, -EINVAL,
				 "where is the controller? Give "
				 "--controller=HOST:PORT");
	if (!conf->key)
		return error_set(err, -EINVAL,
				 "no key: make one with `stint controller "
				 "--enrol=host/NAME` and give --key=FILE");
	if (!conf->run_dir)
		return error_set(err, -EINVAL,
				 "no run directory: give --run-dir=DIR");
	r = tls_key_read(conf->key, &a->key, err);
	if (r < 0)
		return r;
	if (role_of(a->key.identity, &name) != ROLE_HOST)
		return error_set(err, -EINVAL,
				 "%s is %s's key; an agent needs one of "
				 "host/NAME",
				 conf->key, a->key.identity);
	if (conf->name && strcmp(conf->name, name))
		return error_set(err, -EINVAL,
				 "%s is the key of host %s, not of %s",
				 conf->key, name, conf->name);
	a->name = xstrdup(name);
	return address_parse(conf->controller, &a->controller, err);
}

static int agent_serve(struct agent *a, struct error *err)
{
	sigset_t block;
	int r;

	process_spare(); /* and its keepers, before the ranks */
	claim_promptly();
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGCHLD);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, NULL);
	r = loop_create(&a->event, err);
	if (!r)
		r = loop_signals(a->event, (int[]){ SIGTERM, SIGINT, 0 },
				 on_signal, NULL, err);
	if (!r)
		r = loop_signals(a->event, (int[]){ SIGCHLD, 0 }, on_child, a,
				 err);
	if (!r)
		r = owner_create(a->event, a->name, a->conf->run_dir,
				 &a->conf->owner, &owner_ops, a, &a->owner,
				 err);
	if (!r)
		r = lend_begin(a, tell_report, err);
	if (!r)
		r = prolog_begin(a, &prolog_ops, err);
	if (r < 0)
		return r;
	monitor_begin(a);
	loop_after(a->event, &a->report, USEC_PER_MSEC, on_report, a);
	hooks_begin(a);
	agent_connect(a);
	r = sd_event_loop(a->event);
	return r < 0 ? error_sys(err, r, "event loop") : 0;
}

static void agent_clear(struct agent *a)
{
	conn_finish(a->conn);
	prolog_end(a);
	relays_destroy(a);
	sd_event_source_disable_unref(a->again);
	sd_event_source_disable_unref(a->report);
	hooks_end(a);
	nursery_close(a);
	io_close(&a->keeper);
	lend_end(a);
	monitor_end(a);
	owner_destroy(a->owner);
	host_load_destroy(a->load);
	sd_event_unref(a->event);
	free(a->name);
	free(a->boot_id);
	free(a->address);
	free(a->terms);
	explicit_bzero(&a->key, sizeof(a->key));
}

int agent_run(const struct agent_conf *conf, int ready_fd, struct error *err)
{
	struct agent a = { .conf = conf,
			   .hooks_fd = -1,
			   .keeper = -1,
			   .nursery = -1,
			   .ready_fd = ready_fd,
			   .pause = PAUSE_MIN };
	int lock, r;

	TAILQ_INIT(&a.relays);
	r = check_conf(&a, err);
	if (!r)
		r = nursery_find_program(&a, err);
	if (r < 0)
		goto out;
	lock = r = agent_take_run_dir(conf->run_dir, err);
	if (r < 0)
		goto out;
	a.home = agent_find_home(conf);
	r = agent_describe(&a, err);
	if (!r)
		r = agent_serve(&a, err);
	close(lock);
out:
	agent_clear(&a);
	return r;
}
