/*
 * size.c - stint size: how many hosts of others does a workload need?
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cmd/kit/command.h"
#include "core/json.h"
#include "sim/size/size.h"
#include "sim/workload/inflate.h"
#include "sim/workload/workload.h"

enum {
	KEY_SLOWDOWN = 256,
	KEY_DELAYS,
	KEY_CONFIDENCE,
	KEY_ACTIVITY,
	KEY_OWNERS,
	KEY_BY,
	KEY_QUIET,
	KEY_COST,
	KEY_RUNS,
	KEY_MAX,
	KEY_SEED,
	KEY_JSON,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "What is asked for:", 1 },
	{ "slowdown", KEY_SLOWDOWN, "X", 0,
	  "jobs take X times as long as on a dedicated machine at most, on "
	  "average (1.2)",
	  1 },
	{ "delays-a-day", KEY_DELAYS, "K", 0,
	  "an owner finds guests or their traces K times a day at most (10)",
	  1 },
	{ "confidence", KEY_CONFIDENCE, "PERCENT", 0,
	  "of the interval of the answer (95)", 1 },
	{ 0, 0, 0, 0, "Of whom:", 2 },
	{ "workload", 'w', "NAME[:k=v,...]", 0,
	  "jobs from a generator, whose machine is the dedicated one (lanl)",
	  2 },
	{ "load", 'L', "L", 0, "that it offers there (the generator's)", 2 },
	{ "owners", KEY_OWNERS, "k=v,...", 0,
	  "how owners come and go (as in Arpaci 1995)", 2 },
	{ "activity", KEY_ACTIVITY, "FILE", 0,
	  "instead, what they were seen to do (stint-activity(5)): each host is "
	  "one of the file's, on days of it",
	  2 },
	{ 0, 0, 0, 0, "How:", 3 },
	{ "by", KEY_BY, "cpu|keyboard", 0,
	  "a host is in use while its own processes compute; or while it is "
	  "touched, too (keyboard)",
	  3 },
	{ "quiet", KEY_QUIET, "TIME", 0,
	  "it takes guests when it was not used for so long (180)", 3 },
	{ "migrate-cost", KEY_COST, "TIME", 0,
	  "a job stands still for so long when ranks of it move (2)", 3 },
	{ "runs", KEY_RUNS, "N", 0, "simulations of each number of hosts (20)",
	  3 },
	{ "max", KEY_MAX, "N", 0, "hosts that are tried (512)", 3 },
	{ "workers", 'j', "N", 0, "processes that compute (all cores)", 3 },
	{ "seed", KEY_SEED, "S", 0, "of all random streams (1)", 3 },
	{ "json", KEY_JSON, 0, 0, "print JSON", 3 },
	{ 0 }
};

struct args {
	struct size_question q;
	const char *owners, *activity;
	bool json;
};

static int take_real(const char *text, const char *option, double min,
		     double max, double *ret, struct error *err)
{
	int r = parse_real(text, min, max, ret, err);

	return r < 0 ? error_prefix(err, r, "%s", option) : 0;
}

static int take_time(const char *text, const char *option, usec_t *ret,
		     struct error *err)
{
	int r = parse_usec(text, ret, err);

	return r < 0 ? error_prefix(err, r, "%s", option) : 0;
}

static int take_count(const char *text, const char *option, int64_t min,
		      uint32_t *ret, struct error *err)
{
	int64_t n = 0;
	int r = parse_int(text, min, 100000, option, &n, err);

	if (!r)
		*ret = (uint32_t)n;
	return r;
}

static int take_sign(const char *text, enum owners_sign *ret, struct error *err)
{
	if (strcmp(text, "cpu") && strcmp(text, "keyboard"))
		return error_set(err, -EINVAL,
				 "--by: '%.40s' is neither cpu nor keyboard",
				 text);
	*ret = *text == 'c' ? OWNERS_CPU : OWNERS_CPU_KEYBOARD;
	return 0;
}

/* What is a number or a word of a list. */
static int take_value(struct args *a, int key, const char *arg,
		      struct error *err)
{
	struct size_question *q = &a->q;
	int64_t seed = 0;
	int r;

	switch (key) {
	case KEY_SLOWDOWN:
		return take_real(arg, "--slowdown", 1, 1e6, &q->slowdown, err);
	case KEY_DELAYS:
		return take_count(arg, "--delays-a-day", 1, &q->days.delays,
				  err);
	case KEY_CONFIDENCE:
		r = take_real(arg, "--confidence", 50, 99.999, &q->level, err);
		q->level /= r ? 1 : 100;
		return r;
	case 'L':
		return take_real(arg, "--load", 1e-6, 1e3, &q->days.load, err);
	case KEY_BY:
		return take_sign(arg, &q->days.sign, err);
	case KEY_QUIET:
		return take_time(arg, "--quiet", &q->days.quiet, err);
	case KEY_COST:
		return take_time(arg, "--migrate-cost", &q->days.move, err);
	case KEY_RUNS:
		return take_count(arg, "--runs", 2, &q->runs, err);
	case KEY_MAX:
		return take_count(arg, "--max", 1, &q->most, err);
	case 'j':
		return take_count(arg, "--workers", 1, &q->workers, err);
	default:
		r = parse_int(arg, 0, INT64_MAX, "--seed", &seed, err);
		q->days.seed = (uint64_t)seed;
		return r;
	}
}

