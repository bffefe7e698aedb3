/*
 * command.c - what all subcommands share, in whichever program they are
 */
#include "cmd/command.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/xalloc.h"

static bool told; /* what went wrong */

int command_fail(const char *name, int code, const struct error *err)
{
	told = true;
	fprintf(stderr, "stint %s: %s\n", name, err->text);
	return code;
}

int command_code(int rc)
{
	return rc == -EINVAL || rc == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}

int command_parsed(const struct argp_state *state, int rc,
		   const struct error *err)
{
	if (rc < 0)
		argp_failure(state, command_code(rc), 0, "%s", err->text);
	return 0;
}

/*
 * A descriptor that was closed before we came must not become a file of
 * ours: reading it finds the end, writing it fails.
 */
static void fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
			abort(); /* no /dev/null: nothing will work */
}

/* Whatever was printed has arrived, or the exit code says that it has not. */
static void check_stdout(void)
{
	int rc = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;

	if (!rc || told)
		return;
	if (rc == -EPIPE) /* whoever reads has seen enough, and knows */
		_exit(128 + SIGPIPE);
	fprintf(stderr, "stint: standard output: %s\n", strerror(-rc));
	_exit(EXIT_FAILED);
}

void command_begin(void)
{
	fill_standard();
	atexit(check_stdout);
}

const struct command *command_find(const struct command *table,
				   const char *name)
{
	for (const struct command *c = table; c->name; c++)
		if (!strcmp(name, c->name))
			return c;
	return NULL;
}

int command_run(const struct command *command, int argc, char **argv)
{
	argp_err_exit_status = EXIT_USAGE;
	argv[1] = xasprintf("stint %s", command->name);
	return command->run(argc - 1, argv + 1);
}
