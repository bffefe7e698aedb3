/*
 * command.h - what a subcommand of stint is
 *
 * To add one there are three things to do: write cmd/NAME.c ending in one
 * const struct command, add its line to commands.def, and its file to
 * meson.build.  Options are read with argp; errors are printed with
 * command_fail(), in a parser with command_parsed(), so that they look alike.
 * Commands that ask the controller have client_main() (client_options.h).
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "core/error.h"

struct command {
	const char *name;
	const char *summary; /* one line for `stint help` and the manual */
	/* argv[0] is "stint NAME", as argp's messages want it. */
	int (*run)(int argc, char **argv);
};

/* Exit codes every subcommand keeps to; run adds the program's own. */
enum command_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* it was understood and did not work */
	EXIT_USAGE = 2,	 /* it was not understood; nothing was done */
};

/* The exit code for a negative errno: a wrong argument is -EINVAL or -ERANGE,
 * everything else did not work. */
int command_code(int rc);

/* Print "stint NAME: text" on stderr and return code, for the caller's exit. */
int command_fail(const char *name, int code, const struct error *err);

/*
 * In an argp parser, where reading a value returned rc: 0 if rc is, else print
 * what err says as command_fail() does, and exit with command_code(rc).
 */
struct argp_state;
int command_parsed(const struct argp_state *state, int rc,
		   const struct error *err);

#endif
