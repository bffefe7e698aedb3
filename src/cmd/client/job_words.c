/* job_words.c - jobs, ranks and tasks as they stand on a command line */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/tasks.h"
#include "core/units.h"
#include "core/xalloc.h"

int parse_job(const char *text, uint64_t *job, struct error *err)
{
	int64_t v;

	if (parse_int(text, 1, INT64_MAX, "job", &v, err) < 0)
		return error_set(
			err, -EINVAL,
			"'%s' is not a job: write its number, as `stint "
			"ps` shows it",
			text);
	*job = v;
	return 0;
}

int parse_job_rank(const char *text, uint64_t *job, uint32_t *rank,
		   struct error *err)
{
	char *copy = xstrdup(text), *dot = strchr(copy, '.');
	int64_t j, k;
	int r = -EINVAL;

	if (dot)
		*dot = 0;
	if (dot && !parse_int(copy, 1, INT64_MAX, "job", &j, NULL) &&
	    !parse_int(dot + 1, 0, UINT32_MAX, "rank", &k, NULL)) {
		*job = j;
		*rank = k;
		r = 0;
	}
	free(copy);
	if (r < 0)
		return error_set(err, r,
				 "'%s' is not a rank: write JOB.RANK, such as "
				 "12.0",
				 text);
	return 0;
}

void task_words_clear(struct task_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->range[i]);
	free(w->range);
	*w = (struct task_words){ .range = NULL };
}

bool task_words_have(const struct task_words *w, uint32_t task)
{
	for (size_t i = 0; i < w->nr; i++)
		if (task >= w->range[i]->first && task <= w->range[i]->last)
			return true;
	return !w->nr;
}

static void add_range(void *ctx, const struct task_range *r)
{
	Control__TaskRange *to = xmalloc(sizeof(*to));
	struct task_words *w = ctx;

	control__task_range__init(to);
	to->first = r->first;
	to->last = r->last;
	array_room(w->range, w->nr, &w->cap);
	w->range[w->nr++] = to;
}

/* Each number of a range in steps is one of its own. */
static void add_steps(void *ctx, const struct task_range *r)
{
	if (r->step == 1) {
		add_range(ctx, r);
		return;
	}
	for (uint64_t i = r->first; i <= r->last; i += r->step)
		add_range(ctx, &(struct task_range){ i, i, 1 });
}

int parse_job_word(const char *text, struct job_word *to, struct error *err)
{
	const char *open = strchr(text, '[');
	size_t n = strlen(text);
	char *job, *tasks;
	int r;

	*to = (struct job_word){ .job = 0 };
	if (!open)
		return parse_job(text, &to->job, err);
	if (text[n - 1] != ']')
		return error_set(err, -EINVAL,
				 "'%s' is not a task: write JOB[TASK], such as "
				 "12[3] or 12[1-5,7]",
				 text);
	job = xasprintf("%.*s", (int)(open - text), text);
	tasks = xasprintf("%.*s", (int)(text + n - open) - 2, open + 1);
	r = parse_job(job, &to->job, err);
	if (!r)
		r = tasks_parse(tasks, add_steps, &to->tasks, err);
	free(job);
	free(tasks);
	if (r < 0)
		task_words_clear(&to->tasks);
	return r;
}

void job_words_clear(struct job_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		task_words_clear(&w->at[i].tasks);
	free(w->at);
}

error_t command_next_job(struct argp_state *state, const char *text,
			 struct job_words *to)
{
	struct error err;

	array_room(to->at, to->nr, &to->cap);
	return command_parsed(
		state, parse_job_word(text, &to->at[to->nr++], &err), &err);
}

error_t command_one_job(struct argp_state *state, const char *text,
			struct job_word *ret)
{
	struct error err;

	if (state->arg_num)
		command_misuse(state, "one job at a time");
	return command_parsed(state, parse_job_word(text, ret, &err), &err);
}

int client_one_job(struct client *c, const struct job_word *w,
		   Control__Message **ret, struct error *err)
{
	Control__ListJobs list = CONTROL__LIST_JOBS__INIT;
	int r;

	list.job = w->job;
	list.tasks = w->tasks.range;
	list.n_tasks = w->tasks.nr;
	r = client_ask(c, MESSAGE_BODY(LIST_JOBS), &list, MESSAGE_BODY(JOBS),
		       NULL, NULL, ret, err);
	if (r < 0 || (*ret)->jobs->n_jobs == 1)
		return r;
	r = error_set(err, -ESRCH,
		      "%" PRIu64 " is an array of jobs: say which task of it, "
		      "such as %" PRIu64 "[%u]",
		      w->job, w->job,
		      (*ret)->jobs->n_jobs ? (*ret)->jobs->jobs[0]->task : 0);
	message_free(*ret);
	return r;
}

const char *job_number(uint64_t job, uint64_t array, uint32_t task)
{
	static char text[40];

	if (array)
		snprintf(text, sizeof(text), "%" PRIu64 "[%u]", array, task);
	else
		snprintf(text, sizeof(text), "%" PRIu64, job);
	return text;
}
