/* submission.c - what `stint run` asks for, see submission.h */
#include "cmd/client/submission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conn/message.h"
#include "cluster/host/limit.h"
#include "cmd/client/run_stdin.h"
#include "cmd/kit/command.h"
#include "core/units.h"
#include "core/xalloc.h"

#define RANKS_MAX 4096
#define PIDS_MAX  4194304 /* as many as a kernel has */

extern char **environ;

int submission_ranks(struct submission *sub, const char *arg, struct error *err)
{
	const char *dash = *arg ? strchr(arg + 1, '-') : NULL;
	char *first = dash ? xasprintf("%.*s", (int)(dash - arg), arg) : NULL;
	int64_t n, min = 0;
	int r = 0;

	if (dash)
		r = parse_int(first, 1, RANKS_MAX, "-n", &min, err);
	free(first);
	if (!r)
		r = parse_int(dash ? dash + 1 : arg, min ? min : 1, RANKS_MAX,
			      "-n", &n, err);
	if (r < 0)
		return error_set(
			err, -EINVAL,
			"-n: '%s' is not a number of ranks: write N or "
			"MIN-N, from 1 to %d",
			arg, RANKS_MAX);
	sub->ask.ranks = n;
	sub->ask.min_ranks = min;
	return 0;
}

int submission_time(struct submission *sub, const char *arg, struct error *err)
{
	return command_span(arg, "--time", &sub->ask.estimate_usec, err);
}

int submission_memory(struct submission *sub, const char *arg,
		      struct error *err)
{
	return limits_memory_parse("--memory", arg, &sub->ask.memory, err);
}

int submission_pids(struct submission *sub, const char *arg, struct error *err)
{
	int64_t n;
	int r = parse_int(arg, 1, PIDS_MAX, "--pids-limit", &n, err);

	if (!r)
		sub->ask.pids = n;
	return r;
}

int submission_wdir(struct submission *sub, const char *arg, struct error *err)
{
	char *path = realpath(arg, NULL);
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return error_set(err, -EINVAL, "--wdir: %s: %s", arg,
				 strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		free(path);
		return error_set(err, -EINVAL, "--wdir: %s: %s", arg,
				 strerror(ENOTDIR));
	}
	message_set_text(&sub->ask.cwd, path);
	return 0;
}

int submission_hosts(struct submission *sub, const char *arg, struct error *err)
{
	Control__Submit *s = &sub->ask;
	const char *c = arg;
	size_t n;

	for (;; c += n + 1) {
		n = strcspn(c, ",");
		if (!n)
			return error_set(
				err, -EINVAL,
				"--hosts: '%s' is not a list of hosts: "
				"write A,B,...",
				arg);
		if (memchr(c, ':', n))
			return error_set(
				err, -EINVAL,
				"--hosts: '%.*s': hosts have no slots; "
				"write A,A for two ranks on A",
				(int)n, c);
		array_room(s->hosts, s->n_hosts, &sub->cap_hosts);
		s->hosts[s->n_hosts++] = xasprintf("%.*s", (int)n, c);
		if (!c[n])
			return 0;
	}
}

static void put_env(struct submission *sub, char *text)
{
	Control__Submit *s = &sub->ask;
	size_t n = strcspn(text, "=") + 1;

	for (size_t i = 0; i < s->n_env; i++)
		if (!strncmp(s->env[i], text, n)) {
			free(s->env[i]);
			s->env[i] = text;
			return;
		}
	array_room(s->env, s->n_env, &sub->cap_env);
	s->env[s->n_env++] = text;
}

/* Ours, but for what tells Stint's own programs how to run. */
void submission_init(struct submission *sub)
{
	*sub = (struct submission){ .ask = CONTROL__SUBMIT__INIT };
	sub->ask.ranks = 1;
	for (char **e = environ; *e; e++)
		if (strchr(*e, '=') && (strncmp(*e, "STINT_", 6) ||
					!strncmp(*e, "STINT_SPIN=", 11)))
			put_env(sub, xstrdup(*e));
}

int submission_export(struct submission *sub, const char *arg,
		      struct error *err)
{
	const char *value = getenv(arg);

	if (!*arg || *arg == '=')
		return error_set(err, -EINVAL, "-x '%s': no name", arg);
	if (strchr(arg, '='))
		put_env(sub, xstrdup(arg));
	else if (value)
		put_env(sub, xasprintf("%s=%s", arg, value));
	else
		return error_set(err, -EINVAL,
				 "-x %s: your environment has no such variable",
				 arg);
	return 0;
}

int submission_program(struct submission *sub, char **argv, size_t n,
		       bool quoted, struct error *err)
{
	sub->ask.argv = argv;
	sub->ask.n_argv = n;
	if (!*argv[0])
		return error_set(err, -EINVAL,
				 "run which program? '' is not a name");
	for (size_t i = 0; i < n && !quoted; i++)
		if (!strcmp(argv[i], ":"))
			return error_set(
				err, -EINVAL,
				"':' would begin a second program, and "
				"a job has one; if it is an argument "
				"of that one, write -- before the "
				"program");
	return 0;
}

int submission_fill(struct submission *sub, struct error *err)
{
	Control__Submit *s = &sub->ask;

	/* Its groups are for the controller to say. */
	s->uid = getuid();
	s->gid = getgid();
	s->stdin_open = run_stdin_wanted();
	if (!s->cwd || s->cwd == protobuf_c_empty_string)
		s->cwd = getcwd(NULL, 0);
	return s->cwd ? 0 : error_sys(err, -errno, "the working directory");
}

void submission_clear(struct submission *sub)
{
	Control__Submit *s = &sub->ask;

	for (size_t i = 0; i < s->n_env; i++)
		free(s->env[i]);
	for (size_t i = 0; i < s->n_hosts; i++)
		free(s->hosts[i]);
	free(s->env);
	free(s->hosts);
	message_set_text(&s->cwd, NULL);
}
