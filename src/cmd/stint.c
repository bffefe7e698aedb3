/*
 * stint.c - the one binary: finds the subcommand and runs it
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

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

int command_fail(const char *name, int code, const struct error *err)
{
	fprintf(stderr, "stint %s: %s\n", name, err->text);
	return code;
}

static int usage(FILE *to, int code)
{
	fprintf(to, "usage: stint COMMAND [OPTIONS] ...\n\n");
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "  %-12s %s\n", (*c)->name, (*c)->summary);
	fprintf(to, "\n`stint COMMAND --help` tells more, `man stint` all.\n");
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("stint " STINT_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))
		return usage(stdout, EXIT_OK);
	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp(argv[1], (*c)->name))
			continue;
		argp_err_exit_status = EXIT_USAGE;
		argv[1] = xasprintf("stint %s", (*c)->name);
		return (*c)->run(argc - 1, argv + 1);
	}
	fprintf(stderr, "stint: no command '%s'; `stint help` lists them\n",
		argv[1]);
	return EXIT_USAGE;
}
