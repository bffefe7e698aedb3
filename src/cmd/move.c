/*
 * move.c - `stint move`: move one process, with nothing else of Stint
 *
 *	stint move receive --listen ADDR:PORT
 *		Wait for one process, run it, and exit with its status (128+n
 *		if signal n ended it).  Prints "listening ADDR:PORT" on stdout
 *		first; port 0 picks a free one.  The process gets a pid
 *		namespace of its own, in which it keeps its pid; its standard
 *		descriptors are this command's.
 *	stint move PID --to ADDR:PORT
 *		Move PID there.  Exits 0 when it runs there (and is gone here),
 *		1 when it was refused or given up and runs on here.
 *
 * Both print a report on stderr, or as one JSON object on stdout with --json.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/nest.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/move.h"

struct args {
	bool receive, json;
	pid_t pid;
	const char *addr; /* to or listen */
	usec_t budget;
};

static const struct argp_option options[] = {
	{ "to", 't', "ADDR:PORT", 0, "Where the receiver listens", 0 },
	{ "listen", 'l', "ADDR:PORT", 0, "Where to wait for a process", 0 },
	{ "budget", 'b', "TIME", 0,
	  "Longest downtime wanted, as in 5ms; refuse if out of reach", 0 },
	{ "json", 'j', NULL, 0, "Print the report as JSON on stdout", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int64_t pid;

	switch (key) {
	case 't':
	case 'l':
		a->addr = arg;
		if (state->arg_num == 0 && key == 'l')
			a->receive = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'b':
		if (parse_usec(arg, &a->budget, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "one process at a time");
		if (!strcmp(arg, "receive"))
			a->receive = true;
		else if (parse_int(arg, 1, INT32_MAX, "PID", &pid, &err) < 0)
			argp_error(state, "%s", err.text);
		else
			a->pid = (pid_t)pid;
		return 0;
	case ARGP_KEY_END:
		if (!a->receive && !a->pid)
			argp_error(state,
				   "what shall move? Give a PID or 'receive'");
		if (!a->addr)
			argp_error(state, a->receive ? "--listen is missing"
						     : "--to is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* "host:port" or "[v6]:port"; connects or listens. */
static int open_socket(const char *addr, bool listening, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = listening ? AI_PASSIVE : 0 };
	struct addrinfo *ai;
	char *host = xstrdup(addr), *port = strrchr(host, ':'), *name = host;
	int fd = -1, r, one = 1;

	if (!port) {
		free(host);
		return error_set(err, -EINVAL, "%s: expected ADDR:PORT", addr);
	}
	*port++ = '\0';
	if (*name == '[' && name[strlen(name) - 1] == ']') {
		name[strlen(name) - 1] = '\0';
		name++;
	}
	r = getaddrinfo(*name ? name : NULL, port, &hints, &ai);
	free(host);
	if (r)
		return error_set(err, -EINVAL, "%s: %s", addr, gai_strerror(r));
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening && fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 ||
	    (listening ? bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 ||
				 listen(fd, 1) < 0
		       : connect(fd, ai->ai_addr, ai->ai_addrlen) < 0)) {
		r = error_sys(err, -errno, "%s", addr);
		io_close(&fd);
	} else {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		r = fd;
	}
	freeaddrinfo(ai);
	return r;
}

static void print_json(const struct move_report *rep, const struct error *err)
{
	static const char *const outcome[] = { "aborted", "done", "undecided" };
	json_t *j = json_pack(
		"{s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"outcome", outcome[rep->outcome], "error", err->text, "pid",
		(int)rep->pid, "rounds", (int)rep->rounds, "threads",
		(int)rep->threads, "pages_sent", (json_int_t)rep->pages_sent,
		"pages_last", (json_int_t)rep->pages_last, "bytes_held",
		(json_int_t)rep->bytes_held, "tracked", rep->tracked,
		"total_us", (json_int_t)rep->total, "downtime_us",
		(json_int_t)rep->downtime, "predicted_us",
		(json_int_t)rep->predicted, "freeze_us",
		(json_int_t)rep->freeze, "last_us", (json_int_t)rep->last,
		"capture_us", (json_int_t)rep->capture, "restore_us",
		(json_int_t)rep->restore, "commit_us", (json_int_t)rep->commit);

	json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	fflush(stdout);
	json_decref(j);
}

static void print_report(const struct move_report *rep)
{
	double mib = (double)rep->pages_sent / 256;

	fprintf(stderr,
		"moved in %.3f s: %.1f MiB in %u rounds%s, %u threads\n",
		(double)rep->total / 1e6, mib, rep->rounds,
		rep->tracked ? "" : " (stop-and-copy)", rep->threads);
	fprintf(stderr,
		"downtime %.2f ms: freeze %.2f, last pages %.2f, state %.2f, restore %.2f, commit %.2f\n",
		(double)rep->downtime / 1e3, (double)rep->freeze / 1e3,
		(double)rep->last / 1e3, (double)rep->capture / 1e3,
		(double)rep->restore / 1e3, (double)rep->commit / 1e3);
}

static void progress(void *ctx, const char *line)
{
	fprintf(stderr, "stint move: %s\n", line);
}

static const char *const stdio_names[] = { "stdin", "stdout", "stderr" };

/*
 * Standard descriptors that lead out of the process (a pipe, a terminal)
 * become those of the receiver; files and /dev/null move as such.
 */
static size_t find_stdio(pid_t pid, struct move_external *ext)
{
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		char path[64];
		struct stat st;
		bool seen = false;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, i);
		if (stat(path, &st) < 0 ||
		    (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) &&
		     !(S_ISCHR(st.st_mode) && major(st.st_rdev) != 1)))
			continue;
		for (size_t k = 0; k < n; k++)
			seen |= ext[k].dev == st.st_dev &&
				ext[k].ino == st.st_ino;
		if (seen)
			continue;
		snprintf(ext[n].name, sizeof(ext[n].name), "%s",
			 stdio_names[i]);
		ext[n].dev = st.st_dev;
		ext[n++].ino = st.st_ino;
	}
	return n;
}

