/*
 * wait.c - stint wait: until jobs are over
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/client/client_options.h"
#include "cmd/client/listing.h"
#include "core/json.h"
#include "core/xalloc.h"

struct args {
	struct client_options client;
	struct job_words jobs;
	int exit; /* of the first that failed */
};

static error_t parse_wait(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return command_next_job(state, arg, &a->jobs);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "for which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	0,
	parse_wait,
	"JOB...",
	"Wait until jobs are over.\v"
	"The exit status is that of the first of them that failed, as `stint run` "
	"would have ended with; 0 if none did.",
	0,
	0,
	0
};

struct ended {
	uint64_t job, array;
	uint32_t task, exit;
	const char *why;
	bool limit_met;
};

static void show(struct args *a, const struct ended *e)
{
	if (e->exit && !a->exit)
		a->exit = (int)e->exit;
	if (a->client.json)
		json_line(json_pack("{sI sI si si so}", "job",
				    (json_int_t)e->job, "array",
				    (json_int_t)e->array, "task", (int)e->task,
				    "exit", (int)e->exit, "why",
				    json_text(e->why)),
			  stdout);
	else if ((e->exit || e->limit_met) && *e->why)
		fprintf(stderr, "stint wait: job %s: %s\n",
			job_number(e->job, e->array, e->task), e->why);
}

static void show_account(struct args *a, const struct job_word *w,
			 const Control__Account *c)
{
	const struct ended e = { .job = c->job,
				 .array = c->array,
				 .task = c->task,
				 .exit = c->exit,
				 .why = c->why };

	if (task_words_have(&w->tasks, c->task))
		show(a, &e);
}

/* Of a job of an array its account tells how it ended. */
static int wait_for(struct client *c, struct args *a, uint64_t job, bool tell,
		    struct error *err)
{
	Control__WaitJob ask = CONTROL__WAIT_JOB__INIT;
	Control__Message *m;
	int r;

	ask.job = job;
	r = client_ask(c, MESSAGE_BODY(WAIT_JOB), &ask, MESSAGE_BODY(JOB_STATE),
		       client_unhurried, NULL, &m, err);
	if (r == -ESRCH && !tell)
		return 0; /* over, and forgotten */
	if (r < 0)
		return r;
	if (tell)
		show(a,
		     &(struct ended){ .job = job,
				      .exit = m->job_state->exit,
				      .why = m->job_state->why,
				      .limit_met = m->job_state->limit_met });
	message_free(m);
	return 0;
}

/* Jobs of an array, as they are listed now; a list of one's own. */
struct listed {
	uint64_t *job;
	size_t nr, cap;
	uint64_t array; /* that they are of; 0: it is one job */
};

static int list_them(struct client *c, const struct job_word *w,
		     struct listed *to, struct error *err)
{
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	Control__Message *m;
	int r;

	list.job = w->job;
	list.tasks = w->tasks.range;
	list.n_tasks = w->tasks.nr;
	do {
		r = list_jobs_on(c, &list, &m, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < m->jobs->n_jobs; i++) {
			array_room(to->job, to->nr, &to->cap);
			to->job[to->nr++] = m->jobs->jobs[i]->job;
			to->array = m->jobs->jobs[i]->array;
		}
		message_free(m);
	} while (list.from);
	return 0;
}

/*
 * Those that were over may be forgotten, also while we waited for others: their
 * accounts tell how they ended.
 */
static int look_back(struct client *c, struct args *a, const struct job_word *w,
		     struct error *err)
{
	Control__GetHistory ask = CONTROL__GET_HISTORY__INIT;
	Control__Message *m;
	int r;

	ask.array = w->job;
	do {
		r = client_ask(c, MESSAGE_BODY(GET_HISTORY), &ask,
			       MESSAGE_BODY(HISTORY), NULL, NULL, &m, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < m->history->n_accounts; i++)
			show_account(a, w, m->history->accounts[i]);
		ask.from = m->history->next > ask.from ? m->history->next : 0;
		message_free(m);
	} while (ask.from);
	return 0;
}

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	struct args *a = args;
	const struct job_word *w = &a->jobs.at[i];
	struct listed l = { .job = NULL };
	int r = list_them(c, w, &l, err);

	for (size_t k = 0; k < l.nr && !r; k++)
		r = wait_for(c, a, l.job[k], l.array != w->job, err);
	if (!r && l.array == w->job)
		r = look_back(c, a, w, err);
	free(l.job);
	return r;
}

static int ask_wait(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	int r;

	client_insist(c);
	r = client_each("wait", c, a->jobs.nr, ask_one, a, err);
	return r ? r : a->exit;
}

int cmd_wait(int argc, char **argv)
{
	struct args a = { .exit = 0 };
	int r = client_main("wait", &argp, CLIENT_JSON, argc, argv, ask_wait,
			    &a);

	job_words_clear(&a.jobs);
	return r;
}
