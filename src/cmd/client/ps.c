/*
 * ps.c - stint ps: the jobs, their ranks and where they are
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/client/client_options.h"
#include "cmd/client/instants.h"
#include "cmd/client/listing.h"
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

	switch (key) {
	case 'a':
		a->all = true;
		return 0;
	case ARGP_KEY_ARG:
		return command_next_job(state, arg, &a->jobs);
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
	if (r->moves && r->downtime_usec && r->predicted_usec)
		printf(" (%s expected)", show_usec(r->predicted_usec));
	if (rank_writes_told(r) >= 0)
		printf(", writes %s/s",
		       show_bytes((uint64_t)rank_writes_told(r)));
	if (*r->why)
		printf("  (%s)", r->why);
	putchar('\n');
}

static void print_why(const char *why)
{
	char *text = instants_told(why);

	printf("  (%s)", text);
	free(text);
}

/*
 * With all its ranks, or those alone that are not just where they are; number: of
 * it, or of the jobs that the line is for.
 */
static void print_job(Control__JobInfo *i, const char *number, bool ranks)
{
	uint64_t now = time(NULL) * USEC_PER_SEC;
	uint64_t end = i->end_usec ? i->end_usec : now;

	printf("%-6s %-9s %-10s %3zu rank%s  ", number, state_name(i->state),
	       i->user, i->n_ranks, i->n_ranks == 1 ? " " : "s");
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
		print_why(i->why);
	putchar('\n');
	if (i->state == CONTROL__STATE__WAITING)
		return;
	for (size_t n = 0; n < i->n_ranks; n++)
		if (ranks || *i->ranks[n]->moving_to || *i->ranks[n]->why)
			print_rank(i->ranks[n], n);
}

static bool is_alike(const Control__JobInfo *i, const Control__JobInfo *k)
{
	return i->array && k->array == i->array && k->held == i->held &&
	       k->state == CONTROL__STATE__WAITING &&
	       i->state == CONTROL__STATE__WAITING;
}

/* Of how many of these n can one line tell?  Of tasks that wait in even steps. */
static size_t count_alike(Control__JobInfo **i, size_t n)
{
	size_t k = 1;

	while (k < n && is_alike(i[0], i[k]) &&
	       i[k]->task - i[k - 1]->task == i[1]->task - i[0]->task)
		k++;
	return k;
}

static void show_jobs(struct args *a, Control__JobInfo **i, size_t n)
{
	uint32_t first = i[0]->task, last = i[n - 1]->task;
	char number[80];

	if (n == 1)
		snprintf(number, sizeof(number), "%s",
			 job_number(i[0]->job, i[0]->array, first));
	else if (last - first == n - 1)
		snprintf(number, sizeof(number), "%" PRIu64 "[%u-%u]",
			 i[0]->array, first, last);
	else
		snprintf(number, sizeof(number), "%" PRIu64 "[%u-%u:%u]",
			 i[0]->array, first, last, i[1]->task - first);
	if (!a->head)
		puts("JOB    STATE     USER        RANKS        TIME  PROGRAM");
	a->head = true;
	print_job(i[0], number, a->jobs.nr);
}

static void show_page(struct args *a, Control__Jobs *l)
{
	size_t n;

	for (size_t i = 0; i < l->n_jobs; i += n) {
		n = count_alike(l->jobs + i, l->n_jobs - i);
		show_jobs(a, l->jobs + i, n);
	}
}

static void print_page_json(const Control__Jobs *l)
{
	for (size_t i = 0; i < l->n_jobs; i++) {
		job_json(l->jobs[i], &(struct json_out){ .to = stdout });
		putchar('\n');
	}
}

/* One answer of it; the number of the job to go on with, or 0, in list->from. */
static int ask_some(struct client *c, struct args *a, Control__ListJobs *list,
		    struct error *err)
{
	Control__Message *m;
	bool first = !list->from;
	int r = list_jobs_on(c, list, &m, err);

	if (r < 0)
		return r;
	if (*m->jobs->warning && first)
		fprintf(stderr, "stint %s: %s\n", a->name, m->jobs->warning);
	if (a->client.json)
		print_page_json(m->jobs);
	else
		show_page(a, m->jobs);
	message_free(m);
	return 0;
}

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	struct args *a = args;
	int r;

	if (a->jobs.nr) {
		list.job = a->jobs.at[i].job;
		list.tasks = a->jobs.at[i].tasks.range;
		list.n_tasks = a->jobs.at[i].tasks.nr;
	}
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

	job_words_clear(&a.jobs);
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
