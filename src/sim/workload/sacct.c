/* sacct.c - see sacct.h */
#include "sim/workload/sacct.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "core/xalloc.h"

enum column {
	COLUMN_ID,
	COLUMN_SUBMIT,
	COLUMN_START,
	COLUMN_END,
	COLUMN_PROCS,
	COLUMN_WANTED,
	COLUMN_MINUTES,
	COLUMN_LIMIT,
	COLUMN_STATE,
	COLUMN_USER,
	COLUMN_GROUP,
	COLUMN_APP,
	COLUMN_QUEUE,
	COLUMN_PARTITION,
	NR_COLUMNS,
};

enum { FIRST_NAME = COLUMN_USER, NR_NEEDED = COLUMN_WANTED };

/* How sacct calls it, or else. */
static const char *const names[NR_COLUMNS][2] = {
	[COLUMN_ID] = { "JobIDRaw", "JobID" },
	[COLUMN_SUBMIT] = { "Submit", NULL },
	[COLUMN_START] = { "Start", NULL },
	[COLUMN_END] = { "End", NULL },
	[COLUMN_PROCS] = { "AllocCPUS", "NCPUS" },
	[COLUMN_WANTED] = { "ReqCPUS", NULL },
	[COLUMN_MINUTES] = { "TimelimitRaw", NULL },
	[COLUMN_LIMIT] = { "Timelimit", NULL },
	[COLUMN_STATE] = { "State", NULL },
	[COLUMN_USER] = { "User", NULL },
	[COLUMN_GROUP] = { "Group", "Account" },
	[COLUMN_APP] = { "JobName", NULL },
	[COLUMN_QUEUE] = { "QOS", NULL },
	[COLUMN_PARTITION] = { "Partition", NULL },
};

enum { MAX_FIELDS = 256 };

struct job {
	int64_t id, submit, start, end;		 /* seconds */
	int64_t procs, wanted, limit;		 /* -1: not known */
	int32_t number[NR_COLUMNS - FIRST_NAME]; /* of names */
	int status;
	size_t line;
};

/* A name of one column, and its number. */
struct word {
	int column;
	int32_t number;
	const char *text; /* in the text that is read */
};

struct reader {
	const char *name;
	size_t line;
	int at[NR_COLUMNS]; /* which field it is; -1: none */
	int nr_fields;
	char *field[MAX_FIELDS];
	void *words; /* a tree of struct word */
	int32_t nr_words[NR_COLUMNS];
	struct job *job;
	size_t cap;
	struct sacct_counts counts;
	struct error *err;
};

static int split(struct reader *r, char *line)
{
	int n = 0;

	do {
		if (n == MAX_FIELDS)
			return n + 1;
		r->field[n++] = strsep(&line, "|");
	} while (line);
	return n;
}

static int find_column(const struct reader *r, const char *name)
{
	for (int i = 0; name && i < r->nr_fields; i++)
		if (!strcasecmp(r->field[i], name))
			return i;
	return -1;
}

static int read_head(struct reader *r, char *line)
{
	r->nr_fields = split(r, line);
	if (r->nr_fields > MAX_FIELDS)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: more than %d columns", r->name,
				 r->line, MAX_FIELDS);
	for (int c = 0; c < NR_COLUMNS; c++) {
		r->at[c] = find_column(r, names[c][0]);
		if (r->at[c] < 0)
			r->at[c] = find_column(r, names[c][1]);
		if (c < NR_NEEDED && r->at[c] < 0)
			return error_set(
				r->err, -EINVAL,
				"%s:%zu: no column '%s'; ask for it by "
				"sacct -P -o JobIDRaw,Submit,Start,End,"
				"AllocCPUS,...",
				r->name, r->line, names[c][0]);
	}
	return 0;
}

static const char *text_of(const struct reader *r, enum column c)
{
	return r->at[c] < 0 ? "" : r->field[r->at[c]];
}

