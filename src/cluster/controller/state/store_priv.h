/* store_priv.h - what the store's files share */
#ifndef CLUSTER_CONTROLLER_STATE_STORE_PRIV_H
#define CLUSTER_CONTROLLER_STATE_STORE_PRIV_H

#include <sqlite3.h>

#include "cluster/controller/state/store.h"

/* What this transaction has written, so that it can be written again. */
struct store_log {
	struct store_put {
		sqlite3_stmt *st;
		size_t values; /* index of its first value */
		int nr_values; /* for columns from 1 on */
	} * puts;
	struct store_value {
		int type; /* SQLITE_INTEGER, _TEXT or _BLOB */
		/* the number itself, or the length in bytes */
		sqlite3_int64 number;
		size_t at; /* offset of the first byte */
	} * values;
	char *bytes;
	size_t nr_puts, cap_puts, nr_values, cap_values, nr_bytes, cap_bytes;
};

/* So many lines of the record are one statement: each costs as much as what it says. */
enum { STORE_HELD = 16 };

struct store_held {
	struct held_line {
		uint64_t job;
		int64_t at;
		bool begin;
		char *text;
	} line[STORE_HELD];
	int nr;
};

struct store {
	sqlite3 *db;
	sqlite3_stmt **stmt;
	sqlite3_stmt **kept;  /* store_kept.c's */
	sqlite3_stmt **lines; /* store_lines.c's */
	sqlite3_stmt **audit; /* store_audit.c's */
	uint64_t nr_audit;    /* exactly so many rows */
	uint64_t nr_accounts; /* at most so many: likewise */
	uint64_t nr_acts;     /* likewise, that are stored */
	/*
	 * The last act, not written yet: where its job ends by it, it is in the account
	 * alone.  who: NULL if there is none.
	 */
	struct {
		uint64_t job;
		int64_t at;
		char *who, *what;
	} act;
	struct store_held held; /* lines that are not written yet */
	bool in_transaction;
	struct store_log log;
	/*
	 * The files, for their reserves; closed after db, because closing drops
	 * its locks.
	 */
	int fd, wal_fd;
	enum store_room room;
	usec_t room_seen; /* CLOCK_MONOTONIC */
};

/*
 * Lock the database for this process and bring it to today's layout: create it, or
 * update one of an earlier version, after a copy was kept as PATH.vN. Returns a result
 * of SQLite; if *err has a text, it says why.
 */
int store_schema(sqlite3 *db, const char *path, struct error *err) must_check;

/* Bring it from one layout to a later one, in a transaction; for tests, too. */
int store_layout(sqlite3 *db, int from, int to) must_check;

/* ---- store_kept.c */

int store_kept_open(struct store *s) must_check;
void store_kept_close(struct store *s);
void store_kept_forget(struct store *s, uint64_t job, bool ran);
/* Before a commit: put what is not written yet. */
void store_kept_flush(struct store *s);

/* ---- store_lines.c */

int store_lines_open(struct store *s) must_check;
void store_lines_close(struct store *s);
void store_lines_flush(struct store *s); /* as store_kept_flush() */

/* ---- store_audit.c */

int store_audit_open(struct store *s) must_check;
void store_audit_close(struct store *s);

/* ---- store_write.c: writing, also where there is no room */

/* Begin a statement, in a transaction; add its values; and run it. */
void store_put(struct store *s, sqlite3_stmt *st);
void store_int(struct store *s, sqlite3_int64 number);
void store_text(struct store *s, const char *text); /* NULL: "" */
void store_blob(struct store *s, const void *p, size_t n);
void store_put_end(struct store *s);
void store_end(struct store *s); /* commit the transaction, if there is one */
void store_log_clear(struct store_log *l);

/*
 * Prepare n statements.  Returns a result of SQLite; statements that were prepared are
 * kept in any case.
 */
int store_prepare(struct store *s, const char *const *sql, int n,
		  sqlite3_stmt ***ret) must_check;
void store_finalize(sqlite3_stmt **stmt, int n);
/* Step to the next row; false, and the statement is reset, after the last. */
bool store_next_row(struct store *s, sqlite3_stmt *st);
/* The text of that column of the row; NULL is "". */
const char *store_text_at(sqlite3_stmt *st, int at);

/* ---- store_room.c */

void store_room_init(struct store *s, const char *path);
void store_room_clear(struct store *s);
/* Has the disk so many bytes, and what lets it count as low besides? */
bool store_room_for(struct store *s, uint64_t bytes);

#endif
