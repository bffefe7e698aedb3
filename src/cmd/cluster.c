/*
 * cluster.c - the program that has the subcommands for clusters and hosts;
 * `stint` and programs of this kind start it
 */
#include <stdio.h>

#include "cmd/kit/command.h"

static const struct command commands[] = {
#define SIMULATOR(room, name, summary)
#define CLUSTER(room, name, summary) { #name, summary, cmd_##name },
#include "cmd/kit/commands.def"
#undef SIMULATOR
#undef CLUSTER
	{ NULL }
};

int main(int argc, char **argv)
{
	const struct command *c =
		argc < 2 ? NULL : command_find(commands, argv[1]);

	command_begin();
	if (!c) {
		fputs("stint-cluster: this is a part of stint; call stint\n",
		      stderr);
		return EXIT_USAGE;
	}
	return command_run(c, argc, argv);
}