static int bad_value(const struct reader *r, enum column c)
{
	return error_set(r->err, -EINVAL, "%s:%zu: %s is '%.40s'", r->name,
			 r->line, names[c][0], text_of(r, c));
}

/* "None", "Unknown", "INVALID", "" and the like. */
static bool is_unknown(const char *text)
{
	return !isdigit((unsigned char)*text);
}

static int get_time(const struct reader *r, enum column c, int64_t *ret)
{
	const char *text = text_of(r, c), *end;
	struct tm tm = { 0 };

	*ret = -1;
	if (is_unknown(text))
		return 0;
	if (!parse_int(text, 0, INT64_C(1) << 40, "", ret, NULL))
		return 0;
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end)
		return bad_value(r, c);
	*ret = timegm(&tm);
	return 0;
}

static int get_number(const struct reader *r, enum column c, int64_t *ret)
{
	const char *text = text_of(r, c);

	*ret = -1;
	if (is_unknown(text))
		return 0;
	return parse_int(text, 0, INT32_MAX, "", ret, NULL) ? bad_value(r, c)
							    : 0;
}

/* "[days-]hours:minutes:seconds", or fewer of them as sacct writes it. */
static int get_limit(const struct reader *r, int64_t *ret)
{
	const char *text = text_of(r, COLUMN_LIMIT);
	long days = 0, part[3] = { 0 };
	int used = 0, n;

	*ret = -1;
	if (is_unknown(text)) /* UNLIMITED, Partition_Limit */
		return 0;
	if (strchr(text, '-')) {
		n = sscanf(text, "%ld-%ld:%ld:%ld%n", &days, &part[0], &part[1],
			   &part[2], &used);
		n -= 1;
	} else {
		n = sscanf(text, "%ld:%ld:%ld%n", &part[0], &part[1], &part[2],
			   &used);
	}
	if (n != 3 || text[used])
		return bad_value(r, COLUMN_LIMIT);
	*ret = ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2];
	return 0;
}

static int get_wanted_time(const struct reader *r, int64_t *ret)
{
	int rc = get_number(r, COLUMN_MINUTES, ret);

	if (!rc && *ret >= 0)
		*ret *= 60;
	else if (!rc)
		rc = get_limit(r, ret);
	return rc;
}

static int compare_words(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return x->column != y->column ? x->column - y->column
				      : strcmp(x->text, y->text);
}

/* A name's number: from 1 on, column by column; -1: there is no name. */
static int32_t number_of(struct reader *r, int c)
{
	struct word key = { .column = c, .text = text_of(r, c) }, *word, **at;

	if (!*key.text)
		return -1;
	at = tfind(&key, &r->words, compare_words);
	if (at)
		return (*at)->number;
	word = xmalloc(sizeof(*word));
	*word = key;
	word->number = ++r->nr_words[c];
	if (!tsearch(word, &r->words, compare_words))
		abort(); /* out of memory */
	return word->number;
}

/* As the format has it: 1 completed, 5 cancelled, 0 anything else. */
static int status_of(const struct reader *r)
{
	const char *state = text_of(r, COLUMN_STATE);

	if (!*state || !strncmp(state, "COMPLETED", strlen("COMPLETED")))
		return 1;
	return strncmp(state, "CANCELLED", strlen("CANCELLED")) ? 0 : 5;
}

static int get_id(const struct reader *r, int64_t *ret)
{
	if (!parse_int(text_of(r, COLUMN_ID), 0, INT64_MAX, "", ret, NULL))
		return 0;
	return error_set(r->err, -EINVAL,
			 "%s:%zu: the job's number is '%.40s'; of arrays and "
			 "the like ask sacct for JobIDRaw",
			 r->name, r->line, text_of(r, COLUMN_ID));
}

