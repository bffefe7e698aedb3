/*
 * shell.c - a keeper for the system tests, obeying lines on stdin
 *
 * Answers each line with one that begins with "ok" or "error".  One capsule.
 *
 *	prepare			capsule_prepare(), before create
 *	store			a process that keeps networks, for good, before create
 *	keep			what one leaves unused is the next one's, before create
 *	create NAME KEY=VALUE...	uid run addr net uplink prefix mono
 *	exec FILE ARG...		output to FILE; answers the pid here
 *	land			a helper that waits for release, then 7
 *	plug, unplug, yield, freeze, thaw, release, destroy
 *	kill PID SIGNAL		by pid inside
 *	wait			for an end: "ok exit PID STATUS" or "ok gone"
 *	init			pid of init here, and the freezer
 *	time N CALL		median of N times of a call, microseconds
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/io.h"
#include "net/net.h"

#define WORDS 64

static struct capsule *capsule;
static int landed = -1; /* our end of the landing helper's socket */

typedef int call(struct capsule *c, struct error *err);

static const struct {
	const char *name;
	call *call;
} calls[] = {
	{ "plug", capsule_plug },   { "unplug", capsule_unplug },
	{ "yield", capsule_yield }, { "freeze", capsule_freeze },
	{ "thaw", capsule_thaw },
};

static call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].call;
	return NULL;
}

static int set_key(struct capsule_spec *spec, char *text, struct error *err)
{
	char *value = strchr(text, '=');
	unsigned prefix;

	if (!value)
		return error_set(err, -EINVAL, "no value for %s", text);
	*value++ = 0;
	if (!strcmp(text, "uid"))
		spec->uid = spec->gid = strtoul(value, NULL, 10);
	else if (!strcmp(text, "run"))
		spec->run_dir = value;
	else if (!strcmp(text, "addr"))
		return net_parse_cidr(value, &spec->address, &prefix, err);
	else if (!strcmp(text, "prefix"))
		spec->prefix = strtoul(value, NULL, 10);
	else if (!strcmp(text, "uplink"))
		spec->uplink = value;
	else if (!strcmp(text, "mono"))
		spec->monotonic_offset = strtoll(value, NULL, 10);
	else if (!strcmp(text, "patience"))
		spec->patience = (int)strtol(value, NULL, 10);
	else if (!strcmp(text, "memory"))
		spec->limits.memory = strtoull(value, NULL, 10);
	else if (!strcmp(text, "pids"))
		spec->limits.pids = strtoull(value, NULL, 10);
	else if (!strcmp(text, "cpus"))
		spec->limits.cpus = strtoull(value, NULL, 10);
	else if (!strcmp(text, "net"))
		spec->net = !strcmp(value, "routed")   ? CAPSULE_NET_ROUTED
			    : !strcmp(value, "bridge") ? CAPSULE_NET_BRIDGE
						       : CAPSULE_NET_NONE;
	else
		return error_set(err, -EINVAL, "unknown argument %s", text);
	return 0;
}

static int do_create(char **words, int n, struct error *err)
{
	struct capsule_spec spec = {
		.uid = geteuid(),
		.gid = getegid(),
		.net = CAPSULE_NET_NONE,
		.run_dir = getenv("STINT_RUN_DIR"),
	};
	int r = n < 2 ? -EINVAL : 0;

	for (int i = 2; !r && i < n; i++)
		r = set_key(&spec, words[i], err);
	if (r < 0)
		return r;
	spec.name = words[1];
	return capsule_create(&spec, &capsule, err);
}

static int do_exec(char **words, int n, struct error *err)
{
	extern char **environ;
	int out = n < 3 ? -1
			: open(words[1],
			       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct capsule_fd fds[] = { { out, 1 }, { out, 2 } };
	struct capsule_program prog = {
		.argv = (const char *const *)words + 2,
		.env = (const char *const *)environ,
		.fds = fds,
		.nr_fds = 2,
	};
	pid_t pid;
	int r;

	if (out < 0)
		return error_sys(err, -errno, "cannot open %s", words[1]);
	r = capsule_exec(capsule, &prog, &pid, err);
	close(out);
	return r < 0 ? r : pid;
}

static int landing(const void *arg, size_t n, const int *fds, size_t nr_fds)
{
	char c;

	if (n != sizeof("hello") || strcmp(arg, "hello") || nr_fds != 1 ||
	    write(fds[0], "x", 1) != 1)
		return 1;
	return read(fds[0], &c, 1) == 1 && c == 'r' ? 7 : 1;
}

static int do_land(struct error *err)
{
	int p[2], r;
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) < 0)
		return error_sys(err, -errno, "no sockets");
	r = capsule_spawn(capsule, landing, "hello", sizeof("hello"), &p[1], 1,
			  &pid, err);
	close(p[1]);
	if (!r && read(p[0], &c, 1) != 1)
		r = error_set(err, -EIO, "the helper did not answer");
	io_close(&landed);
	landed = p[0];
	return r < 0 ? r : pid;
}

