/*
 * kill.c - stint kill: end jobs, or send them or single ranks a signal
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/client/client_options.h"
#include "core/units.h"
#include "core/xalloc.h"

static const struct argp_option options[] = {
	{ "signal", 's', "SIGNAL", 0,
	  "send this to every rank, by name or number, instead of ending the "
	  "job; or to one rank, JOB.RANK",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	uint32_t signo;
	Control__Signal *ask; /* each */
	size_t nr, cap;
};

static int parse_signal(const char *text, uint32_t *ret, struct error *err)
{
	const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	int64_t n;

	for (int i = 1; i < 32; i++) {
		const char *abbrev = sigabbrev_np(i);

		if (abbrev && !strcasecmp(abbrev, name)) {
			*ret = i;
			return 0;
		}
	}
	if (parse_int(text, 1, 64, "signal", &n, NULL) < 0)
		return error_set(
			err, -EINVAL,
			"'%s' is not a signal: write TERM, USR1, 9, ...", text);
	*ret = n;
	return 0;
}

static int add(struct args *a, const char *text, struct error *err)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;
	int r;

	s.one = strchr(text, '.') != NULL;
	r = s.one ? parse_job_rank(text, &s.job, &s.rank, err)
		  : parse_job(text, &s.job, err);
	if (r < 0)
		return r;
	array_room(a->ask, a->nr, &a->cap);
	a->ask[a->nr++] = s;
	return 0;
}

static void settle(struct args *a, const struct argp_state *state)
{
	for (size_t i = 0; i < a->nr; i++) {
		Control__Signal *s = &a->ask[i];

		if (s->one && !a->signo)
			command_misuse(state,
				       "a rank cannot be ended alone: give "
				       "%" PRIu64 ", or which --signal %" PRIu64
				       ".%u gets",
				       s->job, s->job, s->rank);
		s->signo = a->signo;
	}
}

static error_t parse_kill(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 's':
		return command_parsed(state, parse_signal(arg, &a->signo, &err),
				      &err);
	case ARGP_KEY_ARG:
		return command_parsed(state, add(a, arg, &err), &err);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	case ARGP_KEY_END:
		settle(a, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_kill,
	"JOB...\n--signal=SIGNAL JOB[.RANK]...",
	"End jobs: SIGTERM to every rank, and SIGKILL some seconds later.",
	0,
	0,
	0
};

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	struct args *a = args;

	return client_ask(c, MESSAGE_BODY(SIGNAL), &a->ask[i], MESSAGE_BODY(OK),
			  NULL, NULL, NULL, err);
}

static int ask_kill(struct client *c, void *args, struct error *err)
{
	return client_each("kill", c, ((struct args *)args)->nr, ask_one, args,
			   err);
}

/* kill(1)'s -9 and -USR1: no option of ours is a digit or a capital. */
static char **with_options(int argc, char **argv)
{
	char **words = xcalloc(argc + 1, sizeof(*words));
	bool ended = false;

	for (int i = 0; i < argc; i++) {
		const char *w = argv[i];

		ended = ended || !strcmp(w, "--");
		words[i] = !ended && *w == '-' &&
					   (isdigit((unsigned char)w[1]) ||
					    isupper((unsigned char)w[1]))
				   ? xasprintf("--signal=%s", w + 1)
				   : xstrdup(w);
	}
	return words;
}

int cmd_kill(int argc, char **argv)
{
	struct args a = { .signo = 0 };
	char **words = with_options(argc, argv);
	int r = client_main("kill", &argp, CLIENT_PLAIN, argc, words, ask_kill,
			    &a);

	/* argp has turned them round, but has them all. */
	for (int i = 0; i < argc; i++)
		free(words[i]);
	free(words);

	free(a.ask);
	return r;
}
