/* submission_options.c - what a job is to be, see submission_options.h */
#include "cmd/client/submission_options.h"

#include <argp.h>

#include "cmd/client/client_options.h"
#include "cmd/client/run_habits.h"
#include "cmd/kit/command.h"

enum {
	KEY_WDIR = 256,
	KEY_HOSTS,
	KEY_MEMORY,
	KEY_PIDS,
	KEY_REQUEUE,
	KEY_LIMIT,
	KEY_WARN
};

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
	{ "limit", KEY_LIMIT, "TIME", 0,
	  "end it when it has run for so long: SIGTERM, and SIGKILL some "
	  "seconds later",
	  0 },
	{ "warn", KEY_WARN, "SIGNAL@TIME", 0,
	  "send its ranks this so long before --limit ends it", 0 },
	{ "hosts", KEY_HOSTS, "A,B,...", 0,
	  "where, ranks are placed round-robin; else the policy chooses", 0 },
	{ "host", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "memory", KEY_MEMORY, "SIZE", 0,
	  "of each rank, at most (what its host gives); then it is ended", 0 },
	{ "pids-limit", KEY_PIDS, "N", 0,
	  "processes and threads of each rank, at most (what its host gives)",
	  0 },
	{ "requeue", KEY_REQUEUE, 0, 0,
	  "begin it anew when a host is lost, or its owner wants it back; it "
	  "reads no standard input",
	  0 },
	{ "output", 'o', "FILE", 0,
	  "append standard output to FILE where the ranks are, as you; %j is "
	  "the job's number, %r the rank's, %x the job's name, %N its host",
	  0 },
	{ "error", 'e', "FILE", 0,
	  "standard error likewise (with -o where that goes)", 0 },
	{ "name", 'J', "NAME", 0, "what lists call it (its program)", 0 },
	{ "job-name", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "export", 'x', "NAME[=VALUE]", 0,
	  "set this in the program's environment (which is yours)", 0 },
	{ "wdir", KEY_WDIR, "DIR", 0, "run it in DIR (here)", 0 },
	{ "chdir", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ 0 }
};

static error_t parse_submission(int key, char *arg, struct argp_state *state)
{
	struct submission *s = state->input;
	struct error err;
	int k = 0;

	switch (key) {
	case 'n':
		k = submission_ranks(s, arg, &err);
		break;
	case 't':
		k = submission_time(s, arg, &err);
		break;
	case KEY_LIMIT:
		k = submission_limit(s, arg, &err);
		break;
	case KEY_WARN:
		k = submission_warn(s, arg, &err);
		break;
	case ARGP_KEY_END:
		k = submission_check(s, &err);
		break;
	case KEY_HOSTS:
		k = submission_hosts(s, arg, &err);
		break;
	case KEY_MEMORY:
		k = submission_memory(s, arg, &err);
		break;
	case KEY_PIDS:
		k = submission_pids(s, arg, &err);
		break;
	case KEY_REQUEUE:
		s->ask.requeue = true;
		break;
	case 'o':
		k = submission_output(s, arg, &err);
		break;
	case 'e':
		k = submission_error(s, arg, &err);
		break;
	case 'J':
		k = submission_name(s, arg, &err);
		break;
	case 'x':
		k = submission_export(s, arg, &err);
		break;
	case KEY_WDIR:
		k = submission_wdir(s, arg, &err);
		break;
	case ARGP_KEY_ARGS:
		k = submission_program(s, state->argv + state->next,
				       state->argc - state->next, state->quoted,
				       &err);
		break;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "run which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, k, &err);
}

static const struct argp_child children[] = { { &run_habits, 0, 0, 0 }, { 0 } };

static const struct argp submission_argp = { options, parse_submission, 0,
					     0,	      children,		0,
					     0 };

const struct argp_child submission_children[] = { { &submission_argp, 0, 0, 0 },
						  { &client_argp, 0, 0, 0 },
						  { 0 } };
