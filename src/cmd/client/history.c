/*
 * history.c - stint history: what jobs that are over asked for and had
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/instants.h"
#include "cmd/client/listing.h"
#include "core/json.h"
#include "core/plain.h"
#include "core/units.h"

enum { KEY_CSV = 256, KEY_SWF, KEY_UNTIL };

static const struct argp_option options[] = {
	{ "csv", KEY_CSV, 0, 0, "print a table of comma-separated values", 0 },
	{ "swf", KEY_SWF, 0, 0, "print a trace in the Standard Workload Format",
	  0 },
	{ "from", 'f', "JOB", 0, "of this job and those after it", 0 },
	{ "since", 's', "TIME", 0,
	  "over from then on: 2h (ago), 18:30, 2026-12-24 18:30", 0 },
	{ "until", KEY_UNTIL, "TIME", 0, "over by then", 0 },
	{ "user", 'u', "USER", 0, "of this user alone", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__GetHistory ask;
	struct job_words jobs; /* none: all */
	size_t nr_shown;       /* of the present word's */
	void (*print)(struct args *a, const Control__Account *c);
	bool head;	/* is printed */
	uint64_t begin; /* of a trace */
};

/* ---- forms ---- */

struct sums {
	uint64_t cpu, rss, held, stood, bytes;
	uint64_t all_rss; /* of all ranks */
	uint64_t give_back, late;
	unsigned moves, returns;
};

static struct sums sum_up(const Control__Account *c)
{
	struct sums s = { .cpu = 0 };

	for (size_t i = 0; i < c->n_had; i++) {
		s.cpu += c->had[i]->cpu_usec;
		s.held += c->had[i]->held_usec;
		s.stood += c->had[i]->stood_usec;
		s.bytes += c->had[i]->moved_bytes;
		s.moves += c->had[i]->moves;
		s.returns += c->had[i]->returns;
		s.give_back += c->had[i]->give_back_usec;
		s.late += c->had[i]->late_usec;
		s.all_rss += c->had[i]->max_rss;
		if (c->had[i]->max_rss > s.rss)
			s.rss = c->had[i]->max_rss;
	}
	return s;
}

static double waited(const Control__Account *c)
{
	uint64_t end = c->start_usec ? c->start_usec : c->end_usec;

	return end > c->submit_usec ? (double)(end - c->submit_usec) / 1e6 : 0;
}

static double ran(const Control__Account *c)
{
	return c->start_usec && c->end_usec > c->start_usec
		       ? (double)(c->end_usec - c->start_usec) / 1e6
		       : 0;
}

static void print_account(struct args *a, const Control__Account *c)
{
	struct sums s = sum_up(c);
	char when[32];

	if (!a->head)
		puts("JOB    USER       RANKS  ENDED                  WAITED       RAN       CPU  EXIT "
		     "REASON        PROGRAM");
	a->head = true;
	if (*c->program)
		plain_text(c->program);
	printf("%-6s %-10s %5u  %s %7.1f s %7.1f s %7.1f s  %4u %-13s %s\n",
	       job_number(c->job, c->array, c->task), c->user, c->ranks,
	       show_time(c->end_usec, when), waited(c), ran(c),
	       (double)s.cpu / 1e6, c->exit, message_reason((int)c->reason),
	       *c->name ? c->name : c->program);
}

static void print_csv(struct args *a, const Control__Account *c)
{
	static const Control__Limits none = CONTROL__LIMITS__INIT;
	const Control__Limits *l = c->limits ? c->limits : &none;
	struct sums s = sum_up(c);

	if (!a->head)
		puts("job,user,name,program,ranks,submit_us,start_us,end_us,"
		     "cpu_us,max_rss,moves,stood_us,moved_bytes,requeues,exit,"
		     "reason,by,why,array,task,memory,pids,cpus,output_limit,held_us,"
		     "owner_returns,give_back_us,late_us");
	a->head = true;
	printf("%" PRIu64 ",", c->job);
	csv_text(c->user);
	putchar(',');
	csv_text(c->name);
	putchar(',');
	csv_text(c->program);
	printf(",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
	       ",%u,%" PRIu64 ",%" PRIu64 ",%u,%u,%s,",
	       c->ranks, c->submit_usec, c->start_usec, c->end_usec, s.cpu,
	       s.rss, s.moves, s.stood, s.bytes, c->requeues, c->exit,
	       message_reason((int)c->reason));
	csv_text(c->by);
	putchar(',');
	csv_text(c->why);
	printf(",%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 ",%g,%" PRIu64 ",%" PRIu64
	       ",%u,%" PRIu64 ",%" PRIu64 "\n",
	       c->array, c->task, c->memory, l->pids,
	       (double)l->milli_cpus / 1000, l->output_max, s.held, s.returns,
	       s.give_back, s.late);
}

