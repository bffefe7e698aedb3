/*
 * run.c - stint run: start a program on hosts of the cluster, and be its
 * terminal
 */
#include <argp.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/session.h"
#include "cmd/client/submission_options.h"
#include "core/log.h"

enum { KEY_STAY = 768 };

static const struct argp_option options[] = {
	{ "label", 'l', 0, 0, "put [RANK] before each line", 0 },
	{ "stay", KEY_STAY, 0, 0,
	  "the job goes on when this command ends or is interrupted; `stint "
	  "attach` comes back; it reads no standard input",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	struct submission submission;
	bool label;
};

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->submission;
		state->child_inputs[1] = &a->client;
		return 0;
	case 'l':
		a->label = true;
		return 0;
	case KEY_STAY:
		a->submission.ask.detached = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_run,
	"PROGRAM [ARGUMENT...]",
	"Run a program, MPI or not, on hosts of the cluster.\v"
	"Standard input goes to rank 0.  Signals are passed on to all ranks; a "
	"second Ctrl-C kills them.  The exit status is that of the first rank "
	"that fails: its exit code, or 128 and the signal's number.",
	submission_children,
	0,
	0
};

static int run_job(struct args *a, struct error *err)
{
	struct session s = { .name = "run", .label = a->label };
	int r = submission_fill(&a->submission, err);

	if (!r)
		r = client_settle(&a->client.conf, &s.address, &s.key, err);
	if (r < 0)
		return r;
	s.controller = a->client.conf.controller;
	s.ask = &a->submission.ask;
	s.ranks = s.ask->ranks;
	s.stays = s.ask->detached;
	r = session_run(&s);
	explicit_bzero(&s.key, sizeof(s.key));
	return r;
}

/* One dash does for a long option, too, as mpirun's have it: -np 4, -wdir D. */
int cmd_run(int argc, char **argv)
{
	struct args a = { .label = false };
	struct error err;
	int r;

	log_init("stint run", LOG_L_INFO);
	submission_init(&a.submission);
	command_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_LONG_ONLY, &a);
	r = run_job(&a, &err);
	if (r < 0)
		r = command_fail("run", command_code(r), &err);
	submission_clear(&a.submission);
	client_conf_clear(&a.client.conf);
	return r;
}
