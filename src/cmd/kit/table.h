/*
 * table.h - the table of a program's subcommands, from commands.def
 *
 * A program includes it after IN_client, IN_daemon, IN_keeper, IN_move and IN_sim,
 * which say for each room whether its subcommands are in this program (HERE) or not
 * (ELSEWHERE).
 */
#include <stddef.h>

#include "cmd/kit/command.h"

#define HERE(name, summary) { #name, summary, cmd_##name },
#define ELSEWHERE(name, summary)

static const struct command commands[] = {
#define COMMAND(room, name, summary) IN_##room(name, summary)
#include "cmd/kit/commands.def"
#undef COMMAND
	{ NULL }
};