static int swf_status(const Control__Account *c)
{
	return c->reason == CONTROL__REASON__CANCELLED ? 5 : c->exit ? 0 : 1;
}

/* A number, and -1 for one that is not known, or of nothing. */
static void put_swf(bool known, double value)
{
	if (known)
		printf(" %.6f", value);
	else
		fputs(" -1", stdout);
}

static void put_swf_count(uint64_t value)
{
	if (value)
		printf(" %" PRIu64, value);
	else
		fputs(" -1", stdout);
}

static void print_swf_head(struct args *a, const Control__Account *c)
{
	if (a->head)
		return;
	a->head = true;
	a->begin = c->submit_usec;
	printf("; Version: 2.2\n; Computer: Stint\n; UnixStartTime: %" PRIu64
	       "\n",
	       a->begin / USEC_PER_SEC);
}

/*
 * Times may have fractions; what is not known or, as the run time of a job that never
 * started, not there, is -1; memory is the mean of the ranks' (the standard's fields
 * 2 to 10).
 */
static void print_swf(struct args *a, const Control__Account *c)
{
	uint64_t ranks = c->n_had ? c->n_had : 1;
	struct sums s = sum_up(c);
	bool began = c->start_usec != 0;

	print_swf_head(a, c);
	printf("%" PRIu64 " %.6f", c->job,
	       (double)(int64_t)(c->submit_usec - a->begin) / 1e6);
	put_swf(began, waited(c));
	put_swf(began, ran(c));
	put_swf_count(began ? c->ranks : 0);
	put_swf(began && s.cpu, (double)s.cpu / 1e6 / (double)ranks);
	put_swf_count(s.all_rss / 1024 / ranks);
	put_swf_count(c->ranks_asked);
	put_swf(c->estimate_usec, (double)c->estimate_usec / 1e6);
	put_swf_count(c->memory / 1024);
	printf(" %d %u -1 -1 -1 -1 -1 -1\n", swf_status(c), c->uid);
}

static void rank_json(const Control__RankAccount *r, size_t n,
		      struct json_out *to)
{
	json_out_open(to, NULL, '{');
	json_out_int(to, "rank", (int64_t)n);
	json_out_text(to, "host", r->host);
	json_out_int(to, "cpu_us", (int64_t)r->cpu_usec);
	json_out_int(to, "max_rss", (int64_t)r->max_rss);
	json_out_int(to, "held_us", (int64_t)r->held_usec);
	json_out_int(to, "owner_returns", r->returns);
	json_out_int(to, "give_back_us", (int64_t)r->give_back_usec);
	json_out_int(to, "late_us", (int64_t)r->late_usec);
	json_out_text(to, "late", *r->late ? r->late : NULL);
	json_out_int(to, "moves", r->moves);
	json_out_int(to, "stood_us", (int64_t)r->stood_usec);
	json_out_int(to, "moved_bytes", (int64_t)r->moved_bytes);
	json_out_int(to, "exit", r->exit);
	json_out_bool(to, "lost", r->lost);
	json_out_close(to, '}');
}

static void lists_json(const Control__Account *c, struct json_out *to)
{
	json_out_open(to, "ranks", '[');
	for (size_t i = 0; i < c->n_had; i++)
		rank_json(c->had[i], i, to);
	json_out_close(to, ']');
	json_out_open(to, "acts", '[');
	for (size_t i = 0; i < c->n_acts; i++) {
		json_out_open(to, NULL, '{');
		json_out_int(to, "at_us", (int64_t)c->acts[i]->at_usec);
		json_out_text(to, "who", c->acts[i]->who);
		json_out_text(to, "what", c->acts[i]->what);
		json_out_close(to, '}');
	}
	json_out_close(to, ']');
}

