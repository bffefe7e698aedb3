/*
 * stint.c - the program people call
 *
 * It needs no library, as every command begins with it, and has the subcommands
 * that ask the controller, as far as that is on this machine, which needs none.
 * For all else it becomes the program that has the subcommand.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IN_client HERE
#define IN_daemon ELSEWHERE
#define IN_keeper ELSEWHERE
#define IN_move	  ELSEWHERE
#define IN_sim	  ELSEWHERE
#include "cluster/conn/address.h"
#include "cmd/kit/table.h"
#include "core/installed.h"
#include "core/xalloc.h"

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
	snprintf(installed, PATH_MAX, STINT_LIBEXEC "/%s", p->program);
	return installed_find(p->program, installed);
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

/* ---- what asks the controller ---- */

/* Our words as they came, and the part that has the same subcommand. */
static char **given;
static const struct part *same;

/*
 * The controller is elsewhere: then names are looked up and TLS is spoken by the
 * program that can.  Nothing was done until now but to read what the command line
 * and the configuration say, and it does so again.
 */
int address_resolve(const char *text, const char *host, const char *port,
		    struct address *ret, struct error *err)
{
	exit(hand_over(same, given));
}

static int ask(const struct part *p, int argc, char **argv)
{
	given = xcalloc((size_t)argc + 1, sizeof(*given));
	memcpy(given, argv, (size_t)argc * sizeof(*given));
	same = p;
	return command_main(commands, argc, argv);
}

static bool is_ours(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(name, c->name))
			return true;
	return false;
}

static int run_command(int argc, char **argv)
{
	for (const struct part *p = parts; p->name; p++)
		if (!strcmp(argv[1], p->name))
			return is_ours(p->name) ? ask(p, argc, argv)
						: hand_over(p, argv);
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
	return run_command(3, words);
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
	return run_command(argc, argv);
}