static int do_release(struct error *err)
{
	return write(landed, "r", 1) == 1
		       ? 0
		       : error_set(err, -ESRCH, "nothing has landed");
}

static int do_wait(struct error *err)
{
	struct pollfd p = { capsule_event_fd(capsule), POLLIN, 0 };
	struct capsule_event e;

	poll(&p, 1, 20000);
	if (capsule_next_event(capsule, &e) != 1)
		return error_set(err, -ETIMEDOUT, "no rank has ended");
	if (e.what == CAPSULE_GONE)
		printf("ok gone\n");
	else
		printf("ok exit %d %d\n", e.ns_pid,
		       WIFEXITED(e.status) ? WEXITSTATUS(e.status)
					   : 128 + WTERMSIG(e.status));
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* The call, timed, and its opposite, not timed. */
static int do_time(int n, const char *name, struct error *err)
{
	static double us[10000];
	call *fn = find_call(name), *undo;
	double t;
	int r = 0;

	undo = find_call(!strcmp(name, "unplug")   ? "plug"
			 : !strcmp(name, "plug")   ? "unplug"
			 : !strcmp(name, "freeze") ? "thaw"
						   : "freeze");
	if (!fn || n < 1 || n > 10000)
		return error_set(err, -EINVAL, "time what?");
	for (int i = 0; !r && i < n; i++) {
		t = now_us();
		r = fn(capsule, err);
		us[i] = now_us() - t;
		if (!r)
			r = undo(capsule, err);
	}
	if (r < 0)
		return r;
	qsort(us, n, sizeof(us[0]), by_value);
	printf("ok %.1f\n", us[n / 2]);
	return 0;
}

static _Noreturn void keep_store(int door)
{
	struct pollfd p = { .fd = door, .events = POLLIN };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if (poll(&p, 1, -1) > 0)
			capsule_store_serve();
}

static int do_store(struct error *err)
{
	int door;
	pid_t pid;

	capsule_prepare();
	door = capsule_store_open();
	pid = door < 0 ? -1 : fork();
	if (!pid)
		keep_store(door);
	capsule_store_leave();
	return pid < 0 ? error_sys(err, -errno, "no store") : pid;
}

/* 0 or more: done, with that number; -1 in *ret_said: it has answered. */
static int obey(char **words, int n, bool *ret_said, struct error *err)
{
	const char *verb = words[0];
	call *fn = find_call(verb);

	if (!strcmp(verb, "create"))
		return do_create(words, n, err);
	if (!strcmp(verb, "prepare")) {
		capsule_prepare();
		return 0;
	}
	if (!strcmp(verb, "store"))
		return do_store(err);
	if (!strcmp(verb, "keep")) {
		capsule_keep(getenv("STINT_RUN_DIR"));
		return 0;
	}
	if (!capsule)
		return error_set(err, -EINVAL, "no capsule");
	if (fn)
		return fn(capsule, err);
	if (!strcmp(verb, "exec"))
		return do_exec(words, n, err);
	if (!strcmp(verb, "land"))
		return do_land(err);
	if (!strcmp(verb, "release"))
		return do_release(err);
	if (!strcmp(verb, "kill") && n == 3)
		return capsule_kill(capsule, strtol(words[1], NULL, 10),
				    strtol(words[2], NULL, 10), err);
	*ret_said = true;
	if (!strcmp(verb, "wait"))
		return do_wait(err);
	if (!strcmp(verb, "time") && n == 3)
		return do_time(strtol(words[1], NULL, 10), words[2], err);
	*ret_said = false;
	if (!strcmp(verb, "init")) {
		printf("ok %d %s\n", capsule_init_pid(capsule),
		       capsule_freezer(capsule));
		*ret_said = true;
	} else if (!strcmp(verb, "destroy")) {
		capsule_destroy(capsule);
		capsule = NULL;
	} else {
		return error_set(err, -EINVAL, "unknown argument %s", verb);
	}
	return 0;
}

int main(void)
{
	static char line[160 << 10]; /* an argument too long, too */
	char *words[WORDS + 1], *save;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		struct error err = ERROR_INIT;
		bool said = false;
		int n = 0, r;

		for (char *w = strtok_r(line, " \n", &save); w && n < WORDS;
		     w = strtok_r(NULL, " \n", &save))
			words[n++] = w;
		words[n] = NULL;
		if (!n)
			continue;
		r = obey(words, n, &said, &err);
		if (r < 0)
			printf("error %s\n", err.text);
		else if (!said)
			printf("ok %d\n", r);
	}
	capsule_destroy(capsule);
	capsule_keep_end();
	return 0;
}
