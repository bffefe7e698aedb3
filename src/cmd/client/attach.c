/*
 * attach.c - stint attach: be the terminal of a job that there is
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/session.h"
#include "core/log.h"

static const struct argp_option options[] = {
	{ "label", 'l', 0, 0, "put [RANK] before each line", 0 }, { 0 }
};

struct args {
	struct client_options client;
	struct job_word job;
	bool label;
};

static error_t parse_attach(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case 'l':
		a->label = true;
		return 0;
	case ARGP_KEY_ARG:
		return command_one_job(state, arg, &a->job);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &client_argp, 0, 0, 0 },
					      { 0 } };

static const struct argp argp = {
	options,
	parse_attach,
	"JOB",
	"Be the terminal of a job: print what it printed and prints, and end as it "
	"ends.\v"
	"A job that was submitted, or run with --stay, goes on when this is interrupted. "
	"Of another one it takes the place of its `stint run`.",
	children,
	0,
	0
};

/* How many ranks it has, and whether it needs us. */
static int look_at_job(struct client *c, const struct job_word *job,
		       struct session *s, struct error *err)
{
	const Control__JobInfo *info;
	Control__Message *m;
	int r = client_one_job(c, job, &m, err);

	if (r < 0)
		return r;
	info = m->jobs->jobs[0];
	s->job = info->job;
	if (info->n_ranks < 1)
		r = error_set(err, -ESRCH, "no job %" PRIu64, s->job);
	else if (info->state == CONTROL__STATE__DONE && !info->detached)
		r = error_set(err, -ESRCH, "job %" PRIu64 " has ended", s->job);
	if (!r) {
		s->ranks = (uint32_t)info->n_ranks;
		s->stays = info->detached;
	}
	message_free(m);
	return r;
}

static int attach(struct args *a, struct error *err)
{
	struct session s = { .name = "attach", .label = a->label };
	struct client *c;
	int r = client_open(&a->client.conf, &c, err);

	if (r < 0)
		return r;
	r = look_at_job(c, &a->job, &s, err);
	client_close(c);
	if (!r)
		r = client_settle(&a->client.conf, &s.address, &s.key, err);
	if (r < 0)
		return r;
	s.controller = a->client.conf.controller;
	r = session_run(&s);
	explicit_bzero(&s.key, sizeof(s.key));
	return r;
}

int cmd_attach(int argc, char **argv)
{
	struct args a = { .label = false };
	struct error err;
	int r;

	log_init("stint attach", LOG_L_INFO);
	command_parse(&argp, argc, argv, 0, &a);
	r = attach(&a, &err);
	if (r < 0)
		r = command_fail("attach", command_code(r), &err);
	task_words_clear(&a.job.tasks);
	client_conf_clear(&a.client.conf);
	return r;
}
