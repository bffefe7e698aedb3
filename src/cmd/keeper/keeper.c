/*
 * keeper.c - `stint keeper`, which agents start and people do not
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/capsule/capsule.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/keeper/keeper.h"
#include "cluster/keeper/nursery.h"
#include "cmd/kit/command.h"
#include "core/log.h"
#include "core/tls.h"
#include "core/units.h"
#include "core/xalloc.h"

enum {
	OPT_RUN_DIR = 256,
	OPT_EPOCH,
	OPT_READY_FD,
	OPT_NO_FAST_PATH,
	OPT_MIN_UID,
	OPT_MIN_GID,
	OPT_LIMITS,
	OPT_CGROUP,
	OPT_GUESTS_OF,
	OPT_OWNERS,
	OPT_FOR,
	OPT_NURSERY
};

static const struct argp_option options[] = {
	{ "run-dir", OPT_RUN_DIR, "DIR", 0, "The agent's run directory" },
	{ "epoch", OPT_EPOCH, "EPOCH", 0,
	  "The move with which the rank lands; 0: it is started here" },
	{ "no-fast-path", OPT_NO_FAST_PATH, 0, 0,
	  "Its packets are forwarded like all others (stint-agent(8))" },
	{ "min-uid", OPT_MIN_UID, "UID", 0,
	  "Refuse users below it (stint-agent(8))" },
	{ "min-gid", OPT_MIN_GID, "GID", 0, "Refuse groups below it" },
	{ "limits", OPT_LIMITS, "MEMORY,PIDS,MEMORY-MAX,PIDS-MAX,CPUS,CPUS-MAX",
	  0,
	  "What a rank may take that asks for nothing, and at most; 0: all there "
	  "is (stint-agent(8))",
	  0 },
	{ "cgroup", OPT_CGROUP, "DIR", 0,
	  "The group for those of ranks (stint-agent(8))", 0 },
	{ "guests-of", OPT_GUESTS_OF, "USER,...", 0,
	  "Whose ranks the host's owner lets in (stint.conf(5))", 0 },
	{ "owners", OPT_OWNERS, "USER,...", 0,
	  "Whose ranks are no guests, and not bound by its terms", 0 },
	{ "for", OPT_FOR, "USER", 0,
	  "Whose rank it will be: one that rests goes to the same user's next",
	  0 },
	{ "nursery", OPT_NURSERY, "FD", 0,
	  "Fork the keepers that an agent orders by this socket, and be none",
	  0 },
	{ "ready-fd", OPT_READY_FD, "FD", 0,
	  "Say here when the socket listens: a newline, or if it is a socket of "
	  "the agent's, HELLO" },
	{ 0 },
};

/* "JOB.RANK", the first word, for people to see in lists of processes. */
static int parse_name(char *text, struct keeper_config *conf, struct error *err)
{
	char *dot = strrchr(text, '.');
	int64_t rank;
	int r;

	if (!dot)
		return error_set(err, -EINVAL, "'%s' is not JOB.RANK", text);
	r = parse_int(dot + 1, 0, UINT32_MAX, "rank", &rank, err);
	if (r < 0)
		return r;
	conf->job = xasprintf("%.*s", (int)(dot - text), text);
	conf->rank = (uint32_t)rank;
	return 0;
}

static int parse_descriptor(const char *arg, const char *name, int *ret,
			    struct error *err)
{
	int64_t fd;
	int r = parse_int(arg, 0, 1 << 20, name, &fd, err);

	if (!r)
		*ret = (int)fd;
	return r;
}

struct words {
	struct keeper_config conf;
	int nursery; /* -1: a keeper */
};

