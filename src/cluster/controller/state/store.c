/*
 * store.c - the controller's memory in SQLite, see store.h
 */
#include "cluster/controller/state/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cluster/controller/state/store_priv.h"
#include "core/xalloc.h"

enum statement {
	PUT_JOB,
	CHANGE_JOB,
	PUT_RANK,
	PUT_SIGNALS,
	PUT_MOVE,
	PUT_HOST,
	FORGET_JOB,
	FORGET_RANKS,
	FORGET_SIGNALS,
	FORGET_MOVES,
	LAST_JOB,
	EACH_JOB,
	EACH_RANK,
	EACH_SIGNALS,
	WAS_THERE,
	EACH_MOVE,
	LAST_MOVE,
	EACH_HOST,
	NR_STATEMENTS
};

static const char *const sql[NR_STATEMENTS] = {
	[PUT_JOB] = "REPLACE INTO job (id, state, spec, why, submit, start, "
		    "end, exit, bad_rank, pmi_generation, pmi_release, "
		    "cause_at, cause, limit_met, reason, reason_by) "
		    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	/* without a look at AUTOINCREMENT's table */
	[CHANGE_JOB] = "UPDATE job SET state = ?2, spec = ?3, why = ?4, "
		       "submit = ?5, start = ?6, end = ?7, exit = ?8, "
		       "bad_rank = ?9, pmi_generation = ?10, "
		       "pmi_release = ?11, cause_at = ?12, cause = ?13, "
		       "limit_met = ?14, reason = ?15, reason_by = ?16 "
		       "WHERE id = ?1",
	[PUT_RANK] = "REPLACE INTO rank (job, rank, state, host, address, "
		     "epoch, last_epoch, exit, moves, downtime, stdout_end, "
		     "stderr_end, first_epoch, cpu, max_rss, stood_still, "
		     "moved_bytes, held, returns, give_back, late, late_why) "
		     "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[PUT_SIGNALS] = "REPLACE INTO signals (job, rank, waiting, sent, "
			"number) VALUES (?,?,?,?,?)",
	[PUT_MOVE] = "REPLACE INTO move (job, rank, epoch, src, dst, state, "
		     "moved, source_epoch) VALUES (?,?,?,?,?,?,?,?)",
	[PUT_HOST] = "REPLACE INTO host (name, drain, boot_id, "
		     "drain_who, drain_reason, drain_at, drain_by) "
		     "VALUES (?,?,?,?,?,?,?)",
	[FORGET_JOB] = "DELETE FROM job WHERE id = ?",
	[FORGET_RANKS] = "DELETE FROM rank WHERE job = ?",
	[FORGET_SIGNALS] = "DELETE FROM signals WHERE job = ?",
	[FORGET_MOVES] = "DELETE FROM move WHERE job = ?",
	/* Also of jobs that are forgotten. */
	[LAST_JOB] = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence "
		     "WHERE name = 'job'",
	[EACH_JOB] = "SELECT id, state, spec, why, submit, start, end, exit, "
		     "bad_rank, pmi_generation, pmi_release, cause_at, "
		     "cause, limit_met, reason, reason_by FROM job "
		     "ORDER BY id",
	[EACH_RANK] = "SELECT job, rank, state, host, address, epoch, "
		      "last_epoch, exit, moves, downtime, stdout_end, "
		      "stderr_end, first_epoch, cpu, max_rss, stood_still, "
		      "moved_bytes, held, returns, give_back, late, late_why "
		      "FROM rank WHERE job = ? ORDER BY rank",
	[EACH_SIGNALS] = "SELECT job, rank, waiting, sent, number "
			 "FROM signals WHERE job = ? ORDER BY rank",
	[WAS_THERE] = "SELECT 1 FROM move WHERE job = ?1 AND rank = ?2 AND "
		      "((epoch = ?3 AND dst = ?4) OR "
		      "(source_epoch = ?3 AND src = ?4)) LIMIT 1",
	[EACH_MOVE] =
		"SELECT job, rank, epoch, src, dst, state, source_epoch, "
		"moved FROM move WHERE state <> 2 ORDER BY job, rank, epoch",
	[LAST_MOVE] =
		"SELECT job, rank, epoch, src, dst, state, source_epoch, "
		"moved FROM move WHERE job = ? AND rank = ? AND state = 2 "
		"ORDER BY epoch DESC LIMIT 1",
	[EACH_HOST] = "SELECT name, drain, boot_id, drain_who, "
		      "drain_reason, drain_at, drain_by FROM host "
		      "ORDER BY name",
};

static int open_failed(struct store *s, int code, const char *path,
		       const struct error *why, struct error *err)
{
	int r = code == SQLITE_BUSY ? -EBUSY : -EIO;

	if (*why->text)
		error_set(err, r, "%s", why->text);
	else
		error_set(err, r, "%s: %s%s", path,
			  s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code),
			  r == -EBUSY ? "; is another controller running?"
				      : "");
	store_close(s);
	return r;
}

