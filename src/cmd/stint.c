/*
 * stint.c - the program people call: finds the subcommand, and runs it or has
 * it run by the program that has it
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "core/installed.h"

static const struct command commands[] = {
#define SIMULATOR(room, name, summary) { #name, summary, cmd_##name },
#define CLUSTER(room, name, summary)   { #name, summary, NULL },
#include "cmd/kit/commands.def"
#undef SIMULATOR
#undef CLUSTER
	{ NULL }
};

static int usage(FILE *to, int code)
{
	fprintf(to, "usage: stint COMMAND [OPTIONS] ...\n\n");
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "  %-12s %s\n", c->name, c->summary);
	fprintf(to, "\n`stint COMMAND --help` tells more, `man stint-COMMAND` "
		    "all.\n");
	return code;
}

/*
 * What one part of a simulation frees the next one uses, instead of having the
 * kernel clear new pages: these were a fifth of a short run.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most it takes */
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, 1 << 20);
}

/* Become the other program. */
static int hand_over(const char *name, char **argv)
{
	char *path = installed_find("stint-cluster", STINT_CLUSTER);
	struct error err;

	if (!path) {
		error_set(&err, -ENOENT,
			  STINT_CLUSTER " is not there; is the part of Stint "
					"for clusters installed?");
		return command_fail(name, EXIT_FAILED, &err);
	}
	execv(path, argv);
	error_sys(&err, -errno, "%s", path);
	free(path);
	return command_fail(name, EXIT_FAILED, &err);
}

static int run_command(int argc, char **argv)
{
	const struct command *c = command_find(commands, argv[1]);

	if (!c) {
		fprintf(stderr,
			"stint: no command '%s'; `stint help` lists them\n",
			argv[1]);
		return EXIT_USAGE;
	}
	return c->run ? command_run(c, argc, argv) : hand_over(c->name, argv);
}

/* `stint help NAME` is `stint NAME --help`. */
static int help(int argc, char **argv)
{
	char option[] = "--help", *words[] = { argv[0], NULL, option, NULL };

	if (argc < 3)
		return usage(stdout, EXIT_OK);
	words[1] = argv[2];
	return run_command(3, words);
}

int main(int argc, char **argv)
{
	command_begin();
	keep_memory();
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
	return run_command(argc, argv);
}
