/*
 * store_schema.c - the layout of the store, and how older stores are brought to it
 *
 * PRAGMA user_version counts layouts.  Step N changes a store of layout N to N+1, all
 * steps in one transaction.  Stores from before layouts had numbers have 0, as has an
 * empty file.  To change the layout, add a step at the end of the list (earlier steps
 * are never changed), and adapt store.c's statements, which name each column.
 */
#include "cluster/controller/state/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "core/xalloc.h"

static const char *const steps[] = {
	/*
	 * A store from before layouts had numbers may have any of these columns
	 * already.
	 */
	"CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" state INT, spec BLOB, why TEXT, submit INT, start INT, end INT,"
	" exit INT, bad_rank INT, pmi_generation INT, pmi_release BLOB);"
	"DROP INDEX IF EXISTS job_state;"
	"CREATE TABLE IF NOT EXISTS rank (job INT, rank INT, state INT,"
	" host TEXT, address INT, epoch INT, last_epoch INT, exit INT,"
	" moves INT, downtime INT, stdout_end INT, stderr_end INT,"
	" PRIMARY KEY (job, rank)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS signals (job INT, rank INT, waiting INT,"
	" sent INT, number INT, PRIMARY KEY (job, rank)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS move (job INT, rank INT, epoch INT,"
	" src TEXT, dst TEXT, state INT, moved BLOB, source_epoch INT,"
	" PRIMARY KEY (job, rank, epoch)) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS move_state ON move (state);"
	"CREATE TABLE IF NOT EXISTS host (name TEXT PRIMARY KEY, drain INT,"
	" boot_id TEXT) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS record (seq INTEGER PRIMARY KEY"
	" AUTOINCREMENT, at INT, job INT, begin INT, line TEXT);"
	"CREATE INDEX IF NOT EXISTS record_begin ON record (begin)"
	" WHERE begin;"
	"CREATE INDEX IF NOT EXISTS record_job ON record (job) WHERE job;",
	"ALTER TABLE job ADD COLUMN cause_at INT DEFAULT 0;",
	"ALTER TABLE job ADD COLUMN cause INT DEFAULT 0;",
	"ALTER TABLE job ADD COLUMN limit_met INT DEFAULT 0;",
	"ALTER TABLE rank ADD COLUMN first_epoch INT DEFAULT 0;",
	"CREATE TABLE output (seq INTEGER PRIMARY KEY AUTOINCREMENT, job INT,"
	" rank INT, stream INT, epoch INT, number INT, at INT, data BLOB,"
	" UNIQUE (job, rank, epoch, number));"
	"CREATE INDEX output_job ON output (job, seq);"
	"ALTER TABLE rank ADD COLUMN cpu INT DEFAULT 0;"
	"ALTER TABLE rank ADD COLUMN max_rss INT DEFAULT 0;"
	"ALTER TABLE rank ADD COLUMN stood_still INT DEFAULT 0;"
	"ALTER TABLE rank ADD COLUMN moved_bytes INT DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN reason INT DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN reason_by TEXT DEFAULT '';"
	"CREATE TABLE act (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INT,"
	" job INT, who TEXT, what TEXT);"
	"CREATE INDEX act_job ON act (job, seq);"
	"CREATE TABLE account (job INTEGER PRIMARY KEY, ended INT, user TEXT,"
	" data BLOB);"
	"CREATE INDEX account_ended ON account (ended);",
	"ALTER TABLE host ADD COLUMN drain_who TEXT DEFAULT '';"
	"ALTER TABLE host ADD COLUMN drain_reason TEXT DEFAULT '';"
	"ALTER TABLE host ADD COLUMN drain_at INT DEFAULT 0;"
	"ALTER TABLE host ADD COLUMN drain_by INT DEFAULT 0;",
	"ALTER TABLE rank ADD COLUMN held INT DEFAULT 0;",
	/* When a job of before ended is in its account alone: they age from now on. */
	"UPDATE account SET ended = strftime('%s', 'now') * 1000000 "
	"WHERE ended IS NULL;"
	"DELETE FROM act WHERE job IN (SELECT job FROM account) "
	"OR job NOT IN (SELECT id FROM job);",
	("ALTER TABLE rank ADD COLUMN returns INT DEFAULT 0;"
	 "ALTER TABLE rank ADD COLUMN give_back INT DEFAULT 0;"),
	("ALTER TABLE rank ADD COLUMN late INT DEFAULT 0;"
	 "ALTER TABLE rank ADD COLUMN late_why INT DEFAULT 0;"),
	("CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INT,"
	 " who TEXT, what TEXT, target TEXT, detail TEXT, code INT, why TEXT);"
	 "CREATE INDEX audit_refused ON audit (who, seq) WHERE code;"
	 "CREATE TABLE known_key (identity TEXT PRIMARY KEY) WITHOUT ROWID;"),
	("CREATE TABLE array (id INTEGER PRIMARY KEY, last INT, exit INT,"
	 " reason INT, ended INT);"
	 "CREATE INDEX array_ended ON array (ended);"),
};

