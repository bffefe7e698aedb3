/*
 * store_kept.c - what jobs leave behind in the store: what they
 * printed, accounts, and how arrays ended
 */
#include <stdlib.h>

#include "cluster/controller/state/store_priv.h"
#include "core/xalloc.h"

enum statement {
	PUT_OUTPUT,
	TRIM_OUTPUT,
	FORGET_OUTPUT,
	OUTPUT_BYTES,
	EACH_OUTPUT,
	PUT_ACT,
	TRIM_JOB_ACTS,
	PUT_ACCOUNT,
	DROP_OLDEST,
	DROP_BEFORE,
	FORGET_ACTS,
	NR_ACCOUNTS,
	NR_ACTS,
	EACH_ACT,
	EACH_ACCOUNT,
	PUT_ARRAY,
	FIND_ARRAY,
	DROP_ARRAYS,
	NR_STATEMENTS
};

static const char *const sql[NR_STATEMENTS] = {
	[PUT_OUTPUT] = "INSERT OR IGNORE INTO output (job, rank, stream, "
		       "epoch, number, at, data) VALUES (?,?,?,?,?,?,?)",
	[TRIM_OUTPUT] =
		"DELETE FROM output WHERE job = ?1 AND seq <= (SELECT seq FROM "
		"(SELECT seq, sum(length(data) + 64) OVER (ORDER BY seq DESC) "
		"AS sum FROM output WHERE job = ?1) WHERE sum > ?2 "
		"ORDER BY seq DESC LIMIT 1)",
	[FORGET_OUTPUT] = "DELETE FROM output WHERE job = ?",
	[OUTPUT_BYTES] = "SELECT ifnull(sum(length(data) + 64), 0) FROM output "
			 "WHERE job = ?",
	[EACH_OUTPUT] = "SELECT seq, job, rank, stream, epoch, number, at, "
			"data FROM output WHERE job = ? AND seq >= ? "
			"ORDER BY seq",
	[PUT_ACT] = "INSERT INTO act (job, at, who, what) VALUES (?,?,?,?)",
	[TRIM_JOB_ACTS] = "DELETE FROM act WHERE job = ?1 AND seq <= (SELECT "
			  "seq FROM act WHERE job = ?1 ORDER BY seq DESC "
			  "LIMIT 1 OFFSET ?2)",
	[PUT_ACCOUNT] = "REPLACE INTO account (job, user, ended, data) "
			"VALUES (?,?,?,?)",
	/* by the index of ended: what is kept is not looked at */
	[DROP_OLDEST] = "DELETE FROM account WHERE job IN "
			"(SELECT job FROM account ORDER BY ended LIMIT ?)",
	[DROP_BEFORE] = "DELETE FROM account WHERE job IN (SELECT job FROM "
			"account WHERE ended < ? ORDER BY ended LIMIT ?)",
	[FORGET_ACTS] = "DELETE FROM act WHERE job = ?",
	[NR_ACCOUNTS] = "SELECT count(*) FROM account",
	[NR_ACTS] = "SELECT count(*) FROM act",
	[EACH_ACT] = "SELECT job, at, who, what FROM act WHERE job = ? "
		     "ORDER BY seq",
	[EACH_ACCOUNT] = "SELECT job, user, data FROM account WHERE job >= ? "
			 "ORDER BY job",
	[PUT_ARRAY] = "REPLACE INTO array (id, last, exit, reason, ended) "
		      "VALUES (?,?,?,?,?)",
	[FIND_ARRAY] = "SELECT id, last, exit, reason, ended FROM array "
		       "WHERE id = ?",
	/* by the index of ended */
	[DROP_ARRAYS] = "DELETE FROM array WHERE ended > 0 AND ended < (SELECT "
			"min(ended) FROM account) AND NOT EXISTS (SELECT 1 "
			"FROM job WHERE job.id BETWEEN array.id AND last)",
};

static uint64_t count(struct store *s, enum statement which)
{
	sqlite3_stmt *st = s->kept[which];
	uint64_t n = 0;

	while (store_next_row(s, st))
		n = (uint64_t)sqlite3_column_int64(st, 0);
	return n;
}