static error_t parse_keeper(int key, char *arg, struct argp_state *state)
{
	struct words *words = state->input;
	struct keeper_config *conf = &words->conf;
	struct error err = ERROR_INIT;
	int64_t v = 0;
	int r = 0;

	switch (key) {
	case OPT_RUN_DIR:
		conf->run_dir = arg;
		break;
	case OPT_EPOCH:
		r = parse_int(arg, 0, INT64_MAX, "epoch", &v, &err);
		conf->epoch = (uint64_t)v;
		break;
	case OPT_NO_FAST_PATH:
		conf->fast_path = false;
		break;
	case OPT_MIN_UID:
		r = parse_int(arg, 0, UINT32_MAX, "min-uid", &v, &err);
		conf->min_uid = (uint32_t)v;
		break;
	case OPT_MIN_GID:
		r = parse_int(arg, 0, UINT32_MAX, "min-gid", &v, &err);
		conf->min_gid = (uint32_t)v;
		break;
	case OPT_LIMITS:
		r = limit_terms_parse(arg, &conf->terms, &err);
		break;
	case OPT_CGROUP:
		r = cgroup_set_home(arg, &err);
		break;
	case OPT_GUESTS_OF:
		conf->guests_of = arg;
		break;
	case OPT_OWNERS:
		conf->owners = arg;
		break;
	case OPT_FOR: /* the nursery has looked at it */
		break;
	case OPT_NURSERY:
		r = parse_descriptor(arg, "nursery", &words->nursery, &err);
		break;
	case OPT_READY_FD:
		r = parse_descriptor(arg, "ready-fd", &conf->ready_fd, &err);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		r = parse_name(arg, conf, &err);
		break;
	case ARGP_KEY_END:
		if (words->nursery < 0 && (!conf->run_dir || !conf->job))
			command_misuse(state,
				       "JOB.RANK and --run-dir are needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, r, &err);
}

static const struct argp argp = {
	.options = options,
	.parser = parse_keeper,
	.args_doc = "JOB.RANK",
	.doc = "Be the keeper of one rank. Agents start keepers; to run "
	       "a program use `stint run`.",
};

static int be_keeper(const struct keeper_config *conf)
{
	struct error err = ERROR_INIT;
	char *prefix;
	int r;

	prefix = xasprintf("stint keeper %s.%u", conf->job, conf->rank);
	log_init(prefix, LOG_L_INFO);
	free(prefix);
	r = keeper_run(conf, &err);
	if (r < 0)
		return command_fail("keeper", EXIT_FAILED, &err);
	return r ? NURSERY_RESTS : EXIT_OK;
}

static void parse_words(int argc, char **argv, struct words *ret)
{
	*ret = (struct words){ .conf = { .fast_path = true, .ready_fd = -1 },
			       .nursery = -1 };
	command_parse(&argp, argc, argv, 0, ret);
}

/*
 * Of one process, all are alike but for the rank (nursery.h).  Words of the first
 * stay, and it takes them into its hands; those of the next are looked at no more.
 */
static int parse_order(int argc, char **argv, struct words *words)
{
	struct error err;

	if (!words->conf.run_dir) {
		for (int i = 0; i < argc; i++)
			argv[i] = xstrdup(argv[i]);
		argv[1] = (char *)"stint keeper";
		parse_words(argc - 1, argv + 1, words);
		capsule_keep(words->conf.run_dir);
		return 0;
	}
	free((char *)words->conf.job);
	words->conf.job = NULL;
	return parse_name(argv[NURSERY_WORD_RANK], &words->conf, &err) < 0
		       ? command_fail("keeper", EXIT_USAGE, &err)
		       : 0;
}

/* With the whole command line: "stint", "keeper", ... */
static int be_ordered(int argc, char **argv)
{
	static struct words words;
	int status = parse_order(argc, argv, &words);

	return status ? status : be_keeper(&words.conf);
}

int cmd_keeper(int argc, char **argv)
{
	struct words words;

	parse_words(argc, argv, &words);
	tls_hold();
	if (words.nursery < 0)
		return be_keeper(&words.conf) % NURSERY_RESTS;
	log_init("stint keeper --nursery", LOG_L_INFO);
	keeper_prepare();
	nursery_serve(words.nursery, be_ordered);
	return EXIT_OK;
}
