/*
 * stint.c - the program people call: becomes the one that has the subcommand
 *
 * It is small and needs no library, as every command begins with it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "core/installed.h"

/* Where the subcommands of a room are, and what people know that part as. */
#define PROGRAM_client "stint-client", "clusters"
#define PROGRAM_daemon "stint-cluster", "clusters"
#define PROGRAM_keeper "stint-keeper", "clusters"
#define PROGRAM_move   "stint-cluster", "clusters"
#define PROGRAM_sim    "stint-sim", "simulations"

static const struct part {
	const char *name, *summary, *program, *what;
} parts[] = {
#define COMMAND(room, name, summary) { #name, summary, PROGRAM_##room },
#include "cmd/kit/commands.def"
#undef COMMAND
	{ NULL }
};

static int usage(FILE *to, int code)
{
	fprintf(to, "usage: stint COMMAND [OPTIONS] ...\n\n");
	for (const struct part *p = parts; p->name; p++)
		fprintf(to, "  %-12s %s\n", p->name, p->summary);
	fprintf(to, "\n`stint COMMAND --help` tells more, `man stint-COMMAND` "
		    "all.\n");
	return code;
}

/* Beside us, as it is built, or where it is installed. */
static char *find_part(const struct part *p, char installed[PATH_MAX])
{
	char built[PATH_MAX], *path;

	snprintf(built, PATH_MAX, "../" STINT_LIBEXEC_DIR "/%s", p->program);
	snprintf(installed, PATH_MAX, STINT_LIBEXEC "/%s", p->program);
	path = installed_find(p->program, "");
	return path ? path : installed_find(built, installed);
}

/* Become the other program. */
static int hand_over(const struct part *p, char **argv)
{
	char installed[PATH_MAX], *path = find_part(p, installed);
	struct error err;

	if (!path) {
		error_set(&err, -ENOENT,
			  "%s is not there; is the part of Stint for %s "
			  "installed?",
			  installed, p->what);
		return command_fail(p->name, EXIT_FAILED, &err);
	}
	execv(path, argv);
	error_sys(&err, -errno, "%s", path);
	free(path);
	return command_fail(p->name, EXIT_FAILED, &err);
}

static int run_command(char **argv)
{
	for (const struct part *p = parts; p->name; p++)
		if (!strcmp(argv[1], p->name))
			return hand_over(p, argv);
	fprintf(stderr, "stint: no command '%s'; `stint help` lists them\n",
		argv[1]);
	return EXIT_USAGE;
}

/* `stint help NAME` is `stint NAME --help`. */
static int help(int argc, char **argv)
{
	char option[] = "--help", *words[] = { argv[0], NULL, option, NULL };

	if (argc < 3)
		return usage(stdout, EXIT_OK);
	words[1] = argv[2];
	return run_command(words);
}

int main(int argc, char **argv)
{
	command_begin();
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version") ||
	    !strcmp(argv[1], "-V")) {
		puts("stint " STINT_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc, argv);
	return run_command(argv);
}
