/* tasks.c - the numbers of an array's tasks, see tasks.h */
#include "cmd/client/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/xalloc.h"

static int refuse_word(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' are no tasks: write 1-100, 0-90:10 or 1,3,5-7, "
			 "%d tasks at most",
			 text, TASKS_MOST);
}

/* A number, up to where `until` has a character. */
static int take_number(const char **at, const char *until, uint32_t *ret)
{
	size_t n = strcspn(*at, until);
	char *word = xasprintf("%.*s", (int)n, *at);
	int64_t v = 0;
	int r = parse_int(word, 0, TASK_LAST, "task", &v, NULL);

	free(word);
	*ret = v;
	*at += n;
	return r;
}

static int take_range(const char **at, struct task_range *r)
{
	int k = take_number(at, "-:,", &r->first);

	r->last = r->first;
	r->step = 1;
	if (!k && **at == '-') {
		++*at;
		k = take_number(at, ":,", &r->last);
		if (!k && **at == ':') {
			++*at;
			k = take_number(at, ",", &r->step);
		}
	}
	if (!k && (r->last < r->first || !r->step ||
		   (r->last - r->first) / r->step >= TASKS_MOST))
		k = -EINVAL;
	return k;
}

int tasks_parse(const char *text,
		void (*each)(void *ctx, const struct task_range *r), void *ctx,
		struct error *err)
{
	const char *at = text;
	struct task_range r;

	for (;;) {
		if (take_range(&at, &r) < 0 || (*at && *at != ','))
			return refuse_word(text, err);
		each(ctx, &r);
		if (!*at++)
			return 0;
	}
}

struct list {
	uint32_t *at;
	size_t nr, cap;
};

static void add_numbers(void *ctx, const struct task_range *r)
{
	struct list *l = ctx;

	for (uint64_t i = r->first; i <= r->last && l->nr <= TASKS_MOST;
	     i += r->step) {
		array_room(l->at, l->nr, &l->cap);
		l->at[l->nr++] = i;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check_list(const struct list *l, struct error *err)
{
	if (l->nr > TASKS_MOST)
		return error_set(err, -EINVAL, "more than %d tasks",
				 TASKS_MOST);
	for (size_t i = 1; i < l->nr; i++)
		if (l->at[i] == l->at[i - 1])
			return error_set(err, -EINVAL, "task %u stands twice",
					 l->at[i]);
	return 0;
}

static int parse_at_once(const char *text, uint32_t *ret, struct error *err)
{
	int64_t v = 0;
	int r = parse_int(text, 1, TASKS_MOST, "how many at a time", &v, err);

	*ret = v;
	return r;
}

int tasks_of_array(const char *text, uint32_t **ret, size_t *n,
		   uint32_t *at_once, struct error *err)
{
	const char *percent = strchr(text, '%');
	char *words = xasprintf(
		"%.*s", (int)(percent ? percent - text : (long)strlen(text)),
		text);
	struct list l = { .at = NULL };
	int r = tasks_parse(words, add_numbers, &l, err);

	free(words);
	if (l.nr)
		qsort(l.at, l.nr, sizeof(*l.at), by_number);
	if (!r)
		r = check_list(&l, err);
	*at_once = 0;
	if (!r && percent)
		r = parse_at_once(percent + 1, at_once, err);
	if (r < 0) {
		free(l.at);
		return error_prefix(err, -EINVAL, "--array");
	}
	*ret = l.at;
	*n = l.nr;
	return 0;
}
