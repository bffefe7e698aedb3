/*
 * output.c - stint output: what a job without a client has printed
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cluster/client/lines.h"
#include "cmd/client/client_options.h"
#include "core/io.h"
#include "core/log.h"

static const struct argp_option options[] = {
	{ "follow", 'f', 0, 0, "go on until the job is over", 0 },
	{ "label", 'l', 0, 0, "put [RANK] before each line", 0 },
	{ "rank", 'r', "N", 0, "of this rank alone", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__GetOutput ask;
	struct job_word job;
	bool label, one;
	int64_t rank;
	struct lines *lines;
	int code; /* of a write that failed */
};

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 'f':
		a->ask.wait = true;
		return 0;
	case 'l':
		a->label = true;
		return 0;
	case 'r':
		a->one = true;
		return command_parsed(
			state,
			parse_int(arg, 0, UINT32_MAX, "--rank", &a->rank, &err),
			&err);
	case ARGP_KEY_ARG:
		return command_one_job(state, arg, &a->job);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "of which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_output,
	"JOB",
	"Print what a job without a client has printed, as far as the controller keeps "
	"it.",
	0,
	0,
	0
};

static int print_piece(void *ctx, unsigned stream, const void *p, size_t n)
{
	struct args *a = ctx;
	int r = io_write_full(stream == 1 ? STDOUT_FILENO : STDERR_FILENO, p,
			      n);

	if (r < 0 && !a->code)
		a->code = r;
	return r;
}

static void taken(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq)
{
}

static const struct lines_ops ops = { .print = print_piece, .taken = taken };

static void add_output(struct args *a, const Control__KeptOutput *k,
		       const Control__Output *o)
{
	if (a->one && o->rank != a->rank)
		return;
	if (k->dropped || output_begins(o->offset))
		lines_skip(a->lines, o->rank, o->stream, o->offset);
	lines_add(a->lines, o->rank, o->stream, o->offset, o->data.data,
		  o->data.len, 0, 0);
}

/* A page of it; 1: there is more to ask for. */
static int ask_page(struct client *c, struct args *a,
		    void (*other)(void *ctx, const Control__Message *m),
		    struct error *err)
{
	const Control__KeptOutput *k;
	Control__Message *m;
	int r = client_ask(c, MESSAGE_BODY(GET_OUTPUT), &a->ask,
			   MESSAGE_BODY(KEPT_OUTPUT), other, NULL, &m, err);

	if (r < 0)
		return r;
	k = m->kept_output;
	if (!a->ask.from && k->dropped)
		log_warnx("of what job %" PRIu64 " printed the beginning was "
			  "not kept",
			  a->ask.job);
	if (!a->ask.from && *k->output)
		log_warnx("job %" PRIu64 " prints to %s", a->ask.job,
			  k->output);
	if (!a->ask.from && *k->error)
		log_warnx("job %" PRIu64 " prints its errors to %s", a->ask.job,
			  k->error);
	for (size_t i = 0; i < k->n_pieces; i++)
		add_output(a, k, k->pieces[i]);
	if (k->next > a->ask.from)
		a->ask.from = k->next;
	r = k->more || (a->ask.wait && !k->over);
	message_free(m);
	return r;
}

static int count_ranks(struct client *c, struct args *a, uint32_t *ret,
		       struct error *err)
{
	Control__Message *m;
	int r = client_one_job(c, &a->job, &m, err);

	if (r < 0)
		return r;
	a->ask.job = m->jobs->jobs[0]->job;
	*ret = (uint32_t)m->jobs->jobs[0]->n_ranks;
	message_free(m);
	if (a->one && a->rank >= *ret)
		return error_set(err, -ESRCH,
				 "job %" PRIu64 " has no rank %" PRId64,
				 a->ask.job, a->rank);
	return 0;
}

static int ask_output(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	uint32_t ranks;
	int r = count_ranks(c, a, &ranks, err);

	if (r < 0)
		return r;
	client_insist(c);
	a->lines = lines_create(ranks, a->label, &ops, a);
	do
		r = ask_page(c, a, a->ask.wait ? client_unhurried : NULL, err);
	while (r > 0 && !a->code);
	lines_finish(a->lines);
	lines_destroy(a->lines);
	if (a->code == -EPIPE) /* its reader has read enough */
		return 128 + SIGPIPE;
	if (a->code < 0)
		return error_sys(err, a->code, "standard output");
	return r;
}

int cmd_output(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__GET_OUTPUT__INIT };

	int r;

	log_init("stint output", LOG_L_INFO);
	r = client_main("output", &argp, CLIENT_PLAIN, argc, argv, ask_output,
			&a);
	task_words_clear(&a.job.tasks);
	return r;
}
