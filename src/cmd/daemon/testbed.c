/*
 * testbed.c - stint testbed: several test hosts on this machine
 */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/owner/owner.h"
#include "cluster/testbed/testbed.h"
#include "cmd/daemon/testbed_play.h"
#include "cmd/kit/command.h"
#include "core/json.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "policy/policies.h"

enum {
	KEY_SPEED = 256,
	KEY_MEMORY,
	KEY_BRIDGE,
	KEY_BARE,
	KEY_POLICY,
	KEY_FOR,
	KEY_FROM,
	KEY_FASTER
};

static const struct argp_option options[] = {
	{ "name", 'n', "NAME", 0,
	  "which testbed ($STINT_TESTBED, else \"default\")", 0 },
	{ "cpus", 'c', "SHARE,...", 0,
	  "up: share of the CPUs each host gets when they are scarce, against "
	  "the others' (1); the last holds for the hosts after it",
	  0 },
	{ "speed", KEY_SPEED, "CPUS,...", 0,
	  "up: CPUs that each host has at most, such as 1,0.5 (no limit)", 0 },
	{ "memory", KEY_MEMORY, "SIZE,...", 0,
	  "up: memory that each host has, such as 1G,512M (no limit)", 0 },
	{ "bridge", KEY_BRIDGE, 0, 0,
	  "up: each host has a bridge br0 on the LAN, and capsules are its ports",
	  0 },
	{ "bare", KEY_BARE, 0, 0,
	  "up: only the hosts, without controller and agents", 0 },
	{ "policy", KEY_POLICY, "NAME:KEY=VALUE,...", 0,
	  "up: the controller's (spread)", 0 },
	{ "for", KEY_FOR, "TIME", 0, "owner: that long (1h)", 0 },
	{ "from", KEY_FROM, "TIME", 0,
	  "play: begin at that time of the script, such as 9h (0)", 0 },
	{ "faster", KEY_FASTER, "TIMES", 0,
	  "play: so many times as fast as the script's time (1)", 0 },
	{ "json", 'j', 0, 0, "list: print JSON", 0 },
	{ 0 }
};

struct args {
	struct testbed_spec spec;
	bool json;
	const char *words[3]; /* up 3, exec h1, owner h1 here */
	int nr_words;
	uint64_t span;
	struct testbed_play play;
	unsigned nr_listed; /* hosts, by --cpus, --speed or --memory */
	char **command;	    /* what exec runs */
};

/* "1,0.5" into the hosts' values; what is not said is as the last. */
static int parse_list(const char *what, const char *text, double max,
		      double *ret, unsigned *ret_n, struct error *err)
{
	double values[TESTBED_HOSTS_MAX];
	const char *c = text;
	unsigned n = 0;
	char *end;

	do {
		values[n] = strtod(c, &end);
		if (end == c || (*end && *end != ',') ||
		    !(values[n] >= 0.05 && values[n] <= max))
			return error_set(
				err, -EINVAL,
				"--%s: '%s' is not a list of numbers from 0.05 to %g, such as 1,0.5",
				what, text, max);
		c = end + 1;
	} while (*end && ++n < TESTBED_HOSTS_MAX);
	for (unsigned i = 0; i < TESTBED_HOSTS_MAX; i++)
		ret[i] = values[i < n ? i : n];
	if (*ret_n < n + 1)
		*ret_n = n + 1;
	return 0;
}

enum { MEMORY_LEAST = 64 << 20 }; /* an agent, a keeper and a rank fit */

/* "1G,512M", likewise. */
static int parse_sizes(char *text, uint64_t *ret, unsigned *ret_n,
		       struct error *err)
{
	uint64_t values[TESTBED_HOSTS_MAX];
	unsigned n = 0;
	char *w;

	while ((w = strsep(&text, ",")) && n < TESTBED_HOSTS_MAX) {
		if (parse_size(w, &values[n], err) < 0)
			return error_prefix(err, -EINVAL, "--memory");
		if (values[n++] < MEMORY_LEAST)
			return error_set(err, -EINVAL,
					 "--memory: a host needs 64M at least");
	}
	for (unsigned i = 0; i < TESTBED_HOSTS_MAX; i++)
		ret[i] = values[i < n ? i : n - 1];
	if (*ret_n < n)
		*ret_n = n;
	return 0;
}

