/*
 * store_audit.c - what administrators did, and what was refused, for later; and who had
 * a key
 *
 * What is refused anybody can ask for as often as they like.  So of each of them the
 * last STORE_REFUSED are kept, and rows are counted, not their numbers: else a flood of
 * these would push acts out.
 */
#include "cluster/controller/state/store_priv.h"

enum statement {
	PUT,
	TRIM_REFUSED,
	DROP_OLDEST,
	DROP_BEFORE,
	NR_ROWS,
	EACH,
	KNOW_KEY,
	UNKNOW_KEY,
	EACH_KEY,
	NR_STATEMENTS
};

static const char *const sql[NR_STATEMENTS] = {
	[PUT] = "INSERT INTO audit (at, who, what, target, detail, code, why) "
		"VALUES (?,?,?,?,?,?,?)",
	[TRIM_REFUSED] = "DELETE FROM audit WHERE code AND who = ?1 AND seq <= "
			 "(SELECT seq FROM audit WHERE code AND who = ?1 "
			 "ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
	[DROP_OLDEST] = "DELETE FROM audit WHERE seq IN "
			"(SELECT seq FROM audit ORDER BY seq LIMIT ?)",
	/* in the order in which they came, so no index of times is needed */
	[DROP_BEFORE] = "DELETE FROM audit WHERE at < ?1 AND seq IN "
			"(SELECT seq FROM audit ORDER BY seq LIMIT ?2)",
	[NR_ROWS] = "SELECT count(*) FROM audit",
	[EACH] = "SELECT seq, at, who, what, target, detail, code, why "
		 "FROM audit WHERE seq >= ? ORDER BY seq",
	[KNOW_KEY] = "INSERT OR IGNORE INTO known_key (identity) VALUES (?)",
	[UNKNOW_KEY] = "DELETE FROM known_key WHERE identity = ?",
	[EACH_KEY] = "SELECT identity FROM known_key ORDER BY identity",
};

int store_audit_open(struct store *s)
{
	int r = store_prepare(s, sql, NR_STATEMENTS, &s->audit);

	if (r != SQLITE_OK)
		return r;
	while (store_next_row(s, s->audit[NR_ROWS]))
		s->nr_audit =
			(uint64_t)sqlite3_column_int64(s->audit[NR_ROWS], 0);
	return r;
}

void store_audit_close(struct store *s)
{
	store_finalize(s->audit, NR_STATEMENTS);
}

/* Run the statement that was put: how many rows it has removed. */
static unsigned removed(struct store *s)
{
	unsigned n;

	store_put_end(s);
	n = (unsigned)sqlite3_changes(s->db);
	s->nr_audit -= n;
	return n;
}

void store_put_audit(struct store *s, const struct store_audit *act)
{
	if (act->code) {
		store_put(s, s->audit[TRIM_REFUSED]);
		store_text(s, act->who);
		store_int(s, STORE_REFUSED - 1);
		(void)removed(s);
	}
	store_put(s, s->audit[PUT]);
	store_int(s, act->at);
	store_text(s, act->who);
	store_text(s, act->what);
	store_text(s, act->target);
	store_text(s, act->detail);
	store_int(s, act->code);
	store_text(s, act->why);
	store_put_end(s);
	s->nr_audit++;
}

bool store_prune_audit(struct store *s, uint64_t most, usec_t before,
		       unsigned rows)
{
	uint64_t beyond = s->nr_audit > most ? s->nr_audit - most : 0;
	unsigned n = 0;

	if (beyond) {
		store_put(s, s->audit[DROP_OLDEST]);
		store_int(s, beyond < rows ? (sqlite3_int64)beyond : rows);
		n = removed(s);
	}
	if (n < rows && before > 0 && s->nr_audit) {
		store_put(s, s->audit[DROP_BEFORE]);
		store_int(s, before);
		store_int(s, rows - n);
		n += removed(s);
	}
	return n >= rows;
}

void store_each_audit(struct store *s, uint64_t from,
		      bool (*each)(void *ctx, const struct store_audit *),
		      void *ctx)
{
	sqlite3_stmt *st = s->audit[EACH];
	struct store_audit act;

	sqlite3_bind_int64(st, 1, (sqlite3_int64)from);
	while (store_next_row(s, st)) {
		act = (struct store_audit){
			.seq = (uint64_t)sqlite3_column_int64(st, 0),
			.at = sqlite3_column_int64(st, 1),
			.who = store_text_at(st, 2),
			.what = store_text_at(st, 3),
			.target = store_text_at(st, 4),
			.detail = store_text_at(st, 5),
			.code = sqlite3_column_int(st, 6),
			.why = store_text_at(st, 7),
		};
		if (!each(ctx, &act)) {
			sqlite3_reset(st);
			return;
		}
	}
}

/* ---- keys */

static bool put_key(struct store *s, enum statement which, const char *identity)
{
	store_put(s, s->audit[which]);
	store_text(s, identity);
	store_put_end(s);
	return sqlite3_changes(s->db) > 0;
}

bool store_know_key(struct store *s, const char *identity)
{
	return put_key(s, KNOW_KEY, identity);
}

bool store_unknow_key(struct store *s, const char *identity)
{
	return put_key(s, UNKNOW_KEY, identity);
}

void store_each_key(struct store *s,
		    void (*each)(void *ctx, const char *identity), void *ctx)
{
	sqlite3_stmt *st = s->audit[EACH_KEY];

	while (store_next_row(s, st))
		each(ctx, store_text_at(st, 0));
}