int store_kept_open(struct store *s)
{
	int r = store_prepare(s, sql, NR_STATEMENTS, &s->kept);

	if (r != SQLITE_OK)
		return r;
	s->nr_accounts = count(s, NR_ACCOUNTS);
	s->nr_acts = count(s, NR_ACTS);
	return r;
}

void store_kept_close(struct store *s)
{
	store_finalize(s->kept, NR_STATEMENTS);
}

static void drop_last_act(struct store *s)
{
	free(s->act.who);
	free(s->act.what);
	s->act.who = s->act.what = NULL;
}

static bool has_last_act(const struct store *s, uint64_t job)
{
	return s->act.who && s->act.job == job;
}

/* Run the statement that was put: how many rows it has removed. */
static unsigned removed(struct store *s, uint64_t *of)
{
	int n;

	store_put_end(s);
	n = sqlite3_changes(s->db);
	*of -= (unsigned)n;
	return (unsigned)n;
}

/* Of the thousands that are cancelled while they wait none has acts but this last one. */
static void forget_acts(struct store *s, uint64_t job)
{
	if (has_last_act(s, job))
		drop_last_act(s);
	if (!s->nr_acts)
		return;
	store_put(s, s->kept[FORGET_ACTS]);
	store_int(s, (sqlite3_int64)job);
	(void)removed(s, &s->nr_acts);
}

void store_kept_forget(struct store *s, uint64_t job, bool ran)
{
	if (ran) {
		store_put(s, s->kept[FORGET_OUTPUT]);
		store_int(s, (sqlite3_int64)job);
		store_put_end(s);
	}
	forget_acts(s, job);
}

void store_put_output(struct store *s, const struct store_output *piece)
{
	store_put(s, s->kept[PUT_OUTPUT]);
	store_int(s, piece->job);
	store_int(s, piece->rank);
	store_int(s, piece->stream);
	store_int(s, piece->epoch);
	store_int(s, piece->number);
	store_int(s, piece->offset);
	store_blob(s, piece->data, piece->n);
	store_put_end(s);
}

void store_trim_output(struct store *s, uint64_t job, size_t bytes)
{
	store_put(s, s->kept[TRIM_OUTPUT]);
	store_int(s, job);
	store_int(s, bytes);
	store_put_end(s);
}

size_t store_output_bytes(struct store *s, uint64_t job)
{
	sqlite3_stmt *st = s->kept[OUTPUT_BYTES];
	size_t bytes = 0;

	sqlite3_bind_int64(st, 1, job);
	while (store_next_row(s, st))
		bytes = sqlite3_column_int64(st, 0);
	return bytes;
}

void store_each_output(struct store *s, uint64_t job, uint64_t from,
		       bool (*each)(void *ctx, const struct store_output *),
		       void *ctx)
{
	sqlite3_stmt *st = s->kept[EACH_OUTPUT];
	struct store_output piece;

	sqlite3_bind_int64(st, 1, job);
	sqlite3_bind_int64(st, 2, from);
	while (store_next_row(s, st)) {
		piece = (struct store_output){
			.seq = sqlite3_column_int64(st, 0),
			.job = sqlite3_column_int64(st, 1),
			.rank = sqlite3_column_int64(st, 2),
			.stream = sqlite3_column_int64(st, 3),
			.epoch = sqlite3_column_int64(st, 4),
			.number = sqlite3_column_int64(st, 5),
			.offset = sqlite3_column_int64(st, 6),
			.data = sqlite3_column_blob(st, 7),
			.n = sqlite3_column_bytes(st, 7),
		};
		if (!each(ctx, &piece)) {
			sqlite3_reset(st);
			return;
		}
	}
}

/* ---- accounts ---- */

void store_kept_flush(struct store *s)
{
	if (!s->act.who)
		return;
	store_put(s, s->kept[PUT_ACT]);
	store_int(s, (sqlite3_int64)s->act.job);
	store_int(s, s->act.at);
	store_text(s, s->act.who);
	store_text(s, s->act.what);
	store_put_end(s);
	s->nr_acts++;
	drop_last_act(s);
}

