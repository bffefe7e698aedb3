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
	KEY_CPUS,
	KEY_OUTPUT_LIMIT,
	KEY_REQUEUE,
	KEY_LIMIT,
	KEY_WARN,
	KEY_AFTER,
	KEY_AT_END
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
	  "send its ranks this signal so long before --limit ends it", 0 },
	{ "hosts", KEY_HOSTS, "A,B,...", 0,
	  "where, ranks are placed round-robin; else the policy chooses", 0 },
	{ "host", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "memory", KEY_MEMORY, "SIZE", 0,
	  "of each rank, at most (what its host gives); then it is ended", 0 },
	{ "mem", 0, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 0 },
	{ "pids-limit", KEY_PIDS, "N", 0,
	  "processes and threads of each rank, at most (what its host gives)",
	  0 },
	{ "cpus", KEY_CPUS, "N", 0,
	  "processors of each rank, at most (what its host gives); 0.5 is half "
	  "of one",
	  0 },
	{ "output-limit", KEY_OUTPUT_LIMIT, "SIZE", 0,
	  "of each file that a rank writes, those of -o and -e among them, and "
	  "of what it prints without these, at most; then it is ended",
	  0 },
	{ "requeue", KEY_REQUEUE, 0, 0,
	  "begin it anew when a host is lost, or its owner wants it back; it "
	  "reads no standard input",
	  0 },
	{ "after", KEY_AFTER, "[KIND:]JOB[:JOB...],...", 0,
	  "begin it when these jobs have ended well (ok), are over (any) or have "
	  "failed (failed)",
	  0 },
	{ "at-end", KEY_AT_END, "COMMAND", 0,
	  "when the job, or all of the array, is over, have sh run this as you on "
	  "one of the hosts",
	  0 },
	{ "output", 'o', "FILE", 0,
	  "append standard output to FILE where the ranks are, as you; %j is "
	  "the job's number, %r the rank's, %x the job's name, %N its host, %A "
	  "and %a the array's and the task's",
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

static const struct {
	int key;
	int (*set)(struct submission *s, const char *arg, struct error *err);
} settings[] = {
	{ 'n', submission_ranks },
	{ 't', submission_time },
	{ KEY_LIMIT, submission_limit },
	{ KEY_WARN, submission_warn },
	{ KEY_HOSTS, submission_hosts },
	{ KEY_MEMORY, submission_memory },
	{ KEY_PIDS, submission_pids },
	{ KEY_CPUS, submission_cpus },
	{ 'o', submission_output },
	{ 'e', submission_error },
	{ 'J', submission_name },
	{ 'x', submission_export },
	{ KEY_WDIR, submission_wdir },
	{ KEY_OUTPUT_LIMIT, submission_output_limit },
	{ KEY_AFTER, submission_after },
	{ KEY_AT_END, submission_at_end },
};

static error_t parse_setting(int key, const char *arg, struct argp_state *state)
{
	struct error err;

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (settings[i].key == key)
			return command_parsed(
				state, settings[i].set(state->input, arg, &err),
				&err);
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_submission(int key, char *arg, struct argp_state *state)
{
	struct submission *s = state->input;
	struct error err;
	int r = 0;

	switch (key) {
	case KEY_REQUEUE:
		s->ask.requeue = true;
		break;
	case ARGP_KEY_ARGS:
		r = submission_program(s, state->argv + state->next,
				       state->argc - state->next, state->quoted,
				       &err);
		break;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "run which program?");
	case ARGP_KEY_END:
		r = submission_check(s, &err);
		break;
	default:
		return parse_setting(key, arg, state);
	}
	return command_parsed(state, r, &err);
}

static const struct argp_child children[] = { { &run_habits, 0, 0, 0 }, { 0 } };

static const struct argp submission_argp = { options, parse_submission, 0,
					     0,	      children,		0,
					     0 };

const struct argp_child submission_children[] = { { &submission_argp, 0, 0, 0 },
						  { &client_argp, 0, 0, 0 },
						  { 0 } };