static struct store *store_create(void)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->fd = s->wal_fd = -1;
	return s;
}

int store_open(const char *path, struct store **ret, struct error *err)
{
	struct store *s = store_create();
	struct error why = ERROR_INIT;
	/* one thread uses it */
	int r = sqlite3_open_v2(path, &s->db,
				SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
					SQLITE_OPEN_NOMUTEX,
				NULL);

	if (r == SQLITE_OK)
		r = chmod(path, 0600) < 0 ? SQLITE_CANTOPEN : SQLITE_OK;
	if (r == SQLITE_OK)
		r = store_schema(s->db, path, &why);
	if (r == SQLITE_OK)
		r = store_prepare(s, sql, NR_STATEMENTS, &s->stmt);
	if (r == SQLITE_OK)
		r = store_kept_open(s);
	if (r == SQLITE_OK)
		r = store_lines_open(s);
	if (r == SQLITE_OK)
		r = store_audit_open(s);
	if (r != SQLITE_OK)
		return open_failed(s, r, path, &why, err);
	store_room_init(s, path);
	*ret = s;
	return 0;
}

void store_commit(struct store *s)
{
	store_kept_flush(s);
	store_lines_flush(s);
	store_end(s);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_commit(s);
	store_finalize(s->stmt, NR_STATEMENTS);
	store_kept_close(s);
	store_lines_close(s);
	store_audit_close(s);
	sqlite3_close(s->db);
	store_room_clear(s);
	store_log_clear(&s->log);
	free(s);
}

void store_put_job(struct store *s, const struct store_job *job)
{
	store_put(s, s->stmt[job->stored ? CHANGE_JOB : PUT_JOB]);
	store_int(s, job->id);
	store_int(s, job->state);
	store_blob(s, job->spec, job->spec_n);
	store_text(s, job->why);
	store_int(s, job->submit);
	store_int(s, job->start);
	store_int(s, job->end);
	store_int(s, job->exit);
	store_int(s, job->bad_rank);
	store_int(s, job->pmi_generation);
	store_blob(s, job->pmi_release, job->pmi_release_n);
	store_int(s, job->cause_at);
	store_int(s, job->cause);
	store_int(s, job->limit_met);
	store_int(s, job->reason);
	store_text(s, job->by);
	store_put_end(s);
}

void store_put_rank(struct store *s, const struct store_rank *rank)
{
	store_put(s, s->stmt[PUT_RANK]);
	store_int(s, rank->job);
	store_int(s, rank->rank);
	store_int(s, rank->state);
	store_text(s, rank->host);
	store_int(s, rank->address);
	store_int(s, rank->epoch);
	store_int(s, rank->last_epoch);
	store_int(s, rank->exit);
	store_int(s, rank->moves);
	store_int(s, rank->downtime);
	store_int(s, rank->stdout_end);
	store_int(s, rank->stderr_end);
	store_int(s, rank->first_epoch);
	store_int(s, rank->cpu_usec);
	store_int(s, rank->max_rss);
	store_int(s, rank->stood_usec);
	store_int(s, rank->moved_bytes);
	store_int(s, rank->held_usec);
	store_int(s, rank->returns);
	store_int(s, rank->give_back_usec);
	store_int(s, rank->late_usec);
	store_int(s, rank->late);
	store_put_end(s);
}