static void trim_acts(struct store *s, uint64_t job)
{
	if (!s->nr_acts)
		return;
	store_put(s, s->kept[TRIM_JOB_ACTS]);
	store_int(s, (sqlite3_int64)job);
	store_int(s, STORE_ACTS - 1);
	(void)removed(s, &s->nr_acts);
}

void store_put_act(struct store *s, const struct store_act *act)
{
	store_kept_flush(s);
	trim_acts(s, act->job);
	s->act.job = act->job;
	s->act.at = act->at;
	s->act.who = xstrdup(act->who);
	s->act.what = xstrdup(act->what);
}

void store_put_account(struct store *s, const struct store_account *account)
{
	store_put(s, s->kept[PUT_ACCOUNT]);
	store_int(s, account->job);
	store_text(s, account->user);
	store_int(s, account->ended);
	store_blob(s, account->data, account->n);
	store_put_end(s);
	s->nr_accounts++;
	forget_acts(s, account->job);
}

bool store_prune_accounts(struct store *s, uint64_t most, usec_t before,
			  unsigned rows)
{
	uint64_t beyond = s->nr_accounts > most ? s->nr_accounts - most : 0;
	unsigned n = 0;

	if (beyond) {
		store_put(s, s->kept[DROP_OLDEST]);
		store_int(s, beyond < rows ? (sqlite3_int64)beyond : rows);
		n = removed(s, &s->nr_accounts);
	}
	if (n < rows && before > 0) {
		store_put(s, s->kept[DROP_BEFORE]);
		store_int(s, before);
		store_int(s, rows - n);
		n += removed(s, &s->nr_accounts);
	}
	if (n) {
		store_put(s, s->kept[DROP_ARRAYS]);
		store_put_end(s);
	}
	return n >= rows;
}

void store_each_act(struct store *s, uint64_t job,
		    void (*each)(void *ctx, const struct store_act *),
		    void *ctx)
{
	sqlite3_stmt *st = s->kept[EACH_ACT];
	struct store_act act;

	sqlite3_bind_int64(st, 1, job);
	while (s->nr_acts && store_next_row(s, st)) {
		act = (struct store_act){
			.job = sqlite3_column_int64(st, 0),
			.at = sqlite3_column_int64(st, 1),
			.who = store_text_at(st, 2),
			.what = store_text_at(st, 3),
		};
		each(ctx, &act);
	}
	if (has_last_act(s, job)) {
		act = (struct store_act){ .job = job,
					  .at = s->act.at,
					  .who = s->act.who,
					  .what = s->act.what };
		each(ctx, &act);
	}
}

void store_each_account(struct store *s, uint64_t from,
			bool (*each)(void *ctx, const struct store_account *),
			void *ctx)
{
	sqlite3_stmt *st = s->kept[EACH_ACCOUNT];
	struct store_account account;

	sqlite3_bind_int64(st, 1, from);
	while (store_next_row(s, st)) {
		account = (struct store_account){
			.job = sqlite3_column_int64(st, 0),
			.user = store_text_at(st, 1),
			.data = sqlite3_column_blob(st, 2),
			.n = sqlite3_column_bytes(st, 2),
		};
		if (!each(ctx, &account)) {
			sqlite3_reset(st);
			return;
		}
	}
}

void store_put_array(struct store *s, const struct store_array *array)
{
	store_put(s, s->kept[PUT_ARRAY]);
	store_int(s, (sqlite3_int64)array->id);
	store_int(s, (sqlite3_int64)array->last);
	store_int(s, array->exit);
	store_int(s, array->reason);
	store_int(s, array->ended);
	store_put_end(s);
}

bool store_find_array(struct store *s, uint64_t id, struct store_array *ret)
{
	sqlite3_stmt *st = s->kept[FIND_ARRAY];
	bool some = false;

	sqlite3_bind_int64(st, 1, (sqlite3_int64)id);
	for (; store_next_row(s, st); some = true)
		*ret = (struct store_array){
			.id = (uint64_t)sqlite3_column_int64(st, 0),
			.last = (uint64_t)sqlite3_column_int64(st, 1),
			.exit = sqlite3_column_int(st, 2),
			.reason = sqlite3_column_int(st, 3),
			.ended = sqlite3_column_int64(st, 4),
		};
	return some;
}
