/*
 * store_copy.c - a copy of the store, made while it is used, see store_copy.h
 *
 * SQLite's backup.  Since the store's own connection writes the store, what it commits to
 * pages that are copied already it puts into the copy as well, and nothing begins anew.
 */
#include "cluster/controller/state/store_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/controller/state/store_priv.h"
#include "core/clock.h"
#include "core/xalloc.h"

enum { PAGES = 16 }; /* between two looks at the clock */

#define STEP (1 * USEC_PER_MSEC)

struct store_copy {
	struct store *store;
	sqlite3 *db; /* NULL once it is whole */
	sqlite3_backup *backup;
	int fd;
	uint64_t size;
};

/* It is written once and read by us alone: nothing is journaled or synced. */
static int open_file(struct store_copy *c, const char *path, struct error *err)
{
	int r;

	(void)unlink(path);
	c->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return error_sys(err, -errno, "%s", path);
	r = sqlite3_open_v2(path, &c->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(c->db,
				 "PRAGMA journal_mode=OFF;"
				 "PRAGMA synchronous=OFF;"
				 "PRAGMA locking_mode=EXCLUSIVE;"
				 "PRAGMA cache_size=-256",
				 NULL, NULL, NULL);
	(void)unlink(path);
	return r == SQLITE_OK
		       ? 0
		       : error_set(err, -EIO, "%s: %s", path,
				   c->db ? sqlite3_errmsg(c->db) : "no memory");
}

/* Its size, and that of its log, which has what is not in it yet. */
static uint64_t size_of(const struct store *s)
{
	struct stat db = { .st_size = 0 }, wal = { .st_size = 0 };

	if (s->fd >= 0)
		(void)!fstat(s->fd, &db);
	if (s->wal_fd >= 0)
		(void)!fstat(s->wal_fd, &wal);
	return (uint64_t)(db.st_size + wal.st_size);
}

static int no_room(const struct store *s, struct error *err)
{
	return error_set(err, -ENOSPC,
			 "the disk of %s has no room for a copy: it takes %llu "
			 "MB there until it is sent",
			 sqlite3_db_filename(s->db, "main"),
			 (unsigned long long)size_of(s) / 1000000 + 1);
}

int store_copy_begin(struct store *s, struct store_copy **ret,
		     struct error *err)
{
	struct store_copy *c;
	char *path;
	int r;

	if (!store_room_for(s, size_of(s)))
		return no_room(s, err);
	c = xcalloc(1, sizeof(*c));
	c->store = s;
	path = xasprintf("%s.copy", sqlite3_db_filename(s->db, "main"));
	r = open_file(c, path, err);
	if (!r)
		c->backup = sqlite3_backup_init(c->db, "main", s->db, "main");
	if (!r && !c->backup)
		r = error_set(err, -EIO, "%s: %s", path, sqlite3_errmsg(c->db));
	free(path);
	if (r < 0)
		store_copy_end(c);
	else
		*ret = c;
	return r;
}

/*
 * The header says that there may be a log beside the store; beside a copy there is none,
 * and who opens it need not make one.
 */
static int make_whole(struct store_copy *c, struct error *err)
{
	static const char no_log[2] = { 1, 1 };
	struct stat st;
	int r = sqlite3_backup_finish(c->backup);

	c->backup = NULL;
	if (r == SQLITE_OK)
		r = sqlite3_close(c->db);
	if (r != SQLITE_OK)
		return error_set(err, -EIO, "copying: %s", sqlite3_errstr(r));
	c->db = NULL;
	if (pwrite(c->fd, no_log, sizeof(no_log), 18) != sizeof(no_log) ||
	    fstat(c->fd, &st) < 0)
		return error_sys(err, -errno, "copying");
	c->size = (uint64_t)st.st_size;
	return 1;
}

int store_copy_step(struct store_copy *c, struct error *err)
{
	usec_t end = clock_usec(CLOCK_MONOTONIC) + STEP;
	int r;

	if (store_room(c->store) == STORE_ROOM_NONE)
		return no_room(c->store, err);
	store_commit(c->store);
	do
		r = sqlite3_backup_step(c->backup, PAGES);
	while (r == SQLITE_OK && clock_usec(CLOCK_MONOTONIC) < end);
	if (r == SQLITE_DONE)
		return make_whole(c, err);
	if (r == SQLITE_OK)
		return 0;
	return r == SQLITE_FULL
		       ? no_room(c->store, err)
		       : error_set(err, -EIO, "copying: %s", sqlite3_errstr(r));
}

uint64_t store_copy_size(const struct store_copy *c)
{
	return c->size;
}

int store_copy_read(const struct store_copy *c, uint64_t from, void *p,
		    size_t n, struct error *err)
{
	ssize_t r = pread(c->fd, p, n, (off_t)from);

	if (r == (ssize_t)n)
		return 0;
	return error_sys(err, r < 0 ? -errno : -EIO, "reading the copy");
}

void store_copy_end(struct store_copy *c)
{
	if (!c)
		return;
	sqlite3_backup_finish(c->backup);
	sqlite3_close(c->db);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

/* ---- a copy that somebody has */

/* The first column of the first row, fresh; NULL: there is none. */
static char *ask_text(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;
	char *text = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		text = xstrdup((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return text;
}

int store_copy_check(const char *path, uint64_t *ret, struct error *err)
{
	char *said = NULL, *jobs = NULL;
	sqlite3 *db;
	int r = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);

	if (r == SQLITE_OK)
		said = ask_text(db, "PRAGMA integrity_check(1)");
	if (said && !strcmp(said, "ok"))
		jobs = ask_text(db, "SELECT count(*) FROM job");
	if (jobs)
		*ret = strtoull(jobs, NULL, 10);
	r = jobs ? 0
		 : error_set(err, -EBADMSG, "%s is no whole store: %s", path,
			     said && strcmp(said, "ok") ? said
			     : db			? sqlite3_errmsg(db)
							: "no memory");
	free(said);
	free(jobs);
	sqlite3_close(db);
	return r;
}
