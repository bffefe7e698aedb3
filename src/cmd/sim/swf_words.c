/* swf_words.c - see swf_words.h */
#include "cmd/sim/swf_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int swf_words_extra(const char *text, enum swf_extra *ret, struct error *err)
{
	if (strcmp(text, "refuse") && strcmp(text, "ignore"))
		return error_set(err, -EINVAL,
				 "--extra-columns: '%s' is neither refuse nor "
				 "ignore",
				 text);
	*ret = strcmp(text, "ignore") ? SWF_EXTRA_REFUSE : SWF_EXTRA_IGNORE;
	return 0;
}

static size_t nr_links(const struct swf_trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr; i++)
		n += t->link[i].after != 0;
	return n;
}

/* Jobs that come after others, and those that only say so. */
static void tell_links(const char *path, const struct swf_trace *t)
{
	size_t lost =
		t->no_other + t->other_later + t->other_self + t->no_think;

	if (!t->link)
		fprintf(stderr,
			"%s: %zu jobs say which job they come after (fields 17 "
			"and 18); they come when they did, all the same "
			"(--follow)\n",
			path, t->follow);
	else if (lost)
		fprintf(stderr,
			"%s: %zu of %zu jobs that come after another come when "
			"they did: that one is not there (%zu), comes later "
			"(%zu) or is the job itself (%zu), or the think time "
			"is not known (%zu)\n",
			path, lost, lost + nr_links(t), t->no_other,
			t->other_later, t->other_self, t->no_think);
}

void swf_words_dropped(const char *path, const struct swf_trace *t)
{
	size_t dropped = t->no_run + t->no_size + t->too_large + t->cancelled;

	if (dropped)
		fprintf(stderr,
			"%s: left out %zu jobs (%zu without a run time, %zu "
			"without a size, %zu larger than %" PRIu32
			" processors, %zu cancelled)\n",
			path, dropped, t->no_run, t->no_size, t->too_large,
			t->procs, t->cancelled);
}

void swf_words_changed(const char *path, const struct swf_trace *t)
{
	int64_t id;
	size_t same = swf_same_ids(t, &id);

	if (t->raised)
		fprintf(stderr,
			"%s: %zu estimates below the run time raised to it\n",
			path, t->raised);
	if (t->unsorted)
		fprintf(stderr, "%s: sorted by submit time\n", path);
	if (t->follow)
		tell_links(path, t);
	if (same)
		fprintf(stderr,
			"%s: %zu jobs have the number of another (the first is "
			"%" PRId64 "): results and events cannot tell them "
			"apart\n",
			path, same, id);
}