static error_t parse_size_args(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 'w':
		a->q.days.workload = arg;
		return 0;
	case KEY_OWNERS:
		a->owners = arg;
		return 0;
	case KEY_ACTIVITY:
		a->activity = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case 'L':
	case 'j':
		break;
	default:
		if (key < KEY_SLOWDOWN || key > KEY_JSON)
			return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, take_value(a, key, arg, &err), &err);
}

static int check_args(struct args *a, struct error *err)
{
	int r = workload_check(a->q.days.workload, err);

	if (!r && a->owners && a->activity)
		r = error_set(err, -EINVAL,
			      "--owners and --activity: give one of them");
	if (!r)
		r = owners_law_parse(a->owners, &a->q.days.law, err);
	return r;
}

static int read_activity(const char *path, struct activity *ret,
			 struct error *err)
{
	size_t size;
	char *text;
	int r;

	if (!path)
		return 0;
	r = inflate_read(path, &text, &size, err);
	if (r < 0)
		return r;
	r = activity_parse(text, size, path, ret, err);
	free(text);
	if (!r && !ret->nr)
		r = error_set(err, -EINVAL, "%s: nothing happens in it", path);
	return r;
}

/* ---- output ---- */

static void print_size(const struct args *a, const struct size_answer *s)
{
	const struct size_question *q = &a->q;

	printf("%" PRIu32 " hosts (%g %%: %" PRIu32 " to %" PRIu32
	       ") carry the workload of %" PRIu32
	       " dedicated processors: %.2f for one\n"
	       "slowed down %g times at most, each owner delayed at most %" PRIu32
	       " times a day\n\n",
	       s->hosts, 100 * q->level, s->low, s->high, s->dedicated,
	       (double)s->hosts / s->dedicated, q->slowdown, q->days.delays);
	printf("hosts  slowdown  %-22s  delays  at most     moves\n",
	       "interval");
	for (size_t i = 0; i < s->nr; i++) {
		const struct size_point *p = &s->point[i];

		char interval[40];

		snprintf(interval, sizeof(interval), "(%.4g to %.4g)",
			 p->slowdown.low, p->slowdown.high);
		printf("%5" PRIu32 "  %8.4g  %-22s  %6.2f  %7.1f  %8.0f\n",
		       p->hosts, p->slowdown.value, interval, p->delays,
		       p->delays_most, p->moves);
	}
	printf("\n%" PRIu32 " runs each; seed %" PRIu64 "; stint " STINT_VERSION
	       "\n",
	       q->runs, q->days.seed);
}

static json_t *point_json(const struct size_point *p)
{
	return json_pack(
		"{s:i, s:o, s:[o, o], s:o, s:o, s:o}", "hosts", (int)p->hosts,
		"slowdown", json_number(p->slowdown.value), "interval",
		json_number(p->slowdown.low), json_number(p->slowdown.high),
		"delays", json_number(p->delays), "delays_most",
		json_number(p->delays_most), "moves", json_number(p->moves));
}

static void print_size_json(const struct args *a, const struct size_answer *s)
{
	const struct size_question *q = &a->q;
	json_t *points = json_array();

	for (size_t i = 0; i < s->nr; i++)
		json_array_append_new(points, point_json(&s->point[i]));
	json_line(
		json_pack("{s:i, s:i, s:i, s:i, s:o, s:i, s:o, s:i, s:I, s:s, "
			  "s:o, s:o}",
			  "answer", (int)s->hosts, "low", (int)s->low, "high",
			  (int)s->high, "dedicated", (int)s->dedicated,
			  "most_slowdown", json_number(q->slowdown),
			  "most_delays", (int)q->days.delays, "level",
			  json_number(q->level), "runs", (int)q->runs, "seed",
			  (json_int_t)q->days.seed, "version", STINT_VERSION,
			  "workload", json_text(q->days.workload), "tried",
			  points),
		stdout);
}

static int answer(struct args *a, struct error *err)
{
	struct activity recorded = ACTIVITY_INIT;
	struct size_answer s;
	int r = read_activity(a->activity, &recorded, err);

	a->q.days.recorded = a->activity ? &recorded : NULL;
	if (!r)
		r = size_find(&a->q, &s, err);
	activity_clear(&recorded);
	if (r < 0)
		return r;
	if (a->json)
		print_size_json(a, &s);
	else
		print_size(a, &s);
	size_clear(&s);
	return fflush(stdout) ? error_sys(err, -errno, "standard output") : 0;
}

int cmd_size(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_size_args,
		"",
		"How many hosts that belong to people does a parallel workload "
		"need?",
		0,
		0,
		0
	};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct args a = { .q = { .slowdown = 1.2,
				 .level = 0.95,
				 .most = 512,
				 .runs = 20,
				 .workers = cores > 0 ? (unsigned)cores : 1 } };
	struct error err;

	days_init(&a.q.days);
	a.q.days.delays = 10;
	command_parse(&argp, argc, argv, 0, &a);
	if (check_args(&a, &err) < 0)
		return command_fail("size", EXIT_USAGE, &err);
	return answer(&a, &err) < 0 ? command_fail("size", EXIT_FAILED, &err)
				    : EXIT_OK;
}