static int parse_faster(const char *text, double *ret, struct error *err)
{
	return parse_real(text, 1e-3, 1e6, ret, NULL) < 0
		       ? error_set(err, -EINVAL,
				   "--faster: '%s' is not a number from 0.001 "
				   "to 1000000",
				   text)
		       : 0;
}

static void take_word(struct args *a, char *word, struct argp_state *state)
{
	if (a->nr_words == 2 && !strcmp(a->words[0], "exec")) {
		/* The rest is the command's, options and all. */
		a->command = state->argv + state->next - 1;
		state->next = state->argc;
	} else if (a->nr_words < 3) {
		a->words[a->nr_words++] = word;
	} else {
		command_misuse(state, "what is '%s'?", word);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err = ERROR_INIT;
	int r = 0;

	switch (key) {
	case 'n':
		a->spec.name = arg;
		break;
	case 'c':
		r = parse_list("cpus", arg, 100, a->spec.share, &a->nr_listed,
			       &err);
		break;
	case KEY_SPEED:
		r = parse_list("speed", arg, 1024, a->spec.speed, &a->nr_listed,
			       &err);
		break;
	case KEY_MEMORY:
		r = parse_sizes(arg, a->spec.memory, &a->nr_listed, &err);
		break;
	case KEY_BRIDGE:
		a->spec.bridge = true;
		break;
	case KEY_BARE:
		a->spec.bare = true;
		break;
	case KEY_POLICY:
		a->spec.policy = arg;
		r = policy_check_live(arg, &err);
		break;
	case KEY_FOR:
		r = command_span(arg, "--for", &a->span, &err);
		if (!r)
			r = owner_check_span(a->span, &err);
		break;
	case KEY_FROM:
		r = parse_usec(arg, &a->play.from, &err);
		break;
	case KEY_FASTER:
		r = parse_faster(arg, &a->play.faster, &err);
		break;
	case 'j':
		a->json = true;
		break;
	case ARGP_KEY_ARG:
		take_word(a, arg, state);
		break;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state,
			       "give up, down, list, exec, owner or play");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, r, &err);
}

/*
 * For who runs tests beside others' work: each test need not say it.  A group cannot have more
 * than the one around it, so a faster host counts more.
 */
static int take_whole(struct testbed_spec *spec, struct error *err)
{
	const char *text = getenv("STINT_TESTBED_CPUS");

	if (!text || !*text)
		return 0;
	if (parse_real(text, 0.01, 1024, &spec->whole, NULL) < 0)
		return error_set(
			err, -EINVAL,
			"STINT_TESTBED_CPUS: '%s' is not a number from 0.01 to 1024",
			text);
	for (unsigned h = 0; h < spec->nr_hosts; h++)
		if (spec->speed[h] > spec->whole)
			spec->whole = spec->speed[h];
	return 0;
}

