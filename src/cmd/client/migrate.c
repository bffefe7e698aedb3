/*
 * migrate.c - stint migrate: one running rank to another host
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/client/client_options.h"
#include "cmd/client/moved.h"
#include "core/units.h"

static const struct argp_option options[] = {
	{ "budget", 'b', "TIME", 0,
	  "it must not stand still for longer; the move is given up otherwise",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__Migrate ask;
};

static error_t parse_migrate(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r = 0;

	switch (key) {
	case 'b':
		r = command_span(arg, "--budget", &a->ask.budget_usec, &err);
		return command_parsed(state, r, &err);
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			command_misuse(state, "one rank at a time");
		if (state->arg_num == 1)
			a->ask.host = arg;
		else
			r = parse_job_rank(arg, &a->ask.job, &a->ask.rank,
					   &err);
		return command_parsed(state, r, &err);
	case ARGP_KEY_END:
		if (state->arg_num != 2)
			command_misuse(state, "say which rank, and where to: "
					      "stint migrate 12.0 HOST");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_migrate,
	"JOB.RANK HOST",
	"Move a running rank to another host and show how it went.",
	0,
	0,
	0
};

/* How far it is, on a terminal only. */
static void show_progress(void *ctx, const Control__Message *m)
{
	if (m->body_case != MESSAGE_BODY(PROGRESS) || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s\033[K", m->progress->text);
}

static int ask_migrate(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	Control__Message *m;
	uint8_t key[16];
	bool moved;
	int r;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return error_set(err, -EIO, "getrandom failed");
	/* by which it is known to be the same move */
	a->ask.key.data = key;
	a->ask.key.len = sizeof(key);
	client_insist(c);
	r = client_ask(c, MESSAGE_BODY(MIGRATE), &a->ask, MESSAGE_BODY(MOVED),
		       show_progress, NULL, &m, err);

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (r < 0)
		return r;
	moved = m->moved->ok;
	moved_print(m->moved, a->client.json);
	message_free(m);
	return moved ? EXIT_OK : EXIT_FAILED;
}

int cmd_migrate(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__MIGRATE__INIT };

	return client_main("migrate", &argp, CLIENT_JSON, argc, argv,
			   ask_migrate, &a);
}
