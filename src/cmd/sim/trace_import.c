/* trace_import.c - see trace_import.h */
#include "cmd/sim/trace_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/activity.h"
#include "sim/report/output.h"
#include "sim/workload/activity_import.h"
#include "sim/workload/inflate.h"
#include "sim/workload/sacct.h"

static int import_sacct(const struct trace_import *t, FILE *to,
			struct error *err)
{
	struct sacct_counts n;
	char *text;
	size_t size;
	int r = inflate_read(t->file[0], &text, &size, err);

	if (r < 0)
		return r;
	r = sacct_convert(text, size, t->file[0], t->procs, to, &n, err);
	free(text);
	if (!r && n.steps + n.never_ran + n.still_ran)
		fprintf(stderr,
			"%s: left out %zu steps of jobs, %zu jobs that never "
			"ran and %zu that still do\n",
			t->file[0], n.steps, n.never_ran, n.still_ran);
	return r;
}

/* It is freed. */
static void write_activity(const struct trace_import *t, struct activity *a,
			   FILE *to)
{
	activity_write(a, t->anonymous, to);
	fprintf(to, "# stint " STINT_VERSION " (imported), of %s\n", t->from);
	activity_clear(a);
}

static int import_fta(const struct trace_import *t, FILE *to, struct error *err)
{
	struct activity activity = ACTIVITY_INIT;
	int r = activity_import_fta(t->file[0], &activity, err);

	if (r < 0)
		return r;
	write_activity(t, &activity, to);
	return 0;
}

static int import_planetlab(const struct trace_import *t, FILE *to,
			    struct error *err)
{
	struct activity activity = ACTIVITY_INIT;
	usec_t every = t->every ? t->every : 300 * USEC_PER_SEC;
	int r = activity_import_samples(t->file, t->nr, every, &activity, err);

	if (r < 0)
		return r;
	write_activity(t, &activity, to);
	return 0;
}

/* Midnight of the Monday of that week, as this machine's clock has it; who records for longer
 * than clocks stay as they are is off by an hour. */
static usec_t week_of(usec_t at)
{
	time_t second = (time_t)(at / USEC_PER_SEC);
	struct tm tm = { 0 };

	localtime_r(&second, &tm);
	return (second - (tm.tm_wday + 6) % 7 * 86400 - tm.tm_hour * 3600 -
		tm.tm_min * 60 - tm.tm_sec) *
	       USEC_PER_SEC;
}

static int import_record(const struct trace_import *t, FILE *to,
			 struct error *err)
{
	struct activity activity = ACTIVITY_INIT;
	int r = activity_import_record(t->file[0], &activity, err);
	usec_t monday;

	if (r < 0)
		return r;
	monday = activity.nr ? week_of(activity.change[0].at) : 0;
	for (size_t i = 0; i < activity.nr; i++)
		activity.change[i].at -= monday;
	write_activity(t, &activity, to);
	return 0;
}

static const struct source {
	const char *name;
	int (*import)(const struct trace_import *t, FILE *to,
		      struct error *err);
} sources[] = {
	{ "sacct", import_sacct },
	{ "fta", import_fta },
	{ "planetlab", import_planetlab },
	{ "record", import_record },
};

static const struct source *find_source(const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	return NULL;
}

int trace_import_check(const struct trace_import *t, struct error *err)
{
	const struct source *s = t->from ? find_source(t->from) : NULL;

	if (!s)
		return error_set(err, -EINVAL,
				 "import: say what FILE is by --from sacct, "
				 "--from fta, --from planetlab or --from "
				 "record");
	if (!t->nr || !t->output)
		return error_set(err, -EINVAL,
				 "import: give FILE and --output FILE");
	if (t->nr > 1 && s->import != import_planetlab)
		return error_set(err, -EINVAL, "import --from %s: one FILE",
				 s->name);
	if (t->every && s->import != import_planetlab)
		return error_set(err, -EINVAL,
				 "--every is for import --from planetlab");
	if (t->procs && s->import != import_sacct)
		return error_set(err, -EINVAL,
				 "--procs is for import --from sacct");
	if (t->anonymous && s->import != import_record)
		return error_set(err, -EINVAL,
				 "--anonymous is for import --from record");
	return 0;
}

int trace_import(const struct trace_import *t, struct error *err)
{
	struct output *out;
	int r = output_open(t->output, &out, err);

	if (r < 0)
		return r;
	r = find_source(t->from)->import(t, output_stream(out), err);
	return output_end(&out, r, err);
}
