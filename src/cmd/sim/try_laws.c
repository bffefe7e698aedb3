/* try_laws.c - see try_laws.h */
#include "cmd/sim/try_laws.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io.h"
#include "core/json.h"
#include "sim/laws/laws.h"

/* Stint's own need a hundredth of it. */
enum { CPU_SECONDS = 120 };

/* How one went, as its process tells. */
struct verdict {
	int64_t checks; /* negative: it was broken, and err says how */
	struct error err;
};

_Noreturn static void try_here(const struct law *law, const char *policy,
			       int to)
{
	const struct rlimit limit = { CPU_SECONDS, CPU_SECONDS };
	struct verdict v = { .err = ERROR_INIT };

	(void)setrlimit(RLIMIT_CPU, &limit);
	v.checks = law->check(policy, &v.err);
	_exit(io_write_full(to, &v, sizeof(v)) ? 1 : 0);
}

static int64_t died(int status, struct error *err)
{
	if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
		return error_set(err, -EPROTO,
				 "it came to no end in %d s of processor time",
				 CPU_SECONDS);
	if (WIFSIGNALED(status))
		return error_set(err, -EPROTO, "it crashed: %s",
				 strsignal(WTERMSIG(status)));
	return error_set(err, -EPROTO, "it ended the program");
}

static int64_t try_one(const struct law *law, const char *policy,
		       struct error *err)
{
	struct verdict v;
	int fd[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) < 0)
		return error_sys(err, -errno, "pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		try_here(law, policy, fd[1]);
	close(fd[1]);
	n = pid < 0 ? -1 : read(fd[0], &v, sizeof(v));
	close(fd[0]);
	if (pid < 0)
		return error_sys(err, -errno, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(v))
		return died(status, err);
	*err = v.err;
	return v.checks;
}

static void tell_law(const struct law *law, int64_t checks, const char *why,
		     bool json)
{
	if (json)
		json_line(json_pack("{ss ss ss sb sI so}", "version",
				    STINT_VERSION, "law", law->name, "text",
				    law->text, "kept", checks >= 0, "checks",
				    (json_int_t)(checks < 0 ? 0 : checks),
				    "why", json_text(checks < 0 ? why : NULL)),
			  stdout);
	else if (checks < 0)
		printf("%-9s BROKEN: %s\n", law->name, why);
	else
		printf("%-9s kept, %" PRId64 " checks: %s\n", law->name, checks,
		       law->text);
}

bool try_laws(const char *policy, bool json)
{
	const struct law *law;
	bool all = true;

	for (size_t i = 0; (law = law_nth(i)); i++) {
		struct error err = ERROR_INIT;
		int64_t checks = try_one(law, policy, &err);

		tell_law(law, checks, err.text, json);
		all &= checks >= 0;
	}
	if (!json)
		puts("stint " STINT_VERSION);
	return all;
}
