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

enum { KINDS = sizeof(kinds) / sizeof(*kinds), AT_END_LONGEST = 4096 };

const char *after_kind(int kind)
{
	return kind >= 0 && kind < KINDS ? kinds[kind] : "unknown";
}

static int wrong(const char *word, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--after: '%s' is not [KIND:]JOB[:JOB...]: JOB is a "
			 "number, KIND ok, any or failed",
			 word);
}

static int add_after(struct submission *sub, const char *job, int kind,
		     struct error *err)
{
	Control__Submit *s = &sub->ask;
	Control__After *a;
	uint64_t id;

	if (parse_job(job, &id, err) < 0)
		return wrong(job, err);
	for (size_t i = 0; i < s->n_after; i++)
		if (s->after[i]->job == id)
			return error_set(err, -EINVAL,
					 "--after: job %s is there twice", job);
	a = xmalloc(sizeof(*a));
	control__after__init(a);
	a->job = id;
	a->kind = (Control__AfterKind)kind;
	array_room(s->after, s->n_after, &sub->cap_after);
	s->after[s->n_after++] = a;
	return 0;
}

/* "[KIND:]JOB[:JOB...]", which is changed. */
static int add_group(struct submission *sub, char *group, struct error *err)
{
	int kind = CONTROL__AFTER_KIND__AFTER_OK, r = 0;
	char *word;

	if (isalpha((unsigned char)*group)) {
		word = strsep(&group, ":");
		for (kind = 0; kind < KINDS && strcmp(word, kinds[kind]);)
			kind++;
		if (kind == KINDS || !group)
			return wrong(word, err);
	}
	while (!r && (word = strsep(&group, ":")))
		r = add_after(sub, word, kind, err);
	return r;
}

int submission_after(struct submission *sub, const char *arg, struct error *err)
{
	char *copy = xstrdup(arg), *rest = copy, *group;
	int r = 0;

	while (!r && (group = strsep(&rest, ",")))
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
