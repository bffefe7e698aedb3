/*
 * store_write.c - writing the store, also where the disk is full, see store.h
 *
 * A transaction that fails may have been rolled back by SQLite.  So its statements are
 * kept with their values until it is committed, and always run from what was kept: the
 * second time in just the same way.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/controller/state/store_priv.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	AGAIN_MS = 50,
	TELL_EVERY = 1200, /* tries between two log lines: a minute */
	/* bytes of memory that are kept for the next transaction, of each kind */
	KEEP_BYTES = 64 << 10
};

/* ---- what is put ---- */

static struct store_value *add_value(struct store *s)
{
	struct store_log *l = &s->log;

	assert(l->nr_puts);
	array_room(l->values, l->nr_values, &l->cap_values);
	l->puts[l->nr_puts - 1].nr_values++;
	return &l->values[l->nr_values++];
}

/* One byte is added, so that even an empty last value has an address. */
static void add_bytes(struct store *s, bool text, const void *p, size_t n)
{
	struct store_value *v = add_value(s);
	struct store_log *l = &s->log;

	while (l->cap_bytes - l->nr_bytes <= n)
		l->bytes = array_grow(l->bytes, &l->cap_bytes, 1);
	*v = (struct store_value){ .type = text ? SQLITE_TEXT : SQLITE_BLOB,
				   .number = (sqlite3_int64)n,
				   .at = l->nr_bytes };
	if (n)
		memcpy(l->bytes + l->nr_bytes, p, n);
	l->nr_bytes += n;
}

void store_int(struct store *s, sqlite3_int64 number)
{
	*add_value(s) = (struct store_value){ .type = SQLITE_INTEGER,
					      .number = number };
}

void store_text(struct store *s, const char *text)
{
	add_bytes(s, true, text ? text : "", text ? strlen(text) : 0);
}

void store_blob(struct store *s, const void *p, size_t n)
{
	add_bytes(s, false, p, n);
}

/* The array, or NULL if it has grown large. */
static void *keep_small(void *p, size_t *cap, size_t size)
{
	if (*cap * size <= KEEP_BYTES)
		return p;
	free(p);
	*cap = 0;
	return NULL;
}

static void forget_puts(struct store_log *l)
{
	l->bytes = keep_small(l->bytes, &l->cap_bytes, 1);
	l->values = keep_small(l->values, &l->cap_values, sizeof(*l->values));
	l->puts = keep_small(l->puts, &l->cap_puts, sizeof(*l->puts));
	l->nr_puts = l->nr_values = l->nr_bytes = 0;
}

void store_log_clear(struct store_log *l)
{
	free(l->puts);
	free(l->values);
	free(l->bytes);
}

static int bind_value(const struct store_log *l, sqlite3_stmt *st, int at,
		      const struct store_value *v)
{
	switch (v->type) {
	case SQLITE_INTEGER:
		return sqlite3_bind_int64(st, at, v->number);
	case SQLITE_TEXT:
		return sqlite3_bind_text64(st, at, l->bytes + v->at,
					   (sqlite3_uint64)v->number,
					   SQLITE_STATIC, SQLITE_UTF8);
	default:
		return sqlite3_bind_blob64(st, at, l->bytes + v->at,
					   (sqlite3_uint64)v->number,
					   SQLITE_STATIC);
	}
}

/* What is bound stays so until the statement is run again, which binds all values. */
static int run_put(const struct store_log *l, const struct store_put *put)
{
	int r = SQLITE_OK;

	for (int i = 0; i < put->nr_values && r == SQLITE_OK; i++)
		r = bind_value(l, put->st, i + 1, &l->values[put->values + i]);
	if (r == SQLITE_OK)
		r = sqlite3_step(put->st);
	sqlite3_reset(put->st);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* ---- once more ---- */

/*
 * From now on the controller could not store what it promises; all that it has promised
 * is in the file.  So it exits here, as if it were killed.
 */
__attribute__((noreturn)) static void give_up(struct store *s)
{
	log_warnx("%s: %s; jobs run on: once it can be written, start the "
		  "controller again",
		  sqlite3_db_filename(s->db, "main"), sqlite3_errmsg(s->db));
	_exit(EXIT_FAILURE);
}

static int run_sql(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

/* Run the transaction again up to where it was. */
static int put_again(struct store *s)
{
	int r = SQLITE_OK;

	if (!sqlite3_get_autocommit(s->db))
		r = run_sql(s, "ROLLBACK");
	if (r == SQLITE_OK)
		r = run_sql(s, "BEGIN");
	for (size_t i = 0; i < s->log.nr_puts && r == SQLITE_OK; i++)
		r = run_put(&s->log, &s->log.puts[i]);
	return r;
}

/*
 * Has a signal asked the controller to end?  Signals are blocked, and the event loop
 * does not run now.
 */
static bool told_to_end(void)
{
	sigset_t set;

	return !sigpending(&set) &&
	       (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

static void again(struct store *s, int code)
{
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };

	for (unsigned n = 0; code != SQLITE_OK; n++) {
		if (((code & 0xff) != SQLITE_FULL &&
		     (code & 0xff) != SQLITE_IOERR) ||
		    told_to_end())
			give_up(s);
		if (n % TELL_EVERY == 0)
			log_warnx("%s: %s; jobs run on, and everything else "
				  "waits until it can be written",
				  sqlite3_db_filename(s->db, "main"),
				  sqlite3_errmsg(s->db));
		nanosleep(&pause, NULL);
		code = put_again(s);
		if (code == SQLITE_OK)
			log_info("store=%s written=again",
				 sqlite3_db_filename(s->db, "main"));
	}
}

static void begin(struct store *s)
{
	int r;

	if (s->in_transaction)
		return;
	s->in_transaction = true;
	r = run_sql(s, "BEGIN");
	if (r != SQLITE_OK)
		again(s, r);
}

void store_put(struct store *s, sqlite3_stmt *st)
{
	struct store_log *l = &s->log;

	begin(s);
	array_room(l->puts, l->nr_puts, &l->cap_puts);
	l->puts[l->nr_puts++] =
		(struct store_put){ .st = st, .values = l->nr_values };
}

void store_put_end(struct store *s)
{
	const struct store_log *l = &s->log;
	int r = run_put(l, &l->puts[l->nr_puts - 1]);

	if (r != SQLITE_OK)
		again(s, r);
}

void store_end(struct store *s)
{
	int r;

	if (!s->in_transaction)
		return;
	while ((r = run_sql(s, "COMMIT")) != SQLITE_OK)
		again(s, r);
	forget_puts(&s->log);
	s->in_transaction = false;
}

/* ---- statements ---- */

int store_prepare(struct store *s, const char *const *statements, int n,
		  sqlite3_stmt ***ret)
{
	int r = SQLITE_OK;

	*ret = xcalloc(n, sizeof(**ret));
	for (int i = 0; i < n && r == SQLITE_OK; i++)
		r = sqlite3_prepare_v3(s->db, statements[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &(*ret)[i],
				       NULL);
	return r;
}

void store_finalize(sqlite3_stmt **stmt, int n)
{
	for (int i = 0; stmt && i < n; i++)
		sqlite3_finalize(stmt[i]);
	free(stmt);
}

bool store_next_row(struct store *s, sqlite3_stmt *st)
{
	int r = sqlite3_step(st);

	if (r == SQLITE_ROW)
		return true;
	if (r != SQLITE_DONE)
		give_up(s);
	sqlite3_reset(st);
	return false;
}

const char *store_text_at(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);

	return text ? text : "";
}
