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
	const char *name; /* of the command: kill or cancel */
	uint32_t signo;
	Control__Signal *ask; /* each */
	size_t nr, cap;
};

static int add_word(struct args *a, const char *text, struct error *err)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;
	const char *dot = strrchr(text, '.');
	char *word = dot ? xasprintf("%.*s", (int)(dot - text), text)
			 : xstrdup(text);
	struct job_word job;
	int64_t rank = 0;
	int r = 0;

	s.one = dot != NULL;
	if (s.one && parse_int(dot + 1, 0, UINT32_MAX, "rank", &rank, err) < 0)
		r = error_set(
			err, -EINVAL,
			"'%s' is not a rank: write JOB.RANK, such as 12.0",
			text);
	s.rank = rank;
	if (!r)
		r = parse_job_word(word, &job, err);
	free(word);
	if (r < 0)
		return r;
	s.job = job.job;
	s.tasks = job.tasks.range;
	s.n_tasks = job.tasks.nr;
	array_room(a->ask, a->nr, &a->cap);
	a->ask[a->nr++] = s;
	return 0;
}

static void clear(struct args *a)
{
	for (size_t i = 0; i < a->nr; i++)
		task_words_clear(&(struct task_words){
			.range = a->ask[i].tasks, .nr = a->ask[i].n_tasks });
	free(a->ask);
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
		return command_parsed(state, add_word(a, arg, &err), &err);
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
	struct args *a = args;

	return client_each(a->name, c, a->nr, ask_one, a, err);
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
	struct args a = { .name = "kill" };
	char **words = with_options(argc, argv);
	int r = client_main("kill", &argp, CLIENT_PLAIN, argc, words, ask_kill,
			    &a);

	/* argp has turned them round, but has them all. */
	for (int i = 0; i < argc; i++)
		free(words[i]);
	free(words);
	clear(&a);
	return r;
}

static const struct argp argp_cancel = {
	0,
	parse_kill,
	"JOB...",
	"End jobs, also those that wait: SIGTERM to every rank, and SIGKILL some "
	"seconds later.",
	0,
	0,
	0
};

int cmd_cancel(int argc, char **argv)
{
	struct args a = { .name = "cancel" };
	int r = client_main("cancel", &argp_cancel, CLIENT_PLAIN, argc, argv,
			    ask_kill, &a);

	clear(&a);
	return r;
}
