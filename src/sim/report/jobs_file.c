/* jobs_file.c - see jobs_file.h */
#include "sim/report/jobs_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "sim/workload/inflate.h"
#include "sim/workload/table.h"

enum column {
	COLUMN_ID,
	COLUMN_SUBMIT,
	COLUMN_START,
	COLUMN_END,
	COLUMN_PROCS,
	COLUMN_SIZE,
	COLUMN_RUN,
	COLUMN_OUTCOME,
	COLUMN_SEED,
};

static const struct table_format format = {
	.separator = ",",
	.if_lacking = "is it what `stint sim --out` writes?",
	.if_uneven = "is the file cut off?",
	.column = {
		[COLUMN_ID] = { "id", .needed = true },
		[COLUMN_SUBMIT] = { "submit", .needed = true },
		[COLUMN_START] = { "start", .needed = true },
		[COLUMN_END] = { "end", .needed = true },
		[COLUMN_PROCS] = { "procs", .needed = true },
		[COLUMN_SIZE] = { "size", .needed = true },
		[COLUMN_RUN] = { "run", .needed = true },
		[COLUMN_OUTCOME] = { "outcome", .needed = true },
		[COLUMN_SEED] = { "seed" },
	},
};

/* Seconds; an empty field is -1, where that may be. */
static int get_time(const struct table *t, enum column c, bool may_lack,
		    usec_t *ret)
{
	const char *text = table_text(t, c);

	*ret = -1;
	if (may_lack && !*text)
		return 0;
	return parse_usec(text, ret, NULL) < 0 ? table_bad_value(t, c) : 0;
}

static int get_number(const struct table *t, enum column c, int64_t min,
		      int64_t max, int64_t *ret)
{
	return parse_int(table_text(t, c), min, max, "", ret, NULL) < 0
		       ? table_bad_value(t, c)
		       : 0;
}

static int get_outcome(const struct table *t, uint8_t *ret)
{
	const char *text = table_text(t, COLUMN_OUTCOME), *name;

	for (unsigned i = 0; (name = event_outcome_name(i)); i++)
		if (!strcmp(name, text)) {
			*ret = (uint8_t)i;
			return 0;
		}
	return table_bad_value(t, COLUMN_OUTCOME);
}

static int get_record(const struct table *t, struct sim_record *ret)
{
	int64_t procs, size;
	int rc = get_number(t, COLUMN_ID, INT64_MIN, INT64_MAX, &ret->id);

	if (!rc)
		rc = get_time(t, COLUMN_SUBMIT, false, &ret->submit);
	if (!rc)
		rc = get_time(t, COLUMN_START, true, &ret->start);
	if (!rc)
		rc = get_time(t, COLUMN_END, true, &ret->end);
	if (!rc)
		rc = get_time(t, COLUMN_RUN, false, &ret->run);
	if (!rc)
		rc = get_number(t, COLUMN_PROCS, 0, UINT32_MAX, &procs);
	if (!rc)
		rc = get_number(t, COLUMN_SIZE, 1, UINT32_MAX, &size);
	if (!rc)
		rc = get_outcome(t, &ret->outcome);
	if (rc)
		return rc;
	ret->procs = (uint32_t)procs;
	ret->size = (uint32_t)size;
	if (ret->start >= 0 && ret->start < ret->submit)
		return table_bad_value(t, COLUMN_START);
	if (ret->end >= 0 && ret->start >= 0 && ret->end < ret->start)
		return table_bad_value(t, COLUMN_END);
	return 0;
}

/* What each line says alike; older files say nothing. */
static int get_seed(const struct table *t, int64_t *ret)
{
	if (!*table_text(t, COLUMN_SEED))
		return 0;
	return get_number(t, COLUMN_SEED, 0, INT64_MAX, ret);
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

static int read_jobs(struct table *t, struct sim_result *ret)
{
	int r = table_head(t);

	while (!r && table_next(t)) {
		struct sim_record record = { 0 };

		r = get_record(t, &record);
		if (!r)
			r = get_seed(t, &ret->seed);
		if (!r)
			add_record(ret, &record);
	}
	if (!r)
		r = t->result;
	if (!r && !ret->nr)
		r = error_set(t->err, -EINVAL, "%s: no job in it", t->name);
	return r;
}

int jobs_file_read(const char *path, struct sim_result *ret, struct error *err)
{
	struct sim_result result = { .seed = -1 };
	struct table t = { .format = &format, .name = path, .err = err };
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	t.text = text;
	r = io_check_text(text, size, path, err);
	if (!r)
		r = read_jobs(&t, &result);
	free(text);
	if (r < 0)
		sim_result_clear(&result);
	else
		*ret = result;
	return r;
}