static int run_send(const struct args *a)
{
	struct move_external ext[3];
	struct move_source src = {
		.pid = a->pid,
		.budget = a->budget,
		.external = ext,
		.nr_externals = find_stdio(a->pid, ext),
		.progress = a->json ? NULL : progress,
	};
	struct move_report rep;
	struct error err = ERROR_INIT;
	struct timespec ts;
	int fd = open_socket(a->addr, false, &err), r;

	if (fd < 0)
		return command_fail("move", EXIT_FAILED, &err);
	clock_gettime(CLOCK_REALTIME, &ts);
	src.epoch = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	r = move_send(&src, channel_from_fd(fd), &rep, &err);
	if (a->json)
		print_json(&rep, &err);
	if (r < 0)
		return command_fail("move", EXIT_FAILED, &err);
	if (!a->json)
		print_report(&rep);
	return EXIT_OK;
}

static int dest_spawn(void *ctx, const void *arg, size_t n, const int *fds,
		      size_t nr_fds, pid_t *ret, struct error *err)
{
	return nest_spawn(ctx, arg, n, fds, nr_fds, ret, err);
}

static int dest_landed(void *ctx, uint64_t epoch, pid_t ns_pid,
		       struct error *err)
{
	return nest_keep(ctx, ns_pid, err);
}

static int dest_external(void *ctx, const char *name, struct error *err)
{
	for (int i = 0; i < 3; i++) {
		int fd;

		if (strcmp(name, stdio_names[i]))
			continue;
		fd = fcntl(i, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? error_sys(err, -errno, "%s", name) : fd;
	}
	return error_set(err, -ENOENT, "no '%s' here", name);
}

static const struct move_dest_ops dest_ops = {
	.external = dest_external,
	.spawn = dest_spawn,
	.landed = dest_landed,
};

/* Say where we listen, and take the first who comes. */
static int accept_one(const char *addr, struct error *err)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);
	char host[64], port[16];
	int fd = open_socket(addr, true, err), conn, one = 1;

	if (fd < 0)
		return fd;
	getsockname(fd, (struct sockaddr *)&ss, &n);
	getnameinfo((struct sockaddr *)&ss, n, host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	printf("listening %s:%s\n", host, port);
	fflush(stdout);
	do
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (conn < 0 && errno == EINTR);
	if (conn < 0)
		error_sys(err, -errno, "accept");
	else
		setsockopt(conn, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(fd);
	return conn;
}

static int run_receive(const struct args *a)
{
	struct move_dest dst = { .ops = &dest_ops };
	struct error err = ERROR_INIT;
	struct move_report rep;
	struct nest *nest;
	int status, r, fd = accept_one(a->addr, &err);

	if (fd < 0)
		return command_fail("move", EXIT_FAILED, &err);
	r = nest_create(&nest, &err);
	if (r < 0) {
		close(fd);
		return command_fail("move", EXIT_FAILED, &err);
	}
	dst.ctx = nest;
	r = move_receive(&dst, channel_from_fd(fd), &rep, &err);
	if (a->json)
		print_json(&rep, &err);
	if (r == 0)
		r = nest_wait(nest, &status, &err);
	nest_destroy(nest);
	if (r < 0)
		return command_fail("move", EXIT_FAILED, &err);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"PID --to ADDR:PORT\nreceive --listen ADDR:PORT",
		"Move one running process to another host.",
		NULL,
		NULL,
		NULL
	};
	struct args a = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return a.receive ? run_receive(&a) : run_send(&a);
}

const struct command cmd_move = {
	.name = "move",
	.summary = "move one running process to another host",
	.run = run,
};
