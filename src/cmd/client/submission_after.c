/* submission_after.c - the jobs that a job is to begin after, see submission.h */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/submission.h"
#include "core/xalloc.h"

static const char *const kinds[] = {
	[CONTROL__AFTER_KIND__AFTER_OK] = "ok",
	[CONTROL__AFTER_KIND__AFTER_ANY] = "any",
	[CONTROL__AFTER_KIND__AFTER_FAILED] = "failed",
};

enum {
	KINDS = sizeof(kinds) / sizeof(*kinds),
	AT_END_LONGEST = 4096,
	AFTER_MOST = 1000, /* far more than a controller takes */
};

const char *after_kind(int kind)
{
	return kind >= 0 && kind < KINDS ? kinds[kind] : "unknown";
}

static int wrong(const char *word, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--after: '%s' is not [KIND:]JOB[:JOB...]: JOB is a "
			 "number, or an array's with tasks, such as 12[3], "
			 "KIND ok, any or failed",
			 word);
}

static bool is_there(const Control__Submit *s, const Control__After *a)
{
	for (size_t i = 0; i < s->n_after; i++)
		if (s->after[i]->job == a->job &&
		    s->after[i]->array == a->array &&
		    s->after[i]->task == a->task)
			return true;
	return false;
}

static int add_one(struct submission *sub, const Control__After *a,
		   const char *word, struct error *err)
{
	Control__Submit *s = &sub->ask;

	if (is_there(s, a))
		return error_set(err, -EINVAL, "--after: job %s is there twice",
				 word);
	if (s->n_after == AFTER_MOST)
		return error_set(err, -EINVAL, "--after: more than %d jobs",
				 AFTER_MOST);
	array_room(s->after, s->n_after, &sub->cap_after);
	s->after[s->n_after] = xmalloc(sizeof(*a));
	*s->after[s->n_after++] = *a;
	return 0;
}

/* "JOB", or "ARRAY[TASKS]": each of these is one. */
static int add_after(struct submission *sub, const char *word, int kind,
		     struct error *err)
{
	Control__After a = CONTROL__AFTER__INIT;
	struct job_word job;
	int r = 0;

	if (parse_job_word(word, &job, err) < 0)
		return wrong(word, err);
	a.kind = (Control__AfterKind)kind;
	if (job.tasks.nr)
		a.array = job.job;
	else
		a.job = job.job;
	for (size_t i = 0; i < job.tasks.nr && !r; i++) {
		const Control__TaskRange *t = job.tasks.range[i];

		for (a.task = t->first; a.task <= t->last && !r; a.task++)
			r = add_one(sub, &a, word, err);
	}
	if (!job.tasks.nr)
		r = add_one(sub, &a, word, err);
	task_words_clear(&job.tasks);
	return r;
}

/* As strsep(), but what is in brackets is one. */
static char *next_word(char **rest, char end)
{
	char *word = *rest, *c = word;

	if (!word)
		return NULL;
	for (bool in = false; *c && (in || *c != end); c++)
		in = *c == '[' || (in && *c != ']');
	*rest = *c ? c + 1 : NULL;
	*c = 0;
	return word;
}

/* "[KIND:]JOB[:JOB...]", which is changed. */
static int add_group(struct submission *sub, char *group, struct error *err)
{
	int kind = CONTROL__AFTER_KIND__AFTER_OK, r = 0;
	char *word;

	if (isalpha((unsigned char)*group)) {
		word = next_word(&group, ':');
		for (kind = 0; kind < KINDS && strcmp(word, kinds[kind]);)
			kind++;
		if (kind == KINDS || !group)
			return wrong(word, err);
	}
	while (!r && (word = next_word(&group, ':')))
		r = add_after(sub, word, kind, err);
	return r;
}

int submission_after(struct submission *sub, const char *arg, struct error *err)
{
	char *copy = xstrdup(arg), *rest = copy, *group;
	int r = 0;

	while (!r && (group = next_word(&rest, ',')))
		r = add_group(sub, group, err);
	free(copy);
	return r;
}

int submission_at_end(struct submission *sub, const char *arg,
		      struct error *err)
{
	if (!*arg || strlen(arg) > AT_END_LONGEST)
		return error_set(err, -EINVAL,
				 "--at-end: a command has 1 to %d bytes",
				 AT_END_LONGEST);
	sub->ask.at_end = (char *)arg;
	return 0;
}
