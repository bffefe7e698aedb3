/* store_lines.c - the lines of the record in the store, see sched/record.c */
#include <stdlib.h>

#include "cluster/controller/state/store_priv.h"
#include "core/xalloc.h"

enum statement {
	PUT_LINE,
	PUT_LINES,
	TRIM_LINES,
	CLEAR_LINES,
	LINES,
	EACH_LINE,
	EACH_LINE_OF,
	NR_STATEMENTS
};

#define ROW_4 "(?,?,?,?),(?,?,?,?),(?,?,?,?),(?,?,?,?)"

static const char *const sql[NR_STATEMENTS] = {
	[PUT_LINE] = "INSERT INTO record (at, job, begin, line) "
		     "VALUES (?,?,?,?)",
	/* STORE_HELD of them */
	[PUT_LINES] = "INSERT INTO record (at, job, begin, line) "
		      "VALUES " ROW_4 "," ROW_4 "," ROW_4 "," ROW_4,
	[TRIM_LINES] =
		"DELETE FROM record WHERE seq < (SELECT max(seq) FROM record "
		"WHERE begin AND seq <= (SELECT max(seq) FROM record) - ?)",
	[CLEAR_LINES] = "DELETE FROM record",
	[LINES] = "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM record",
	[EACH_LINE] = "SELECT seq, at, job, begin, line FROM record "
		      "WHERE seq >= ? ORDER BY seq",
	[EACH_LINE_OF] = "SELECT seq, at, job, begin, line FROM record "
			 "WHERE seq >= ? AND job = ? ORDER BY seq",
};

int store_lines_open(struct store *s)
{
	return store_prepare(s, sql, NR_STATEMENTS, &s->lines);
}

void store_lines_close(struct store *s)
{
	store_finalize(s->lines, NR_STATEMENTS);
}

/* ---- writing ---- */

static void add_held(struct store *s, struct held_line *line)
{
	store_int(s, line->at);
	store_int(s, (sqlite3_int64)line->job);
	store_int(s, line->begin);
	store_text(s, line->text);
	free(line->text);
}

void store_lines_flush(struct store *s)
{
	struct store_held *h = &s->held;
	bool all = h->nr == STORE_HELD;

	for (int i = 0; i < h->nr; i++) {
		if (!i || !all)
			store_put(s, s->lines[all ? PUT_LINES : PUT_LINE]);
		add_held(s, &h->line[i]);
		if (i == h->nr - 1 || !all)
			store_put_end(s);
	}
	h->nr = 0;
}

void store_put_line(struct store *s, const struct store_line *line)
{
	s->held.line[s->held.nr++] =
		(struct held_line){ .job = line->job,
				    .at = line->at,
				    .begin = line->begin,
				    .text = xstrdup(line->line) };
	if (s->held.nr == STORE_HELD)
		store_lines_flush(s);
}

void store_trim_lines(struct store *s, uint64_t least)
{
	store_lines_flush(s);
	store_put(s, s->lines[least ? TRIM_LINES : CLEAR_LINES]);
	if (least)
		store_int(s, (sqlite3_int64)least);
	store_put_end(s);
}

/* ---- reading ---- */

void store_lines(struct store *s, uint64_t *first, uint64_t *last)
{
	sqlite3_stmt *st = s->lines[LINES];

	store_lines_flush(s);
	while (store_next_row(s, st)) {
		*first = (uint64_t)sqlite3_column_int64(st, 0);
		*last = (uint64_t)sqlite3_column_int64(st, 1);
	}
}

void store_each_line(struct store *s, uint64_t from, uint64_t job,
		     bool (*each)(void *ctx, const struct store_line *),
		     void *ctx)
{
	sqlite3_stmt *st = s->lines[job ? EACH_LINE_OF : EACH_LINE];
	struct store_line line;

	store_lines_flush(s);
	sqlite3_bind_int64(st, 1, (sqlite3_int64)from);
	if (job)
		sqlite3_bind_int64(st, 2, (sqlite3_int64)job);
	while (store_next_row(s, st)) {
		line = (struct store_line){
			.seq = (uint64_t)sqlite3_column_int64(st, 0),
			.at = sqlite3_column_int64(st, 1),
			.job = (uint64_t)sqlite3_column_int64(st, 2),
			.begin = sqlite3_column_int(st, 3),
			.line = store_text_at(st, 4),
		};
		if (!each(ctx, &line)) {
			sqlite3_reset(st);
			return;
		}
	}
}
