/*
 * serve.c - a testbed's own cluster: a controller, an agent on each
 * host
 *
 * The controller listens on DIR/NAME/controller.sock, which is reached from
 * every host and from outside; it lives in the LAN's namespace, so that
 * testbed_down() finds it whatever became of its note.  Keys are enrolled here;
 * DIR/NAME/client.conf is how commands find it with STINT_TESTBED set.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/conn/keys.h"
#include "cluster/testbed/priv.h"
#include "core/io.h"
#include "core/tls.h"
#include "core/xalloc.h"

#define READY_S	 120 /* for a service to come up, on a busy machine */
#define READY_FD 3

/* ---- keys and files ---- */

static int put_file(const char *path, const char *text, mode_t mode,
		    struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return r < 0 ? error_sys(err, r, "cannot write %s", path) : 0;
}

/* A key for that party, in a file of its own. */
static int enrol(const char *name, const char *identity, const char *path,
		 struct error *err)
{
	char *keys = testbed_path(name, "controller/keys");
	char line[TLS_KEY_LINE];
	struct tls_key key;
	int r = keys_enrol(keys, identity, &key, err);

	free(keys);
	if (r < 0)
		return r;
	tls_key_format(&key, line, sizeof(line));
	return put_file(path, line, 0600, err);
}

static int enrol_all(const char *name, unsigned nr_hosts, struct error *err)
{
	const struct passwd *pw = getpwuid(geteuid());
	char *path = testbed_path(name, "client.key"), identity[80];
	int r;

	snprintf(identity, sizeof(identity), "admin/%.64s",
		 pw ? pw->pw_name : "root");
	r = enrol(name, identity, path, err);
	free(path);
	for (unsigned h = 1; !r && h <= nr_hosts; h++) {
		path = testbed_path(name, "h%u/key", h);
		snprintf(identity, sizeof(identity), "host/h%u", h);
		r = enrol(name, identity, path, err);
		free(path);
	}
	return r;
}

static int write_client_conf(const char *name, struct error *err)
{
	char *path = testbed_path(name, "client.conf");
	char *sock = testbed_path(name, "controller.sock");
	char *key = testbed_path(name, "client.key");
	char *text = xasprintf("[client]\ncontroller = unix:%s\nkey = %s\n",
			       sock, key);
	int r = put_file(path, text, 0644, err);

	free(text);
	free(key);
	free(sock);
	free(path);
	return r;
}

/* ---- starting one ---- */

struct service {
	const char *name; /* "controller", or the host's */
	const char *host; /* NULL: the LAN */
	char *argv[24];
	char *log;
};

static int enter_lan(const char *name, struct error *err)
{
	char *path = testbed_path(name, "lan");
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 || setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;

	if (r < 0)
		error_sys(err, r, "cannot enter %s", path);
	free(path);
	return r;
}

/* In the child: nothing of the terminal stays with it. */
static _Noreturn void become_service(const char *name, const struct service *s,
				     int ready)
{
	struct error err = ERROR_INIT;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int r;

	setsid();
	dup2(null, 0);
	dup2(log < 0 ? null : log, 1);
	dup2(1, 2);
	r = s->host ? testbed_enter(name, s->host, &err)
		    : enter_lan(name, &err);
	if (r < 0) {
		dprintf(2, "%s\n", err.text);
		_exit(1);
	}
	if (ready == READY_FD)
		fcntl(ready, F_SETFD, 0);
	else
		dup2(ready, READY_FD);
	close_range(READY_FD + 1, ~0u, 0);
	if (chdir("/") == 0)
		execv("/proc/self/exe", s->argv);
	dprintf(2, "cannot run /proc/self/exe: %s\n", strerror(errno));
	_exit(1);
}

/* The last line it wrote, which says why it could not. */
static void last_words(const char *log, char *buf, size_t n)
{
	char *text, *line;
	size_t len;

	snprintf(buf, n, "see %s", log);
	if (io_read_file(AT_FDCWD, log, 1 << 20, &text) <= 0)
		return;
	len = strlen(text);
	while (len && text[len - 1] == '\n')
		text[--len] = 0;
	line = strrchr(text, '\n');
	snprintf(buf, n, "%s", line ? line + 1 : text);
	free(text);
}

static int await_ready(const struct service *s, int fd, struct error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c, why[300];
	int r;

	do
		r = poll(&p, 1, READY_S * 1000);
	while (r < 0 && errno == EINTR);
	if (r > 0 && read(fd, &c, 1) == 1)
		return 0;
	last_words(s->log, why, sizeof(why));
	if (!r)
		return error_set(err, -EIO, "%s is not ready after %d s: %s",
				 s->name, READY_S, why);
	return error_set(err, -EIO, "%s did not start: %s", s->name, why);
}

/* Started and noted; *ret_fd tells when it is ready. */
static int start_service(const char *name, const struct service *s, int *ret_fd,
			 struct error *err)
{
	int p[2], r;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return error_sys(err, -errno, "cannot make a pipe");
	pid = fork();
	if (!pid)
		become_service(name, s, p[1]);
	close(p[1]);
	r = pid < 0 ? error_sys(err, -errno, "cannot fork")
		    : testbed_keep(name, s->name, pid, err);
	if (r < 0)
		close(p[0]);
	else
		*ret_fd = p[0];
	return r;
}

