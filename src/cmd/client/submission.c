/* submission.c - what `stint run` and `submit` ask for, see submission.h */
#include "cmd/client/submission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conn/message.h"
#include "cluster/host/limit.h"
#include "cmd/client/client_options.h"
#include "cmd/client/run_stdin.h"
#include "cmd/kit/command.h"
#include "core/pattern.h"
#include "core/plain.h"
#include "core/units.h"
#include "core/xalloc.h"

#define RANKS_MAX    4096
#define NAME_LONGEST 64
#define PIDS_MAX     4194304 /* as many as a kernel has */

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

int submission_limit(struct submission *sub, const char *arg, struct error *err)
{
	return command_span(arg, "--limit", &sub->ask.limit_usec, err);
}

/* "SIGNAL@TIME". */
int submission_warn(struct submission *sub, const char *arg, struct error *err)
{
	const char *at = strchr(arg, '@');
	char *name = xasprintf("%.*s", (int)(at ? at - arg : 0), arg);
	int r = at ? parse_signal(name, &sub->ask.warn_signal, err)
		   : error_set(err, -EINVAL,
			       "'%s' is not SIGNAL@TIME, such as USR1@60s",
			       arg);

	free(name);
	if (r < 0)
		return error_prefix(err, r, "--warn");
	return command_span(at + 1, "--warn", &sub->ask.warn_usec, err);
}

int submission_check(const struct submission *sub, struct error *err)
{
	const Control__Submit *s = &sub->ask;

	if (!s->warn_signal || s->warn_usec < s->limit_usec)
		return 0;
	return error_set(err, -EINVAL,
			 "--warn: the warning comes before --limit, by less "
			 "than that");
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

int submission_cpus(struct submission *sub, const char *arg, struct error *err)
{
	return limits_cpus_parse("--cpus", arg, &sub->ask.milli_cpus, err);
}

int submission_output_limit(struct submission *sub, const char *arg,
			    struct error *err)
{
	uint64_t n;
	int r = parse_size(arg, &n, err);

	if (!r && !n)
		r = error_set(err, -ERANGE, "0 bytes hold nothing");
	if (r < 0)
		return error_prefix(err, r, "--output-limit");
	sub->ask.output_max = n;
	return 0;
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

int submission_name(struct submission *sub, const char *arg, struct error *err)
{
	if (!*arg || strlen(arg) > NAME_LONGEST || strchr(arg, '/') ||
	    !plain_is(arg))
		return error_set(err, -EINVAL,
				 "--name: a name has 1 to %d bytes, no slash, "
				 "and nothing that a terminal obeys",
				 NAME_LONGEST);
	sub->ask.name = (char *)arg;
	return 0;
}

/* From here on: the ranks' working directory may be another one. */
static int set_file(char **to, const char *option, const char *arg,
		    struct error *err)
{
	int r = pattern_check(arg, err);
	char *here;

	if (r < 0)
		return error_prefix(err, -EINVAL, "%s", option);
	if (*arg == '/') {
		message_set_text(to, xstrdup(arg));
		return 0;
	}
	here = getcwd(NULL, 0);
	if (!here)
		return error_sys(err, -errno, "the working directory");
	/* A percent sign in it is none of the pattern. */
	message_set_text(to, strchr(here, '%') ? NULL
					       : xasprintf("%s/%s", here, arg));
	if (strchr(here, '%'))
		error_set(err, -EINVAL,
			  "%s: this directory has a %% in its name: give the "
			  "whole path, with %%%% for it",
			  option);
	r = strchr(here, '%') ? -EINVAL : 0;
	free(here);
	return r;
}

int submission_output(struct submission *sub, const char *arg,
		      struct error *err)
{
	return set_file(&sub->ask.output, "--output", arg, err);
}

int submission_error(struct submission *sub, const char *arg, struct error *err)
{
	return set_file(&sub->ask.error, "--error", arg, err);
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

/* Those of processes and threads are --pids-limit's. */
static const int resources[] = { RLIMIT_CPU,   RLIMIT_FSIZE,  RLIMIT_DATA,
				 RLIMIT_STACK, RLIMIT_CORE,   RLIMIT_NOFILE,
				 RLIMIT_AS,    RLIMIT_MEMLOCK };

static void fill_limits(struct submission *sub)
{
	Control__Submit *s = &sub->ask;
	mode_t mask = umask(0);
	struct rlimit lim;

	umask(mask);
	s->umask = 01000 | (mask & 0777);
	s->limits = xcalloc(SUBMISSION_LIMITS, sizeof(*s->limits));
	for (size_t i = 0; i < SUBMISSION_LIMITS; i++) {
		Control__ResourceLimit *l = &sub->limits[s->n_limits];

		if (getrlimit(resources[i], &lim) < 0)
			continue;
		control__resource_limit__init(l);
		l->resource = (uint32_t)resources[i];
		l->soft = lim.rlim_cur;
		l->hard = lim.rlim_max;
		s->limits[s->n_limits++] = l;
	}
}

int submission_fill(struct submission *sub, struct error *err)
{
	Control__Submit *s = &sub->ask;

	/* Its groups are for the controller to say. */
	s->uid = getuid();
	s->gid = getgid();
	s->stdin_open = !s->requeue && !s->detached && run_stdin_wanted();
	if (getrandom(sub->key, sizeof(sub->key), 0) != sizeof(sub->key))
		return error_set(err, -EIO, "getrandom failed");
	fill_limits(sub);
	s->key.data = sub->key;
	s->key.len = sizeof(sub->key);
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
	for (size_t i = 0; i < s->n_after; i++)
		free(s->after[i]);
	free(s->after);
	free(s->env);
	free(s->hosts);
	message_set_text(&s->cwd, NULL);
	message_set_text(&s->output, NULL);
	message_set_text(&s->error, NULL);
	free(s->limits);
}
