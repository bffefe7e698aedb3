/*
 * move.c - `stint move`: move one process, with nothing else of Stint
 *
 *	stint move receive --listen ADDR:PORT [--key FILE]
 *		Wait for one process, run it, and exit with its status (128+n
 *		if signal n ended it).  Prints "listening ADDR:PORT" on stdout
 *		first; port 0 picks a free one.  The process gets a pid
 *		namespace of its own, in which it keeps its pid; its standard
 *		descriptors are this command's.
 *	stint move PID --to ADDR:PORT [--key FILE] [--budget TIME | --deadline TIME]
 *		Move PID there.  Exits 0 when it runs there (and is gone here),
 *		1 when it was refused or given up and runs on here, 3 when the
 *		connection was lost after the decision: it is stopped here for
 *		good, and waits there for `release`.
 *	stint move release PID, stint move discard PID
 *		Let a copy run, or end it, that has landed and waits: PID is
 *		the "stint-nest" process, which the receiver named.
 *	stint move check PID
 *		Can it be moved?  Exits 0, or 1 with the reason.
 *
 * Without a key (both ends the same file, one line "name hex" as
 * `stint controller --enrol` prints it) only loopback addresses are taken,
 * unless --plaintext says otherwise.  A report goes to stderr, or with --json as one
 * object to stdout.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "cmd/move/move_peer.h"
#include "cmd/move/nest.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/move.h"

enum verb { VERB_SEND, VERB_RECEIVE, VERB_RELEASE, VERB_DISCARD, VERB_CHECK };

#define EXIT_UNDECIDED 3

struct args {
	enum verb verb;
	bool json, throttle, have_verb;
	const char *record;
	struct move_peer peer; /* its addr: to or listen */
	pid_t pid;
	uint64_t budget, deadline; /* microseconds; 0: none */
	char given[16];		   /* options, by letter */
};

static const struct argp_option options[] = {
	{ "to", 't', "ADDR:PORT", 0, "Where the receiver listens", 0 },
	{ "listen", 'l', "ADDR:PORT", 0, "Where to wait for a process", 0 },
	{ "budget", 'b', "TIME", 0,
	  "Longest downtime wanted, as in 5ms; refuse if out of reach", 0 },
	{ "throttle", 's', NULL, 0,
	  "Slow the process down where that helps to keep the budget", 0 },
	{ "deadline", 'd', "TIME", 0,
	  "It should have left by then, and stands still if that helps", 0 },
	{ "key", 'k', "FILE", 0, "The key that both ends share", 0 },
	{ "plaintext", 'p', NULL, 0,
	  "Allow other hosts without a key: anybody on the way can read it",
	  0 },
	{ "once", 'o', NULL, 0,
	  "receive: End at the first who connects, also if it is the wrong one",
	  0 },
	{ "record", 'r', "FILE", 0,
	  "Write the decision to FILE when the process has left", 0 },
	{ "json", 'j', NULL, 0, "Print the report as JSON on stdout", 0 },
	{ 0 }
};

static const char *const verbs[] = {
	[VERB_SEND] = "PID",	    [VERB_RECEIVE] = "receive",
	[VERB_RELEASE] = "release", [VERB_DISCARD] = "discard",
	[VERB_CHECK] = "check",
};
/* The options that each has. */
static const char *const verb_options[] = {
	[VERB_SEND] = "tbsdkprj", [VERB_RECEIVE] = "lkpoj", [VERB_RELEASE] = "",
	[VERB_DISCARD] = "",	  [VERB_CHECK] = "",
};

