/* jobs_file.c - see jobs_file.h */
#include "sim/report/jobs_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/workload/inflate.h"

enum column {
	COLUMN_ID,
	COLUMN_SUBMIT,
	COLUMN_START,
	COLUMN_END,
	COLUMN_PROCS,
	COLUMN_SIZE,
	COLUMN_RUN,
	COLUMN_OUTCOME,
	NR_COLUMNS,
};

static const char *const names[NR_COLUMNS] = {
	"id", "submit", "start", "end", "procs", "size", "run", "outcome",
};

enum { MAX_FIELDS = 64 };

struct reader {
	const char *path;
	size_t line;
	int at[NR_COLUMNS]; /* which field of a line it is */
	int nr_fields;
	char *field[MAX_FIELDS];
	struct sim_result result;
	struct error *err;
};

/* Cut a line at its commas; how many fields, or more than there is room for. */
static int split(struct reader *r, char *line)
{
	int n = 0;

	do {
		if (n == MAX_FIELDS)
			return n + 1;
		r->field[n++] = strsep(&line, ",");
	} while (line);
	return n;
}

static int read_head(struct reader *r, char *line)
{
	r->nr_fields = split(r, line);
	if (r->nr_fields > MAX_FIELDS)
		return error_set(r->err, -EINVAL, "%s:1: more than %d columns",
				 r->path, MAX_FIELDS);
	for (int c = 0; c < NR_COLUMNS; c++) {
		r->at[c] = -1;
		for (int i = 0; i < r->nr_fields; i++)
			if (!strcmp(r->field[i], names[c]))
				r->at[c] = i;
		if (r->at[c] < 0)
			return error_set(r->err, -EINVAL,
					 "%s:1: no column '%s'; is it what "
					 "`stint sim --out` writes?",
					 r->path, names[c]);
	}
	return 0;
}

static int bad_value(const struct reader *r, enum column c)
{
	return error_set(r->err, -EINVAL, "%s:%zu: %s is '%.30s'", r->path,
			 r->line, names[c], r->field[r->at[c]]);
}

/* Seconds; an empty field is -1, where that may be. */
static int get_time(const struct reader *r, enum column c, bool may_lack,
		    usec_t *ret)
{
	const char *text = r->field[r->at[c]];

	*ret = -1;
	if (may_lack && !*text)
		return 0;
	return parse_usec(text, ret, NULL) < 0 ? bad_value(r, c) : 0;
}

static int get_number(const struct reader *r, enum column c, int64_t min,
		      int64_t max, int64_t *ret)
{
	return parse_int(r->field[r->at[c]], min, max, "", ret, NULL) < 0
		       ? bad_value(r, c)
		       : 0;
}

static int get_outcome(const struct reader *r, uint8_t *ret)
{
	const char *text = r->field[r->at[COLUMN_OUTCOME]], *name;

	for (unsigned i = 0; (name = event_outcome_name(i)); i++)
		if (!strcmp(name, text)) {
			*ret = (uint8_t)i;
			return 0;
		}
	return bad_value(r, COLUMN_OUTCOME);
}

static int get_record(struct reader *r, struct sim_record *ret)
{
	int64_t procs, size;
	int rc = get_number(r, COLUMN_ID, INT64_MIN, INT64_MAX, &ret->id);

	if (!rc)
		rc = get_time(r, COLUMN_SUBMIT, false, &ret->submit);
	if (!rc)
		rc = get_time(r, COLUMN_START, true, &ret->start);
	if (!rc)
		rc = get_time(r, COLUMN_END, true, &ret->end);
	if (!rc)
		rc = get_time(r, COLUMN_RUN, false, &ret->run);
	if (!rc)
		rc = get_number(r, COLUMN_PROCS, 0, UINT32_MAX, &procs);
	if (!rc)
		rc = get_number(r, COLUMN_SIZE, 1, UINT32_MAX, &size);
	if (!rc)
		rc = get_outcome(r, &ret->outcome);
	if (rc)
		return rc;
	ret->procs = (uint32_t)procs;
	ret->size = (uint32_t)size;
	if (ret->start >= 0 && ret->start < ret->submit)
		return bad_value(r, COLUMN_START);
	if (ret->end >= 0 && ret->start >= 0 && ret->end < ret->start)
		return bad_value(r, COLUMN_END);
	return 0;
}

static void add_record(struct sim_result *s, const struct sim_record *record)
{
	if (!s->nr || record->submit < s->begin)
		s->begin = record->submit;
	if (record->end > s->end)
		s->end = record->end;
	if (record->start >= 0 && record->end >= 0)
		s->busy += record->procs *
			   usec_to_seconds(record->end - record->start);
	array_room(s->record, s->nr, &s->cap);
	s->record[s->nr++] = *record;
}

static int read_line(struct reader *r, char *line)
{
	struct sim_record record = { 0 };
	int n = split(r, line), rc;

	if (n != r->nr_fields)
		return error_set(r->err, -EINVAL,
				 "%s:%zu: %d fields, and the first line names "
				 "%d; is the file cut off?",
				 r->path, r->line, n, r->nr_fields);
	rc = get_record(r, &record);
	if (!rc)
		add_record(&r->result, &record);
	return rc;
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
		if (r->line == 1)
			rc = read_head(r, line);
		else if (*line)
			rc = read_line(r, line);
	}
	if (!rc && !r->result.nr)
		rc = error_set(r->err, -EINVAL, "%s: no job in it", r->path);
	return rc;
}

int jobs_file_read(const char *path, struct sim_result *ret, struct error *err)
{
	struct reader r = { .path = path, .err = err };
	char *text;
	size_t size;
	int rc = inflate_read(path, &text, &size, err);

	if (rc < 0)
		return rc;
	rc = read_text(&r, text);
	free(text);
	if (rc < 0)
		sim_result_clear(&r.result);
	else
		*ret = r.result;
	return rc;
}
