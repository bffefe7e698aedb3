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

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "sim/workload/table.h"

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

enum { FIRST_NAME = COLUMN_USER };

static const struct table_format format = {
	.separator = "|",
	.if_lacking = "ask for it by "
		      "sacct -P -o JobIDRaw,Submit,Start,End,AllocCPUS,...",
	.if_uneven = "if a job's name has a '|' in it, leave out JobName",
	.column = {
		[COLUMN_ID] = { "JobIDRaw", "JobID", true },
		[COLUMN_SUBMIT] = { "Submit", NULL, true },
		[COLUMN_START] = { "Start", NULL, true },
		[COLUMN_END] = { "End", NULL, true },
		[COLUMN_PROCS] = { "AllocCPUS", "NCPUS", true },
		[COLUMN_WANTED] = { "ReqCPUS" },
		[COLUMN_MINUTES] = { "TimelimitRaw" },
		[COLUMN_LIMIT] = { "Timelimit" },
		[COLUMN_STATE] = { "State" },
		[COLUMN_USER] = { "User" },
		[COLUMN_GROUP] = { "Group", "Account" },
		[COLUMN_APP] = { "JobName" },
		[COLUMN_QUEUE] = { "QOS" },
		[COLUMN_PARTITION] = { "Partition" },
	},
};

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
	struct table table;
	void *words; /* a tree of struct word */
	int32_t nr_words[NR_COLUMNS];
	struct job *job;
	size_t cap;
	struct sacct_counts counts;
};

/* "None", "Unknown", "INVALID", "" and the like. */
static bool is_unknown(const char *text)
{
	return !isdigit((unsigned char)*text);
}

static int get_time(const struct table *t, enum column c, int64_t *ret)
{
	const char *text = table_text(t, c), *end;
	struct tm tm = { 0 };

	*ret = -1;
	if (is_unknown(text))
		return 0;
	if (!parse_int(text, 0, INT64_C(1) << 40, "", ret, NULL))
		return 0;
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end)
		return table_bad_value(t, c);
	*ret = timegm(&tm);
	return 0;
}

static int get_number(const struct table *t, enum column c, int64_t *ret)
{
	const char *text = table_text(t, c);

	*ret = -1;
	if (is_unknown(text) &&
	    !(*text == '-' && isdigit((unsigned char)text[1])))
		return 0;
	return parse_int(text, 0, INT32_MAX, "", ret, NULL)
		       ? table_bad_value(t, c)
		       : 0;
}

/* "[days-]hours:minutes:seconds", or fewer of them as sacct writes it. */
static int get_limit(const struct table *t, int64_t *ret)
{
	const char *text = table_text(t, COLUMN_LIMIT);
	long days = 0, part[3] = { 0 };
	int used = 0, n;

	*ret = -1;
	if (is_unknown(text)) /* UNLIMITED, Partition_Limit */
		return 0;
	if (strchr(text, '-')) {
		n = sscanf(text, "%9ld-%9ld:%9ld:%9ld%n", &days, &part[0],
			   &part[1], &part[2], &used);
		n -= 1;
	} else {
		n = sscanf(text, "%9ld:%9ld:%9ld%n", &part[0], &part[1],
			   &part[2], &used);
	}
	if (n != 3 || text[used] || part[0] < 0 || part[1] < 0 || part[2] < 0)
		return table_bad_value(t, COLUMN_LIMIT);
	*ret = ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2];
	return 0;
}

static int get_wanted_time(const struct table *t, int64_t *ret)
{
	int rc = get_number(t, COLUMN_MINUTES, ret);

	if (!rc && *ret >= 0)
		*ret *= 60;
	else if (!rc)
		rc = get_limit(t, ret);
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
	struct word key = { .column = c, .text = table_text(&r->table, c) },
		    *word, **at;

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
static int status_of(const struct table *t)
{
	const char *state = table_text(t, COLUMN_STATE);

	if (!*state || !strncmp(state, "COMPLETED", strlen("COMPLETED")))
		return 1;
	return strncmp(state, "CANCELLED", strlen("CANCELLED")) ? 0 : 5;
}

static int get_id(const struct table *t, int64_t *ret)
{
	if (!parse_int(table_text(t, COLUMN_ID), 0, INT64_MAX, "", ret, NULL))
		return 0;
	return error_set(t->err, -EINVAL,
			 "%s:%zu: the job's number is '%.40s'; of arrays and "
			 "the like ask sacct for JobIDRaw",
			 t->name, t->line, table_text(t, COLUMN_ID));
}

static int get_job(const struct table *t, struct job *ret)
{
	int rc = get_id(t, &ret->id);

	if (!rc)
		rc = get_time(t, COLUMN_SUBMIT, &ret->submit);
	if (!rc && ret->submit < 0)
		rc = table_bad_value(t, COLUMN_SUBMIT);
	if (!rc)
		rc = get_time(t, COLUMN_START, &ret->start);
	if (!rc)
		rc = get_time(t, COLUMN_END, &ret->end);
	if (!rc)
		rc = get_number(t, COLUMN_PROCS, &ret->procs);
	if (!rc)
		rc = get_number(t, COLUMN_WANTED, &ret->wanted);
	if (!rc)
		rc = get_wanted_time(t, &ret->limit);
	if (!rc && ret->start >= 0 && ret->start < ret->submit)
		rc = table_bad_value(t, COLUMN_START);
	if (!rc && ret->start >= 0 && ret->end >= 0 && ret->end < ret->start)
		rc = table_bad_value(t, COLUMN_END);
	return rc;
}

static int read_job(struct reader *r)
{
	struct job job = { .line = r->table.line };
	int rc;

	if (strchr(table_text(&r->table, COLUMN_ID), '.')) {
		r->counts.steps++;
		return 0;
	}
	rc = get_job(&r->table, &job);
	if (rc)
		return rc;
	if (job.start < 0 || job.end < 0) {
		++*(job.start < 0 ? &r->counts.never_ran
				  : &r->counts.still_ran);
		return 0;
	}
	for (int c = FIRST_NAME; c < NR_COLUMNS; c++)
		job.number[c - FIRST_NAME] = number_of(r, c);
	job.status = status_of(&r->table);
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

static int read_jobs(struct reader *r)
{
	struct table *t = &r->table;
	int rc = table_head(t);

	while (!rc && table_next(t))
		rc = read_job(r);
	if (!rc)
		rc = t->result;
	if (!rc && !r->counts.jobs)
		rc = error_set(t->err, -EINVAL,
			       "%s: no job in it that ran and ended", t->name);
	return rc;
}

int sacct_convert(char *text, size_t size, const char *name, uint32_t procs,
		  FILE *to, struct sacct_counts *ret, struct error *err)
{
	struct reader r = { .table = { &format, name, text, err } };
	int rc = io_check_text(text, size, name, err);

	if (rc < 0)
		return rc;
	rc = read_jobs(&r);
	if (!rc) {
		qsort(r.job, r.counts.jobs, sizeof(*r.job), by_submit);
		write_jobs(&r, procs, to);
		*ret = r.counts;
	}
	tdestroy(r.words, free);
	free(r.job);
	return rc;
}