static int get_job(struct reader *r, struct job *ret)
{
	int rc = get_id(r, &ret->id);

	if (!rc)
		rc = get_time(r, COLUMN_SUBMIT, &ret->submit);
	if (!rc && ret->submit < 0)
		rc = bad_value(r, COLUMN_SUBMIT);
	if (!rc)
		rc = get_time(r, COLUMN_START, &ret->start);
	if (!rc)
		rc = get_time(r, COLUMN_END, &ret->end);
	if (!rc)
		rc = get_number(r, COLUMN_PROCS, &ret->procs);
	if (!rc)
		rc = get_number(r, COLUMN_WANTED, &ret->wanted);
	if (!rc)
		rc = get_wanted_time(r, &ret->limit);
	if (!rc && ret->start >= 0 && ret->start < ret->submit)
		rc = bad_value(r, COLUMN_START);
	if (!rc && ret->start >= 0 && ret->end >= 0 && ret->end < ret->start)
		rc = bad_value(r, COLUMN_END);
	return rc;
}

static int read_job(struct reader *r, char *line)
{
	struct job job = { .line = r->line };
	int n = split(r, line), rc;

	if (n != r->nr_fields)
		return error_set(
			r->err, -EINVAL,
			"%s:%zu: %d fields, and the first line names "
			"%d; if a job's name has a '|' in it, leave out "
			"JobName",
			r->name, r->line, n, r->nr_fields);
	if (strchr(text_of(r, COLUMN_ID), '.')) {
		r->counts.steps++;
		return 0;
	}
	rc = get_job(r, &job);
	if (rc)
		return rc;
	if (job.start < 0 || job.end < 0) {
		++*(job.start < 0 ? &r->counts.never_ran
				  : &r->counts.still_ran);
		return 0;
	}
	for (int c = FIRST_NAME; c < NR_COLUMNS; c++)
		job.number[c - FIRST_NAME] = number_of(r, c);
	job.status = status_of(r);
	array_room(r->job, r->counts.jobs, &r->cap);
	r->job[r->counts.jobs++] = job;
	return 0;
}

static int by_submit(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void write_jobs(const struct reader *r, uint32_t procs, FILE *to)
{
	int64_t first = r->job[0].submit;

	fprintf(to,
		"; Version: 2.2\n; Computer: imported from Slurm's sacct by "
		"stint " STINT_VERSION "\n; UnixStartTime: %" PRId64 "\n",
		first);
	if (procs)
		fprintf(to,
			"; MaxNodes: %" PRIu32 "\n; MaxProcs: %" PRIu32 "\n",
			procs, procs);
	for (size_t i = 0; i < r->counts.jobs; i++) {
		const struct job *j = &r->job[i];

		fprintf(to,
			"%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
			" %" PRId64 " -1 -1 %" PRId64 " %" PRId64 " -1 %d",
			j->id, j->submit - first, j->start - j->submit,
			j->end - j->start, j->procs, j->wanted, j->limit,
			j->status);
		for (int c = 0; c < NR_COLUMNS - FIRST_NAME; c++)
			fprintf(to, " %" PRId32, j->number[c]);
		fputs(" -1 -1\n", to);
	}
}

static int read_text(struct reader *r, char *text)
{
	char *line;
	int rc = 0;

	while (!rc && (line = strsep(&text, "\n"))) {
		size_t n = strlen(line);

		r->line++;
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		if (*line)
			rc = r->nr_fields ? read_job(r, line)
					  : read_head(r, line);
	}
	if (!rc && !r->counts.jobs)
		rc = error_set(r->err, -EINVAL,
			       "%s: no job in it that ran and ended", r->name);
	return rc;
}

int sacct_convert(char *text, size_t size, const char *name, uint32_t procs,
		  FILE *to, struct sacct_counts *ret, struct error *err)
{
	struct reader r = { .name = name, .err = err };
	int rc;

	if (strlen(text) != size)
		return error_set(err, -EINVAL,
				 "%s: this is not a text file: there is a NUL "
				 "in it",
				 name);
	rc = read_text(&r, text);
	if (!rc) {
		qsort(r.job, r.counts.jobs, sizeof(*r.job), by_submit);
		write_jobs(&r, procs, to);
		*ret = r.counts;
	}
	tdestroy(r.words, free);
	free(r.job);
	return rc;
}