static void print_account_json(struct args *a, const Control__Account *c)
{
	struct json_out o = { .to = stdout };

	(void)a;
	json_out_open(&o, NULL, '{');
	json_out_int(&o, "job", (int64_t)c->job);
	json_out_int(&o, "array", (int64_t)c->array);
	json_out_int(&o, "task", c->task);
	json_out_text(&o, "user", c->user);
	json_out_text(&o, "name", c->name);
	json_out_text(&o, "program", c->program);
	json_out_int(&o, "nr_ranks", c->ranks);
	json_out_int(&o, "ranks_asked", c->ranks_asked);
	json_out_int(&o, "submit_us", (int64_t)c->submit_usec);
	json_out_int(&o, "start_us", (int64_t)c->start_usec);
	json_out_int(&o, "end_us", (int64_t)c->end_usec);
	json_out_int(&o, "estimate_us", (int64_t)c->estimate_usec);
	json_out_int(&o, "limit_us", (int64_t)c->limit_usec);
	json_out_int(&o, "memory", (int64_t)c->memory);
	json_out_int(&o, "exit", c->exit);
	json_out_text(&o, "reason", message_reason((int)c->reason));
	json_out_text(&o, "by", c->by);
	json_out_text(&o, "why", c->why);
	json_out_int(&o, "requeues", c->requeues);
	lists_json(c, &o);
	limits_json(c->limits, &o);
	json_out_close(&o, '}');
	putchar('\n');
}

/* ---- the command ---- */

static error_t parse_history(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case KEY_CSV:
	case KEY_SWF:
		if (a->print != print_account)
			command_misuse(state, "one of --csv, --swf and --json");
		a->print = key == KEY_CSV ? print_csv : print_swf;
		return 0;
	case 'f':
		return command_parsed(state, parse_job(arg, &a->ask.from, &err),
				      &err);
	case 's':
		r = command_since(arg, "--since", &a->ask.since_usec, &err);
		return command_parsed(state, r, &err);
	case KEY_UNTIL:
		r = command_since(arg, "--until", &a->ask.until_usec, &err);
		return command_parsed(state, r, &err);
	case 'u':
		if (!*arg)
			command_misuse(state, "--user: the name is empty");
		a->ask.user = arg;
		return 0;
	case ARGP_KEY_ARG:
		return command_next_job(state, arg, &a->jobs);
	case ARGP_KEY_END:
		if (a->client.json && a->print != print_account)
			command_misuse(state, "one of --csv, --swf and --json");
		if (a->jobs.nr && a->ask.from)
			command_misuse(state, "--from, or the jobs one by one");
		if (a->ask.until_usec && a->ask.until_usec < a->ask.since_usec)
			command_misuse(state, "--until is before --since");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_history,
	"[JOB...]",
	"Show what jobs that are over asked for and had, also those that `stint ps` "
	"knows no more.",
	0,
	0,
	0
};

/* Is the account one of those that are asked for; NULL: all are. */
static bool is_meant(const struct job_word *w, const Control__Account *c)
{
	if (!w)
		return true;
	if (c->array != w->job)
		return c->job == w->job && !w->tasks.nr;
	return task_words_have(&w->tasks, c->task);
}

/* A page of them.  A job's account is the first of its page, or is not there. */
static void show_page(struct args *a, const struct job_word *w,
		      const Control__History *page)
{
	for (size_t i = 0; i < page->n_accounts; i++)
		if (is_meant(w, page->accounts[i])) {
			a->print(a, page->accounts[i]);
			a->nr_shown++;
		}
	a->ask.from = page->next > a->ask.from ? page->next : 0;
	if (w && (!page->n_accounts || page->accounts[0]->array != w->job))
		a->ask.from = 0;
}

static int ask_pages(struct client *c, struct args *a, const struct job_word *w,
		     struct error *err)
{
	Control__Message *m;
	int r;

	a->nr_shown = 0;
	do {
		r = client_ask(c, MESSAGE_BODY(GET_HISTORY), &a->ask,
			       MESSAGE_BODY(HISTORY), NULL, NULL, &m, err);
		if (r < 0)
			return r;
		show_page(a, w, m->history);
		message_free(m);
	} while (a->ask.from);
	return 0;
}

static int ask_word(struct client *c, void *args, size_t i, struct error *err)
{
	struct args *a = args;
	const struct job_word *w = &a->jobs.at[i];
	int r;

	a->ask.from = w->job;
	r = ask_pages(c, a, w, err);
	if (!r && !a->nr_shown)
		r = error_set(err, -ESRCH,
			      "no account of job %" PRIu64 "; `stint ps "
			      "--all` lists those that are not over, too",
			      w->job);
	return r;
}

static int ask_history(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	if (a->client.json)
		a->print = print_account_json;
	if (a->jobs.nr)
		return client_each("history", c, a->jobs.nr, ask_word, a, err);
	return ask_pages(c, a, NULL, err);
}

int cmd_history(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__GET_HISTORY__INIT,
			  .print = print_account };
	int r = client_main("history", &argp, CLIENT_JSON, argc, argv,
			    ask_history, &a);

	job_words_clear(&a.jobs);
	return r;
}
