/*
 * command.h - what a subcommand of stint is
 *
 * To add one: write cmd/ROOM/NAME.c with a function cmd_NAME(), and add its line
 * to commands.def, by which it is also built.  Options are read with
 * command_parse(), which is argp; errors are printed with command_fail(), in a
 * parser with command_parsed() or command_misuse(), so that all errors are one
 * line of the same form.  Commands that ask the controller have client_main()
 * (client_options.h).
 *
 * `stint`, which people call, executes the program that has the subcommand, by
 * its room, unless it asks a controller on this machine (stint.c).  `stint-client` has those that ask the controller,
 * `stint-cluster` daemons and moves, `stint-keeper` what stands beside a rank,
 * `stint-sim` what needs no cluster; these are not in PATH.  So none loads libraries that it does not use, and a
 * simulation does not need those for networks installed.
 */
#ifndef CMD_KIT_COMMAND_H
#define CMD_KIT_COMMAND_H

#include <stdint.h>

#include "core/error.h"

/* Exit codes every subcommand keeps to; run adds the program's own. */
enum command_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* the command was valid and failed */
	EXIT_USAGE = 2,	 /* invalid usage; nothing was done */
};

/* The subcommands.  argv[0] is "stint NAME", as argp's messages want it. */
#define COMMAND(room, name, summary) int cmd_##name(int argc, char **argv);
#include "cmd/kit/commands.def"
#undef COMMAND

/* One of them, as a program's table has it (cmd/kit/table.h). */
struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

/* What every program does first: see to its standard descriptors. */
void command_begin(void);

/* main() of a program with subcommands; the table ends with a name of NULL. */
int command_main(const struct command *table, int argc, char **argv);

/*
 * "stint NAME" from when command_parse() has returned until the subcommand does, which is how
 * one ends: whoever calls exit() meanwhile is no part of Stint.  Else NULL.
 */
const char *command_at_work(void);

/* The exit code for a negative errno: a wrong argument is -EINVAL or -ERANGE,
 * everything else did not work. */
int command_code(int rc);

/* Print "stint NAME: text" on stderr and return code, for the caller's exit. */
int command_fail(const char *name, int code, const struct error *err);

/*
 * argp_parse(); invalid usage prints one line that names --help, then
 * exit(EXIT_USAGE).  Parsers report it with command_misuse() or
 * command_parsed().
 */
struct argp;
void command_parse(const struct argp *argp, int argc, char **argv,
		   unsigned flags, void *input);

/* In a parser: report wrong usage and exit(EXIT_USAGE). */
struct argp_state;
_Noreturn void command_misuse(const struct argp_state *state, const char *fmt,
			      ...) __attribute__((format(printf, 2, 3)));

/* parse_usec() above 0, with the option's name in its message. */
int command_span(const char *text, const char *option, uint64_t *ret,
		 struct error *err);

/*
 * The same, or an instant to come, by the local clock: "18:30", "18:30:15", the next one;
 * "2026-12-24 18:30", "2026-12-24T18:30".  *ret: how long it is till then.
 */
int command_until(const char *text, const char *option, uint64_t *ret,
		  struct error *err);

/*
 * The same of what has been: so long ago; the last "18:30"; a date.  *ret: when it was, in
 * microseconds since 1970.
 */
int command_since(const char *text, const char *option, uint64_t *ret,
		  struct error *err);

/*
 * In a parser, where reading a value returned rc: 0 if rc is, else print
 * what err says as command_fail() does, and exit with command_code(rc).
 */
int command_parsed(const struct argp_state *state, int rc,
		   const struct error *err);

#endif
