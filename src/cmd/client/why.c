/*
 * why.c - stint why: what the policy planned for a job, and its reasons
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/client/client_options.h"
#include "cmd/client/instants.h"
#include "cmd/client/listing.h"
#include "core/json.h"
#include "core/units.h"

struct args {
	struct client_options client;
	Control__GetWhy ask;
	struct job_word job;
};

static error_t parse_why(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return command_one_job(state, arg, &a->job);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	0,
	parse_why,
	"JOB",
	"Say why a job waits, and what the policy planned for it so far, with its "
	"reasons.",
	0,
	0,
	0
};

static void print_why(const Control__Why *w)
{
	char *now = instants_told(w->now), when[32];

	printf("job %" PRIu64 " is %s%s%s\n", w->job, state_name(w->state),
	       *w->now ? ": " : "", now);
	free(now);
	if (w->expected_usec)
		printf("it would start %s, if jobs take their estimates or "
		       "limits and nothing else happens\n",
		       show_time(w->expected_usec, when));
	limits_print(w->limits, stdout);
	if (w->limit_usec)
		printf("it is ended when it has run for %s\n",
		       show_usec(w->limit_usec));
	for (size_t i = 0; i < w->n_planned; i++) {
		const Control__Planned *p = w->planned[i];

		char *text = instants_told(p->text);

		printf("%s  %s", show_time(p->at_usec, when), text);
		free(text);
		if (p->times > 1)
			printf(" (%u times)", p->times);
		putchar('\n');
	}
}

/* The numbers of a reason, as the controller has them; {} if it says none. */
static json_t *numbers_json(const char *text)
{
	json_t *j = json_loads(text, 0, NULL);

	if (json_is_object(j))
		return j;
	json_decref(j);
	return json_object();
}

static void planned_json(const Control__Planned *p, struct json_out *to)
{
	json_out_open(to, NULL, '{');
	json_out_int(to, "at_us", (int64_t)p->at_usec);
	json_out_text(to, "text", p->text);
	json_out_tree(to, "numbers", numbers_json(p->numbers));
	json_out_int(to, "times", p->times);
	json_out_close(to, '}');
}

static void print_why_json(const Control__Why *w)
{
	struct json_out o = { .to = stdout };

	json_out_open(&o, NULL, '{');
	json_out_int(&o, "job", (int64_t)w->job);
	json_out_text(&o, "state", state_name(w->state));
	json_out_text(&o, "now", w->now);
	limits_json(w->limits, &o);
	json_out_int(&o, "limit_us", (int64_t)w->limit_usec);
	json_out_int(&o, "expected_us", (int64_t)w->expected_usec);
	json_out_tree(&o, "now_numbers", numbers_json(w->now_numbers));
	json_out_open(&o, "planned", '[');
	for (size_t i = 0; i < w->n_planned; i++)
		planned_json(w->planned[i], &o);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	putchar('\n');
}

/* Of an array's tasks: how many there are in each state, and one of each. */
struct tasks_seen {
	uint64_t all;
	uint64_t nr[CONTROL__STATE__SILENT + 1];
	uint64_t job[CONTROL__STATE__SILENT + 1]; /* the first that is so */
};

static void see_tasks(const Control__Jobs *jobs, uint64_t array,
		      struct tasks_seen *seen)
{
	for (size_t i = 0; i < jobs->n_jobs; i++) {
		const Control__JobInfo *j = jobs->jobs[i];

		if (j->array != array ||
		    (unsigned)j->state > CONTROL__STATE__SILENT)
			continue;
		seen->all++;
		if (!seen->nr[j->state]++)
			seen->job[j->state] = j->job;
	}
}

/* Say how many tasks are in which state, and return the job of one: best, one that waits. */
static uint64_t tell_tasks(const struct tasks_seen *seen, uint64_t array,
			   bool quiet)
{
	uint64_t job = array;
	const char *before = "";

	for (int i = CONTROL__STATE__SILENT; i; i--)
		job = seen->nr[i] ? seen->job[i] : job;
	if (quiet)
		return job;
	printf("array %" PRIu64 ": ", array);
	for (int i = 1; i <= CONTROL__STATE__SILENT; i++) {
		if (!seen->nr[i])
			continue;
		printf("%s%" PRIu64 " %s", before, seen->nr[i], state_name(i));
		before = ", ";
	}
	puts("; of one of them:");
	return job;
}

/* Of an array: a task to ask about.  The record may know a job that the list does not. */
static int choose_task(struct client *c, struct args *a, struct error *err)
{
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	struct tasks_seen seen = { 0 };
	Control__Message *m;
	int r;

	list.job = a->job.job;
	list.ended = true;
	do {
		r = list_jobs_on(c, &list, &m, err);
		if (r == -ESRCH)
			return 0;
		if (r < 0)
			return r;
		see_tasks(m->jobs, list.job, &seen);
		message_free(m);
	} while (list.from);
	if (seen.all)
		a->ask.job = tell_tasks(&seen, list.job, a->client.json);
	return 0;
}

static int find_job(struct client *c, struct args *a, struct error *err)
{
	Control__Message *m;
	int r;

	a->ask.job = a->job.job;
	if (!a->job.tasks.nr)
		return choose_task(c, a, err);
	r = client_one_job(c, &a->job, &m, err);
	if (r < 0)
		return r;
	a->ask.job = m->jobs->jobs[0]->job;
	message_free(m);
	return 0;
}

static int ask_why(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	Control__Message *m;
	int r = find_job(c, a, err);

	if (!r)
		r = client_ask(c, MESSAGE_BODY(GET_WHY), &a->ask,
			       MESSAGE_BODY(WHY), NULL, NULL, &m, err);
	if (r < 0)
		return r;
	if (a->client.json)
		print_why_json(m->why);
	else
		print_why(m->why);
	message_free(m);
	return EXIT_OK;
}

int cmd_why(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__GET_WHY__INIT };

	int r = client_main("why", &argp, CLIENT_JSON, argc, argv, ask_why, &a);

	task_words_clear(&a.job.tasks);
	return r;
}