void store_put_signals(struct store *s, const struct store_signals *signals)
{
	store_put(s, s->stmt[PUT_SIGNALS]);
	store_int(s, signals->job);
	store_int(s, signals->rank);
	store_int(s, signals->waiting);
	store_int(s, signals->sent);
	store_int(s, signals->number);
	store_put_end(s);
}

void store_put_move(struct store *s, const struct store_move *move)
{
	store_put(s, s->stmt[PUT_MOVE]);
	store_int(s, move->job);
	store_int(s, move->rank);
	store_int(s, move->epoch);
	store_text(s, move->from);
	store_text(s, move->to);
	store_int(s, move->state);
	store_blob(s, move->moved, move->moved_n);
	store_int(s, move->source_epoch);
	store_put_end(s);
}

void store_put_host(struct store *s, const struct store_host *host)
{
	store_put(s, s->stmt[PUT_HOST]);
	store_text(s, host->name);
	store_int(s, host->drain);
	store_text(s, host->boot_id);
	store_text(s, host->drain_who);
	store_text(s, host->drain_reason);
	store_int(s, host->drain_at);
	store_int(s, host->drain_by);
	store_put_end(s);
}

static int forget_rows(struct store *s, int which, uint64_t id)
{
	store_put(s, s->stmt[which]);
	store_int(s, (sqlite3_int64)id);
	store_put_end(s);
	return sqlite3_changes(s->db);
}

/* One that was ended while it waited has no row of a rank, and no rank has moved or printed. */
void store_forget_job(struct store *s, uint64_t id)
{
	bool ran = forget_rows(s, FORGET_RANKS, id);

	forget_rows(s, FORGET_JOB, id);
	forget_rows(s, FORGET_SIGNALS, id);
	if (ran)
		forget_rows(s, FORGET_MOVES, id);
	store_kept_forget(s, id, ran);
}

uint64_t store_last_job(struct store *s)
{
	sqlite3_stmt *st = s->stmt[LAST_JOB];
	uint64_t id = 0;

	while (store_next_row(s, st))
		id = sqlite3_column_int64(st, 0);
	return id;
}

void store_each_job(struct store *s,
		    void (*each)(void *ctx, const struct store_job *),
		    void *ctx)
{
	sqlite3_stmt *st = s->stmt[EACH_JOB];
	struct store_job job;

	while (store_next_row(s, st)) {
		job = (struct store_job){
			.id = sqlite3_column_int64(st, 0),
			.state = sqlite3_column_int(st, 1),
			.spec = sqlite3_column_blob(st, 2),
			.spec_n = sqlite3_column_bytes(st, 2),
			.why = store_text_at(st, 3),
			.submit = sqlite3_column_int64(st, 4),
			.start = sqlite3_column_int64(st, 5),
			.end = sqlite3_column_int64(st, 6),
			.exit = sqlite3_column_int(st, 7),
			.bad_rank = sqlite3_column_int(st, 8),
			.pmi_generation = sqlite3_column_int64(st, 9),
			.pmi_release = sqlite3_column_blob(st, 10),
			.pmi_release_n = sqlite3_column_bytes(st, 10),
			.cause_at = sqlite3_column_int64(st, 11),
			.cause = sqlite3_column_int(st, 12),
			.limit_met = sqlite3_column_int(st, 13),
			.reason = sqlite3_column_int(st, 14),
			.by = store_text_at(st, 15),
		};
		each(ctx, &job);
	}
}

void store_each_rank(struct store *s, uint64_t job,
		     void (*each)(void *ctx, const struct store_rank *),
		     void *ctx)
{
	sqlite3_stmt *st = s->stmt[EACH_RANK];
	struct store_rank rank;

	sqlite3_bind_int64(st, 1, job);
	while (store_next_row(s, st)) {
		rank = (struct store_rank){
			.job = sqlite3_column_int64(st, 0),
			.rank = sqlite3_column_int64(st, 1),
			.state = sqlite3_column_int(st, 2),
			.host = store_text_at(st, 3),
			.address = sqlite3_column_int64(st, 4),
			.epoch = sqlite3_column_int64(st, 5),
			.last_epoch = sqlite3_column_int64(st, 6),
			.exit = sqlite3_column_int(st, 7),
			.moves = sqlite3_column_int64(st, 8),
			.downtime = sqlite3_column_int64(st, 9),
			.stdout_end = sqlite3_column_int64(st, 10),
			.stderr_end = sqlite3_column_int64(st, 11),
			.first_epoch = sqlite3_column_int64(st, 12),
			.cpu_usec = sqlite3_column_int64(st, 13),
			.max_rss = sqlite3_column_int64(st, 14),
			.stood_usec = sqlite3_column_int64(st, 15),
			.moved_bytes = sqlite3_column_int64(st, 16),
			.held_usec = sqlite3_column_int64(st, 17),
			.returns = sqlite3_column_int64(st, 18),
			.give_back_usec = sqlite3_column_int64(st, 19),
			.late_usec = sqlite3_column_int64(st, 20),
			.late = (uint32_t)sqlite3_column_int64(st, 21),
		};
		each(ctx, &rank);
	}
}

