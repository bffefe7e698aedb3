/*
 * ps.c - stint ps: the jobs, their ranks and where they are
 */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/client/client_options.h"
#include "core/json.h"
#include "core/plain.h"
#include "core/units.h"

static const struct argp_option options[] = {
	{ "all", 'a', 0, 0, "also jobs that are over", 0 }, { 0 }
};

struct args {
	struct client_options client;
	const char *name; /* of the command: it has two */
	bool all;
	struct job_words jobs; /* none: all */
	bool head;	       /* is printed */
};

static error_t parse_ps(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 'a':
		a->all = true;
		return 0;
	case ARGP_KEY_ARG:
		return command_parsed(state, job_words_add(&a->jobs, arg, &err),
				      &err);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,    parse_ps,
	"[JOB...]", "Show jobs, their ranks and where they are.",
	0,	    0,
	0
};

static json_t *rank_json(const Control__RankInfo *r, size_t n)
{
	json_t *j =
		json_pack("{si ss ss ss sI si sI si}", "rank", (int)n, "state",
			  state_name(r->state), "host", r->host, "address",
			  r->address, "epoch", (json_int_t)r->epoch, "moves",
			  (int)r->moves, "last_downtime_us",
			  (json_int_t)r->downtime_usec, "pid", (int)r->pid);

	if (*r->moving_to)
		json_object_set_new(j, "moving_to", json_string(r->moving_to));
	if (*r->why)
		json_object_set_new(j, "why", json_text(r->why));
	if (r->state == CONTROL__STATE__DONE)
		json_object_set_new(j, "exit", json_integer(r->exit));
	return j;
}

static json_t *job_json(const Control__JobInfo *i)
{
	json_t *j =
		json_pack("{sI ss ss sI sI sI so}", "job", (json_int_t)i->job,
			  "state", state_name(i->state), "user", i->user,
			  "submit_us", (json_int_t)i->submit_usec, "start_us",
			  (json_int_t)i->start_usec, "end_us",
			  (json_int_t)i->end_usec, "why", json_text(i->why));
	json_t *argv = json_array(), *ranks = json_array();

	for (size_t n = 0; n < i->n_argv; n++)
		json_array_append_new(argv, json_text(i->argv[n]));
	for (size_t n = 0; n < i->n_ranks; n++)
		json_array_append_new(ranks, rank_json(i->ranks[n], n));
	json_object_set_new(j, "argv", argv);
	json_object_set_new(j, "ranks", ranks);
	json_object_set_new(j, "hidden", json_boolean(i->hidden));
	json_object_set_new(j, "name", json_text(i->name));
	json_object_set_new(j, "held", json_boolean(i->held));
	json_object_set_new(j, "detached", json_boolean(i->detached));
	json_object_set_new(j, "requeues", json_integer(i->requeues));
	json_object_set_new(j, "limit_us",
			    json_integer((json_int_t)i->limit_usec));
	json_object_set_new(j, "reason", json_string(reason_name(i->reason)));
	json_object_set_new(j, "by", json_text(i->by));
	if (i->state == CONTROL__STATE__DONE)
		json_object_set_new(j, "exit", json_integer(i->exit));
	return j;
}

static void print_rank(const Control__RankInfo *r, size_t n)
{
	printf("  %-7zu%-9s %s", n, state_name(r->state),
	       *r->host ? r->host : "-");
	if (*r->moving_to)
		printf(" -> %s", r->moving_to);
	if (r->moves)
		printf("  moved %u time%s", r->moves, r->moves == 1 ? "" : "s");
	/* 0: the source's word of it got lost */
	if (r->moves && r->downtime_usec)
		printf(", last stood still %s", show_usec(r->downtime_usec));
	if (*r->why)
		printf("  (%s)", r->why);
	putchar('\n');
}

/* With all its ranks, or those alone that are not just where they are. */
static void print_job(Control__JobInfo *i, bool ranks)
{
	uint64_t now = time(NULL) * USEC_PER_SEC;
	uint64_t end = i->end_usec ? i->end_usec : now;

	printf("%-6" PRIu64 " %-9s %-10s %3zu rank%s  ", i->job,
	       state_name(i->state), i->user, i->n_ranks,
	       i->n_ranks == 1 ? " " : "s");
	if (i->start_usec && end > i->start_usec)
		printf("%6.0f s ", (end - i->start_usec) / 1e6);
	else
		printf("%8s ", "-");
	if (*i->name)
		printf(" %s:", i->name);
	for (size_t n = 0; n < i->n_argv; n++) {
		plain_text(i->argv[n]);
		printf(" %s", i->argv[n]);
	}
	if (i->hidden)
		printf(" ...");
	if (i->state == CONTROL__STATE__DONE)
		printf("  [exit %u]", i->exit);
	if (*i->why)
		printf("  (%s)", i->why);
	putchar('\n');
	if (i->state == CONTROL__STATE__WAITING)
		return;
	for (size_t n = 0; n < i->n_ranks; n++)
		if (ranks || *i->ranks[n]->moving_to || *i->ranks[n]->why)
			print_rank(i->ranks[n], n);
}

static void show_job(struct args *a, Control__JobInfo *i)
{
	if (a->client.json) {
		json_line(job_json(i), stdout);
		return;
	}
	if (!a->head)
		puts("JOB    STATE     USER        RANKS        TIME  PROGRAM");
	a->head = true;
	print_job(i, a->jobs.nr);
}

/* One answer of it; the number of the job to go on with, or 0, in list->from. */
static int ask_some(struct client *c, struct args *a, Control__ListJobs *list,
		    struct error *err)
{
	Control__Message *m;
	int r = client_ask(c, MESSAGE_BODY(LIST_JOBS), list, MESSAGE_BODY(JOBS),
			   NULL, NULL, &m, err);

	if (r < 0)
		return r;
	if (*m->jobs->warning && !list->from)
		fprintf(stderr, "stint %s: %s\n", a->name, m->jobs->warning);
	for (size_t n = 0; n < m->jobs->n_jobs; n++)
		show_job(a, m->jobs->jobs[n]);
	list->from = m->jobs->next > list->from ? m->jobs->next : 0;
	message_free(m);
	return 0;
}

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	struct args *a = args;
	int r;

	list.job = a->jobs.nr ? a->jobs.job[i] : 0;
	list.ended = a->all;
	do
		r = ask_some(c, a, &list, err);
	while (!r && list.from);
	return r;
}

static int ask_ps(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	return client_each(a->name, c, a->jobs.nr ? a->jobs.nr : 1, ask_one, a,
			   err);
}

static int list_jobs(const char *name, int argc, char **argv)
{
	struct args a = { .name = name };
	int r = client_main(name, &argp, CLIENT_JSON, argc, argv, ask_ps, &a);

	free(a.jobs.job);
	return r;
}

int cmd_ps(int argc, char **argv)
{
	return list_jobs("ps", argc, argv);
}

int cmd_jobs(int argc, char **argv)
{
	return list_jobs("jobs", argc, argv);
}