static void service_clear(struct service *s)
{
	for (unsigned i = 0; s->argv[i]; i++)
		free(s->argv[i]);
	free(s->log);
}

static int start_controller(const struct testbed_spec *spec, struct error *err)
{
	const char *name = spec->name;
	char *dir = testbed_path(name, "controller");
	char *sock = testbed_path(name, "controller.sock");
	struct service s = { .name = "controller" };
	int fd = -1, r;

	s.log = testbed_path(name, "controller.log");
	s.argv[0] = xstrdup("stint");
	s.argv[1] = xstrdup("controller");
	s.argv[2] = xasprintf("--state-dir=%s", dir);
	s.argv[3] = xasprintf("--listen=unix:%s", sock);
	s.argv[4] = xasprintf("--pool=%s", TESTBED_POOL);
	s.argv[5] = xasprintf("--ready-fd=%d", READY_FD);
	s.argv[6] = xstrdup("--min-uid=0"); /* root's tests */
	s.argv[7] = xasprintf("--log=%s", s.log);
	if (spec->policy)
		s.argv[8] = xasprintf("--policy=%s", spec->policy);
	r = start_service(name, &s, &fd, err);
	if (!r)
		r = await_ready(&s, fd, err);
	io_close(&fd);
	service_clear(&s);
	free(sock);
	free(dir);
	return r;
}

/*
 * A test host is a machine with as many cores as its speed takes, and with one
 * when it has no limit: this machine's cores are shared by all of them.
 */
static void plan_agent(const struct testbed_spec *spec, unsigned h,
		       struct service *s)
{
	double speed = spec->speed[h - 1] > 0 ? spec->speed[h - 1] : 1;
	double cores = ceil(speed);
	char *sock = testbed_path(spec->name, "controller.sock");
	unsigned i = 0;

	s->host = s->name = xasprintf("h%u", h);
	s->log = testbed_path(spec->name, "%s/agent.log", s->host);
	s->argv[i++] = xstrdup("stint");
	s->argv[i++] = xstrdup("agent");
	s->argv[i++] = xstrdup(s->host); /* what ps shows */
	s->argv[i++] = xasprintf("--ready-fd=%d", READY_FD);
	s->argv[i++] = xasprintf("--log=%s", s->log);
	s->argv[i++] = xasprintf("--cores=%.0f", cores);
	s->argv[i++] = xasprintf("--score=%.0f", 1000 * speed / cores);
	s->argv[i++] = xasprintf("--address=" TESTBED_HOST_ADDRESS, h);
	s->argv[i++] = xasprintf("--uplink=%s", spec->bridge ? TESTBED_BRIDGE
							     : TESTBED_UPLINK);
	s->argv[i++] =
		xasprintf("--net=%s", spec->bridge ? "bridge" : "routed");
	s->argv[i++] = xstrdup("--min-uid=0");
	s->argv[i++] = xstrdup("--min-gid=0");
	s->argv[i++] = xstrdup("--run-dir");
	s->argv[i++] = testbed_run_dir(spec->name, s->host);
	s->argv[i++] = xstrdup("--key");
	s->argv[i++] = testbed_path(spec->name, "%s/key", s->host);
	s->argv[i++] = xstrdup("--config");
	s->argv[i++] = testbed_path(spec->name, "%s/stint.conf", s->host);
	s->argv[i] = xasprintf("--controller=unix:%s", sock);
	free(sock);
}

/* All are started first, then all are waited for. */
static int start_agents(const struct testbed_spec *spec, struct error *err)
{
	struct service *s = xcalloc(spec->nr_hosts, sizeof(*s));
	int *fds = xcalloc(spec->nr_hosts, sizeof(*fds)), r = 0;

	for (unsigned i = 0; i < spec->nr_hosts; i++)
		fds[i] = -1;
	for (unsigned i = 0; !r && i < spec->nr_hosts; i++) {
		plan_agent(spec, i + 1, &s[i]);
		r = start_service(spec->name, &s[i], &fds[i], err);
	}
	for (unsigned i = 0; i < spec->nr_hosts; i++) {
		if (!r && (r = await_ready(&s[i], fds[i], err)) < 0)
			error_prefix(err, r, "agent");
		io_close(&fds[i]);
		free((char *)s[i].host);
		service_clear(&s[i]);
	}
	free(fds);
	free(s);
	return r;
}

int testbed_serve(const struct testbed_spec *spec, struct error *err)
{
	char *dir = testbed_path(spec->name, "controller");
	int r = mkdir(dir, 0700) < 0 ? -errno : 0;

	if (r < 0)
		error_sys(err, r, "cannot make %s", dir);
	free(dir);
	if (r < 0 || (r = enrol_all(spec->name, spec->nr_hosts, err)) < 0 ||
	    (r = start_controller(spec, err)) < 0 ||
	    (r = start_agents(spec, err)) < 0)
		return r;
	return write_client_conf(spec->name, err);
}