void store_each_signals(struct store *s, uint64_t job,
			void (*each)(void *ctx, const struct store_signals *),
			void *ctx)
{
	sqlite3_stmt *st = s->stmt[EACH_SIGNALS];
	struct store_signals signals;

	sqlite3_bind_int64(st, 1, job);
	while (store_next_row(s, st)) {
		signals = (struct store_signals){
			.job = sqlite3_column_int64(st, 0),
			.rank = sqlite3_column_int64(st, 1),
			.waiting = sqlite3_column_int64(st, 2),
			.sent = sqlite3_column_int64(st, 3),
			.number = sqlite3_column_int64(st, 4),
		};
		each(ctx, &signals);
	}
}

bool store_was_there(struct store *s, uint64_t job, uint32_t rank,
		     uint64_t epoch, const char *host)
{
	sqlite3_stmt *st = s->stmt[WAS_THERE];
	bool was = false;

	sqlite3_bind_int64(st, 1, job);
	sqlite3_bind_int64(st, 2, rank);
	sqlite3_bind_int64(st, 3, epoch);
	sqlite3_bind_text(st, 4, host, -1, SQLITE_STATIC);
	while (store_next_row(s, st))
		was = true;
	sqlite3_clear_bindings(st);
	return was;
}

static void each_move(struct store *s, sqlite3_stmt *st,
		      void (*each)(void *ctx, const struct store_move *),
		      void *ctx)
{
	struct store_move move;

	while (store_next_row(s, st)) {
		move = (struct store_move){
			.job = sqlite3_column_int64(st, 0),
			.rank = sqlite3_column_int64(st, 1),
			.epoch = sqlite3_column_int64(st, 2),
			.from = store_text_at(st, 3),
			.to = store_text_at(st, 4),
			.state = sqlite3_column_int(st, 5),
			.source_epoch = sqlite3_column_int64(st, 6),
			.moved = sqlite3_column_blob(st, 7),
			.moved_n = (size_t)sqlite3_column_bytes(st, 7),
		};
		each(ctx, &move);
	}
}

void store_each_move(struct store *s,
		     void (*each)(void *ctx, const struct store_move *),
		     void *ctx)
{
	each_move(s, s->stmt[EACH_MOVE], each, ctx);
}

void store_last_move(struct store *s, uint64_t job, uint32_t rank,
		     void (*last)(void *ctx, const struct store_move *),
		     void *ctx)
{
	sqlite3_stmt *st = s->stmt[LAST_MOVE];

	sqlite3_bind_int64(st, 1, (sqlite3_int64)job);
	sqlite3_bind_int64(st, 2, rank);
	each_move(s, st, last, ctx);
}

void store_each_host(struct store *s,
		     void (*each)(void *ctx, const struct store_host *),
		     void *ctx)
{
	sqlite3_stmt *st = s->stmt[EACH_HOST];
	struct store_host host;

	while (store_next_row(s, st)) {
		host = (struct store_host){
			.name = store_text_at(st, 0),
			.drain = sqlite3_column_int(st, 1),
			.boot_id = store_text_at(st, 2),
			.drain_who = store_text_at(st, 3),
			.drain_reason = store_text_at(st, 4),
			.drain_at = sqlite3_column_int64(st, 5),
			.drain_by = sqlite3_column_int64(st, 6),
		};
		each(ctx, &host);
	}
}
