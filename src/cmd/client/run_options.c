/* run_options.c - the command line of stint run, see run_options.h */
#include "cmd/client/run_options.h"

#include <argp.h>

#include "cmd/client/run_habits.h"

enum { KEY_WDIR = 256, KEY_HOSTS, KEY_MEMORY, KEY_PIDS };

static const struct argp_option options[] = {
	{ "ranks", 'n', "N|MIN-N", 0,
	  "how many processes (1); with MIN, a policy that folds may start it "
	  "on fewer",
	  0 },
	{ "np", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "ntasks", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "time", 't', "TIME", 0,
	  "how long it will run, for policies that plan ahead; it is not ended "
	  "when it takes longer",
	  0 },
	{ "hosts", KEY_HOSTS, "A,B,...", 0,
	  "where, ranks are placed round-robin; else the policy chooses", 0 },
	{ "host", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "memory", KEY_MEMORY, "SIZE", 0,
	  "of each rank, at most (what its host gives); then it is ended", 0 },
	{ "pids-limit", KEY_PIDS, "N", 0,
	  "processes and threads of each rank, at most (what its host gives)",
	  0 },
	{ "label", 'l', 0, 0, "put [RANK] before each line", 0 },
	{ "export", 'x', "NAME[=VALUE]", 0,
	  "set this in the program's environment (which is yours)", 0 },
	{ "wdir", KEY_WDIR, "DIR", 0, "run it in DIR (here)", 0 },
	{ "chdir", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ 0 }
};

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_options *r = state->input;
	struct error err;
	int k = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->client;
		return 0;
	case 'n':
		k = submission_ranks(&r->submission, arg, &err);
		break;
	case 't':
		k = submission_time(&r->submission, arg, &err);
		break;
	case KEY_HOSTS:
		k = submission_hosts(&r->submission, arg, &err);
		break;
	case KEY_MEMORY:
		k = submission_memory(&r->submission, arg, &err);
		break;
	case KEY_PIDS:
		k = submission_pids(&r->submission, arg, &err);
		break;
	case 'l':
		r->label = true;
		break;
	case 'x':
		k = submission_export(&r->submission, arg, &err);
		break;
	case KEY_WDIR:
		k = submission_wdir(&r->submission, arg, &err);
		break;
	case ARGP_KEY_ARGS:
		k = submission_program(
			&r->submission, state->argv + state->next,
			state->argc - state->next, state->quoted, &err);
		break;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "run which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, k, &err);
}

static const struct argp_child children[] = { { &client_argp, 0, 0, 0 },
					      { &run_habits, 0, 0, 0 },
					      { 0 } };

static const struct argp argp = {
	options,
	parse_run,
	"PROGRAM [ARGUMENT...]",
	"Run a program, MPI or not, on hosts of the cluster.\v"
	"Standard input goes to rank 0.  Signals are passed on to all ranks; a "
	"second Ctrl-C kills them.  The exit status is that of the first rank "
	"that fails: its exit code, or 128 and the signal's number.",
	children,
	0,
	0
};

/* One dash does for a long option, too, as mpirun's have it: -np 4, -wdir D. */
void run_options_parse(struct run_options *ret, int argc, char **argv)
{
	*ret = (struct run_options){ .label = false };
	submission_init(&ret->submission);
	command_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_LONG_ONLY, ret);
}

void run_options_clear(struct run_options *o)
{
	submission_clear(&o->submission);
	client_conf_clear(&o->client.conf);
}