enum { VERSION = sizeof(steps) / sizeof(*steps) };

static int run_sql(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* The only column of the only row. */
static int ask_int(sqlite3 *db, const char *sql, int *ret)
{
	sqlite3_stmt *st;
	int r = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (r != SQLITE_OK)
		return r;
	if (sqlite3_step(st) == SQLITE_ROW)
		*ret = sqlite3_column_int(st, 0);
	return sqlite3_finalize(st);
}

/* Copy the store; the copy is readable by root alone, and synced to the disk. */
static int copy_to(sqlite3 *db, const char *path)
{
	char *sql;
	int r, fd;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return SQLITE_CANTOPEN;
	sql = sqlite3_mprintf("VACUUM INTO %Q", path);
	r = sql ? run_sql(db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (r == SQLITE_OK && fsync(fd) < 0)
		r = SQLITE_IOERR_FSYNC;
	close(fd);
	return r;
}

/* Keep the store as it was as PATH.vN, so that an older program can go on with it. */
static int keep_copy(sqlite3 *db, const char *path, int version,
		     struct error *err)
{
	char *to = xasprintf("%s.v%d", path, version),
	     *half = xasprintf("%s.new", to);
	int r = copy_to(db, half);

	if (r == SQLITE_OK && rename(half, to) < 0)
		r = SQLITE_CANTOPEN;
	if (r == SQLITE_OK) {
		log_info("store=%s layout=%d becomes=%d copy=%s", path, version,
			 VERSION, to);
	} else {
		unlink(half);
		error_set(err, -EIO,
			  "%s: it must be changed for this version of Stint, "
			  "and no copy can be kept as %s (%s): make room",
			  path, to, sqlite3_errstr(r));
	}
	free(half);
	free(to);
	return r;
}

int store_layout(sqlite3 *db, int from, int to)
{
	char set_version[40];
	int r = run_sql(db, "BEGIN EXCLUSIVE");

	for (int v = from; v < to && r == SQLITE_OK; v++)
		r = run_sql(db, steps[v]);
	snprintf(set_version, sizeof(set_version), "PRAGMA user_version=%d",
		 to);
	if (r == SQLITE_OK)
		r = run_sql(db, set_version);
	return r == SQLITE_OK ? run_sql(db, "COMMIT") : r;
}

int store_schema(sqlite3 *db, const char *path, struct error *err)
{
	int version = 0, tables = 0;
	int r = run_sql(db, "PRAGMA locking_mode=EXCLUSIVE;"
			    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
			    "PRAGMA secure_delete=ON;"
			    /* it is locked for us from here on */
			    "BEGIN EXCLUSIVE; COMMIT");

	if (r == SQLITE_OK)
		r = ask_int(db, "PRAGMA user_version", &version);
	if (r == SQLITE_OK)
		r = ask_int(db, "SELECT count(*) FROM sqlite_schema", &tables);
	if (r != SQLITE_OK || version == VERSION)
		return r;
	if (version > VERSION || version < 0) {
		error_set(err, -EPROTO,
			  "%s: it has layout %d and this Stint knows only %d: "
			  "install the newer Stint that wrote it",
			  path, version, VERSION);
		return SQLITE_SCHEMA;
	}
	if (tables)
		r = keep_copy(db, path, version, err);
	return r == SQLITE_OK ? store_layout(db, version, VERSION) : r;
}