static int run_up(struct args *a)
{
	struct error err = ERROR_INIT;
	int64_t n;

	if (a->nr_words != 2 || parse_int(a->words[1], 1, TESTBED_HOSTS_MAX,
					  "number of hosts", &n, &err) < 0) {
		if (!err.text[0])
			error_set(
				&err, -EINVAL,
				"give the number of hosts: stint testbed up 3");
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	if (a->nr_listed > n) {
		error_set(&err, -EINVAL,
			  "--cpus, --speed or --memory names %u hosts, and "
			  "there are %d",
			  a->nr_listed, (int)n);
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	a->spec.nr_hosts = n;
	if (take_whole(&a->spec, &err) < 0)
		return command_fail("testbed", EXIT_USAGE, &err);
	if (testbed_up(&a->spec, &err) < 0)
		return command_fail("testbed", EXIT_FAILED, &err);
	return EXIT_OK;
}

static int run_down(struct args *a)
{
	struct error err = ERROR_INIT;

	if (testbed_down(a->spec.name, &err) < 0)
		return command_fail("testbed", EXIT_FAILED, &err);
	return EXIT_OK;
}

static void print_testbeds_json(const struct testbed_info *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_line(json_pack("{s:s, s:i, s:s}", "name", list[i].name,
				    "hosts", (int)list[i].nr_hosts, "state",
				    list[i].up ? "up" : "broken"),
			  stdout);
}

static int run_list(struct args *a)
{
	struct error err = ERROR_INIT;
	struct testbed_info *list;
	size_t n;

	if (testbed_list(&list, &n, &err) < 0)
		return command_fail("testbed", EXIT_FAILED, &err);
	if (a->json)
		print_testbeds_json(list, n);
	else if (n)
		printf("%-*s %5s %s\n", TESTBED_NAME_MAX, "NAME", "HOSTS",
		       "STATE");
	for (size_t i = 0; !a->json && i < n; i++)
		printf("%-*s %5u %s\n", TESTBED_NAME_MAX, list[i].name,
		       list[i].nr_hosts, list[i].up ? "up" : "broken");
	free(list);
	return EXIT_OK;
}

static int run_exec(struct args *a)
{
	struct error err = ERROR_INIT;

	if (!a->command) {
		error_set(
			&err, -EINVAL,
			"give a host and a command: stint testbed exec h1 ip addr");
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	if (testbed_enter(a->spec.name, a->words[1], &err) < 0)
		return command_fail("testbed", EXIT_FAILED, &err);
	execvp(a->command[0], a->command);
	error_sys(&err, -errno, "cannot run %s", a->command[0]);
	return command_fail("testbed", 127, &err);
}

/* As somebody at that host says it. */
static int run_owner(struct args *a)
{
	struct error err = ERROR_INIT;
	char *run_dir;
	int r;

	if (a->nr_words != 3) {
		error_set(
			&err, -EINVAL,
			"give a host and a word: stint testbed owner h1 here");
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	r = testbed_check_host(a->spec.name, a->words[1], &err);
	if (r < 0)
		return command_fail("testbed", EXIT_FAILED, &err);
	run_dir = testbed_run_dir(a->spec.name, a->words[1]);
	r = owner_say(run_dir, a->words[2], a->span, &err);
	free(run_dir);
	return r < 0 ? command_fail("testbed", command_code(r), &err) : EXIT_OK;
}

static int run_play(struct args *a)
{
	struct error err = ERROR_INIT;
	int r;

	if (a->nr_words != 2) {
		error_set(&err, -EINVAL,
			  "give an activity script: stint testbed play FILE");
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	a->play.bed = a->spec.name;
	a->play.path = a->words[1];
	r = testbed_play(&a->play, &err);
	if (r < 0)
		return command_fail("testbed", command_code(r), &err);
	return r ? 128 + r : EXIT_OK;
}

static const struct {
	const char *word;
	int (*run)(struct args *a);
	int most; /* words */
} verbs[] = {
	{ "up", run_up, 2 },	   { "down", run_down, 1 },
	{ "list", run_list, 1 },   { "exec", run_exec, 2 },
	{ "owner", run_owner, 3 }, { "play", run_play, 2 },
};

int cmd_testbed(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "up N\ndown\nlist\nexec HOST COMMAND [ARG]...\n"
			    "owner HOST here|away|evict\nplay FILE",
		.doc = "Several test hosts on this machine: network namespaces "
		       "h1 to hN on one bridge, each with its share of the "
		       "CPUs.  Several testbeds may be up at once.",
	};
	const char *name = getenv("STINT_TESTBED");
	struct args a = { .spec.name = name && *name ? name : "default",
			  .play.faster = 1 };
	struct error err = ERROR_INIT;

	command_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (testbed_check_name(a.spec.name, &err) < 0)
		return command_fail("testbed", EXIT_USAGE, &err);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(a.words[0], verbs[i].word))
			continue;
		if (a.nr_words <= verbs[i].most)
			return verbs[i].run(&a);
		error_set(&err, -EINVAL, "what is '%s'?",
			  a.words[verbs[i].most]);
		return command_fail("testbed", EXIT_USAGE, &err);
	}
	error_set(&err, -EINVAL,
		  "no '%s'; give up, down, list, exec, owner or play",
		  a.words[0]);
	return command_fail("testbed", EXIT_USAGE, &err);
}