static int parse_word(struct args *a, const char *word, struct error *err)
{
	int64_t pid;

	for (int v = VERB_RECEIVE; v <= VERB_CHECK && !a->have_verb; v++) {
		if (!strcmp(word, verbs[v])) {
			a->verb = (enum verb)v;
			a->have_verb = true;
			return 0;
		}
	}
	if (a->pid || a->verb == VERB_RECEIVE)
		return error_set(err, -EINVAL, "too many arguments");
	if (parse_int(word, 1, INT32_MAX, "PID", &pid, NULL) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is not a process: give its PID", word);
	a->pid = (pid_t)pid;
	a->have_verb = true;
	return 0;
}

static void note_option(struct args *a, int key)
{
	size_t n = strlen(a->given);

	if (!strchr(a->given, key) && n + 1 < sizeof(a->given))
		a->given[n] = (char)key;
}

static void check_args(const struct args *a, struct argp_state *state)
{
	char odd = a->given[strspn(a->given, verb_options[a->verb])];
	const struct argp_option *o = options;

	if (a->verb != VERB_RECEIVE && !a->pid)
		command_misuse(state, "which process? Give its PID");
	if (a->verb == VERB_RECEIVE && !a->peer.addr)
		command_misuse(state, "--listen is missing");
	if (a->verb == VERB_SEND && !a->peer.addr)
		command_misuse(state, "--to is missing");
	while (odd && o->key != odd)
		o++;
	if (odd)
		command_misuse(state, "--%s does not go with `stint move %s`",
			       o->name, verbs[a->verb]);
	if (a->budget && a->deadline)
		command_misuse(state, "--budget does not go with --deadline, "
				      "which may take a longer downtime");
}

static error_t parse_move(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	if (key > 0 && key <= CHAR_MAX) /* others are events */
		note_option(a, key);
	switch (key) {
	case 't':
	case 'l':
		a->peer.addr = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'k':
		a->peer.key_file = arg;
		return 0;
	case 'r':
		a->record = arg;
		return 0;
	case 'p':
		a->peer.plaintext = true;
		return 0;
	case 'o':
		a->peer.once = true;
		return 0;
	case 's':
		a->throttle = true;
		return 0;
	case 'b':
		return command_parsed(
			state, command_span(arg, "--budget", &a->budget, &err),
			&err);
	case 'd':
		return command_parsed(
			state,
			command_span(arg, "--deadline", &a->deadline, &err),
			&err);
	case ARGP_KEY_ARG:
		if (parse_word(a, arg, &err) < 0)
			command_misuse(state, "%s", err.text);
		return 0;
	case ARGP_KEY_END:
		check_args(a, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void progress(void *ctx, const char *line)
{
	fprintf(stderr, "stint move: %s\n", line);
}

/* In the watch of an engine that was this process. */
static void tell_end(void *ctx, enum move_outcome outcome, const char *why)
{
	fprintf(stderr, "stint move: %s\n", why);
}

static void tell_end_json(void *ctx, enum move_outcome outcome, const char *why)
{
	const struct move_report rep = { .outcome = outcome };
	struct error err;

	error_set(&err, -EIO, "%s", why);
	move_report_json(&rep, &err);
	tell_end(ctx, outcome, why);
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

/* The record: it appears whole or not at all. */
static int write_record(void *ctx, uint64_t epoch, struct error *err)
{
	const struct args *a = ctx;
	char *text;
	int r;

	if (!a->record)
		return 0;
	text = xasprintf("pid %d epoch %llu committed to %s\n", a->pid,
			 (unsigned long long)epoch, a->peer.addr);
	r = io_replace_file(a->record, text, err);
	free(text);
	return r;
}

static const struct move_source_ops source_ops = { .commit = write_record };

/* Without the right to inspect the process, say what is needed. */
static void explain_failure(struct error *err, int r)
{
	if ((r == -EACCES || r == -EPERM) && geteuid())
		error_prefix(
			err, r,
			"a move needs root, or namespaces of your own (see "
			"stint-move(1))");
}

static int run_send(struct args *a)
{
	struct move_external ext[3];
	struct move_source src = {
		.pid = a->pid,
		.budget = (usec_t)a->budget,
		.throttle = a->throttle,
		.deadline = (usec_t)a->deadline,
		.external = ext,
		.nr_externals = find_stdio(a->pid, ext),
		.ops = &source_ops,
		.ctx = a,
		.progress = a->json ? NULL : progress,
		.ended = a->json ? tell_end_json : tell_end,
	};
	struct move_report rep;
	struct error err = ERROR_INIT;
	struct channel *ch;
	int r = move_peer_connect(&a->peer, &ch, &err);

	if (r < 0)
		return command_fail("move", command_code(r), &err);
	src.epoch = (uint64_t)clock_nsec(CLOCK_REALTIME);
	r = move_send(&src, ch, &rep, &err);
	explain_failure(&err, r);
	if (a->json)
		move_report_json(&rep, &err);
	if (r < 0)
		return command_fail("move",
				    rep.outcome == MOVE_UNDECIDED
					    ? EXIT_UNDECIDED
					    : EXIT_FAILED,
				    &err);
	if (!a->json)
		move_report_print(&rep);
	return EXIT_OK;
}

static int dest_spawn(void *ctx, const void *arg, size_t n, const int *fds,
		      size_t nr_fds, struct error *err)
{
	return nest_spawn(ctx, arg, n, fds, nr_fds, err);
}

static int dest_landed(void *ctx, uint64_t epoch, pid_t ns_pid,
		       struct error *err)
{
	return nest_keep(ctx, ns_pid, err);
}

/* The far ends are those of whoever started us. */
static int dest_external(void *ctx, const char *name, int *ret_far,
			 struct error *err)
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

/* It has landed, and it is not known here whether it may run. */
static int leave_waiting(const struct nest *nest, const struct error *err)
{
	fprintf(stderr,
		"stint move: %s; the process waits: `stint move release %d` if the source has moved it, else `stint move discard %d`\n",
		err->text, nest_pid(nest), nest_pid(nest));
	return EXIT_UNDECIDED;
}

static int run_receive(struct args *a)
{
	struct move_dest dst = {
		.ops = &dest_ops,
		.ended = a->json ? tell_end_json : tell_end,
	};
	struct error err = ERROR_INIT;
	struct move_report rep;
	struct channel *ch;
	struct nest *nest;
	int status, code, r = move_peer_accept(&a->peer, &ch, &err);

	if (r < 0)
		return command_fail("move", command_code(r), &err);
	r = nest_create(&nest, &err);
	if (r < 0) {
		channel_close(ch);
		return command_fail("move", EXIT_FAILED, &err);
	}
	dst.ctx = nest;
	r = move_receive(&dst, ch, &rep, &err);
	if (a->json)
		move_report_json(&rep, &err);
	if (!r && rep.flawed)
		fprintf(stderr, "stint move: %s\n", err.text);
	if (!r)
		r = nest_wait(nest, &status, &err);
	if (!r)
		code = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					   : WEXITSTATUS(status);
	else if (rep.outcome == MOVE_UNDECIDED)
		code = leave_waiting(nest, &err);
	else
		code = command_fail("move", EXIT_FAILED, &err);
	nest_destroy(nest);
	return code;
}

/* Signal a nest's init, after checking that the process is one. */
static int run_tell(const struct args *a, int sig)
{
	struct error err;
	char path[64], *comm;
	bool ours;

	snprintf(path, sizeof(path), "/proc/%d/comm", a->pid);
	if (io_read_file(AT_FDCWD, path, 64, &comm) < 0) {
		error_set(&err, -ESRCH, "no process %d", a->pid);
		return command_fail("move", EXIT_FAILED, &err);
	}
	ours = !strcmp(comm, "stint-nest\n");
	free(comm);
	if (!ours)
		error_set(&err, -EINVAL, "%d is not a stint-nest process",
			  a->pid);
	else if (kill(a->pid, sig) < 0)
		error_sys(&err, -errno, "process %d", a->pid);
	else
		return EXIT_OK;
	return command_fail("move", EXIT_FAILED, &err);
}

static int run_check(const struct args *a)
{
	struct move_external ext[3];
	struct error err;
	int r;

	if (kill(a->pid, 0) < 0 && errno == ESRCH) {
		error_set(&err, -ESRCH, "no process %d", a->pid);
		return command_fail("move", EXIT_FAILED, &err);
	}
	r = move_check(a->pid, ext, find_stdio(a->pid, ext), &err);
	explain_failure(&err, r);
	return r < 0 ? command_fail("move", EXIT_FAILED, &err) : EXIT_OK;
}

int cmd_move(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_move,
		"PID --to ADDR:PORT\nreceive --listen ADDR:PORT\ncheck PID\nrelease PID\ndiscard PID",
		"Move one running process to another host.",
		NULL,
		NULL,
		NULL
	};
	struct args a = { 0 };

	command_parse(&argp, argc, argv, 0, &a);
	signal(SIGPIPE,
	       SIG_IGN); /* a peer that is gone is an error to report */
	switch (a.verb) {
	case VERB_RECEIVE:
		return run_receive(&a);
	case VERB_RELEASE:
		return run_tell(&a, NEST_RELEASE);
	case VERB_DISCARD:
		return run_tell(&a, NEST_DISCARD);
	case VERB_CHECK:
		return run_check(&a);
	default:
		return run_send(&a);
	}
}
