/*
 * stint.c - the one binary: finds the subcommand and runs it
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "core/xalloc.h"

#define COMMAND(name) extern const struct command cmd_##name;
#include "cmd/commands.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "cmd/commands.def"
#undef COMMAND
	NULL
};

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

static int usage(FILE *to, int code)
{
	fprintf(to, "usage: stint COMMAND [OPTIONS] ...\n\n");
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "  %-12s %s\n", (*c)->name, (*c)->summary);
	fprintf(to, "\n`stint COMMAND --help` tells more, `man stint-COMMAND` "
		    "all.\n");
	return code;
}

static const struct command *find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp(name, (*c)->name))
			return *c;
	return NULL;
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
	fprintf(stderr, "stint: standard output: %s\n", strerror(-rc));
	_exit(EXIT_FAILED);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	argp_err_exit_status = EXIT_USAGE;
	argv[0] = xasprintf("stint %s", c->name);
	return c->run(argc, argv);
}

static int unknown(const char *name)
{
	fprintf(stderr, "stint: no command '%s'; `stint help` lists them\n",
		name);
	return EXIT_USAGE;
}

/* `stint help NAME` is `stint NAME --help`. */
static int help(int argc, char **argv)
{
	char option[] = "--help", *words[] = { NULL, option, NULL };
	const struct command *c;

	if (argc < 2)
		return usage(stdout, EXIT_OK);
	c = find(argv[1]);
	return c ? run_command(c, 2, words) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	const struct command *c;

	fill_standard();
	atexit(check_stdout);
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version") ||
	    !strcmp(argv[1], "-V")) {
		puts("stint " STINT_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	c = find(argv[1]);
	return c ? run_command(c, argc - 1, argv + 1) : unknown(argv[1]);
}
