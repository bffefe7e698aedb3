/*
 * store_room.c - writing the store, also where the disk is full, see store.h
 *
 * The reserve is blocks of the files themselves, beyond their ends: a file kept
 * beside them and given up when it is needed would be eaten by whoever fills the
 * disk.  A checkpoint cuts the database's off, so it is taken again after each.
 *
 * A transaction that fails may have been rolled back by SQLite, so its
 * statements are kept until it is committed, and said again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cluster/store_priv.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	CHECKPOINT_PAGES = 1000, /* SQLite's own default */
	AGAIN_MS = 50,
	TELL_EVERY = 1200, /* of these: a minute */
	LOW = 8,	   /* reserves */
};

/* ---- once more ---- */

/*
 * What the controller would promise from now on could not be kept; what it has
 * promised is in the file.  So it ends here, as if it were killed.
 */
void store_give_up(struct store *s)
{
	log_warnx("%s: %s; jobs run on: once it can be written, start the "
		  "controller again",
		  sqlite3_db_filename(s->db, "main"), sqlite3_errmsg(s->db));
	_exit(EXIT_FAILURE);
}

static int run(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

/* The whole transaction, as far as it was. */
static int put_again(struct store *s)
{
	int r = SQLITE_OK;

	if (!sqlite3_get_autocommit(s->db))
		r = run(s, "ROLLBACK");
	if (r == SQLITE_OK)
		r = run(s, "BEGIN");
	for (size_t i = 0; i < s->nr_put && r == SQLITE_OK; i++)
		r = run(s, s->put[i]);
	return r;
}

/* Signals are blocked, and nobody else looks at them just now. */
static bool told_to_end(void)
{
	sigset_t set;

	return !sigpending(&set) &&
	       (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

void store_again(struct store *s, int code)
{
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };

	for (unsigned n = 0; code != SQLITE_OK; n++) {
		if (((code & 0xff) != SQLITE_FULL &&
		     (code & 0xff) != SQLITE_IOERR) ||
		    told_to_end())
			store_give_up(s);
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

void store_begin(struct store *s)
{
	int r;

	if (s->in_transaction)
		return;
	s->in_transaction = true;
	r = run(s, "BEGIN");
	if (r != SQLITE_OK)
		store_again(s, r);
}

void store_note(struct store *s, sqlite3_stmt *st)
{
	char *text = sqlite3_expanded_sql(st);

	if (!text)
		store_give_up(s);
	array_room(s->put, s->nr_put, &s->cap_put);
	s->put[s->nr_put++] = text;
}

static void forget_put(struct store *s)
{
	while (s->nr_put)
		sqlite3_free(s->put[--s->nr_put]);
}

void store_commit(struct store *s)
{
	int r;

	if (!s->in_transaction)
		return;
	while ((r = run(s, "COMMIT")) != SQLITE_OK)
		store_again(s, r);
	forget_put(s);
	s->in_transaction = false;
}

/* ---- the reserve ---- */

/* False if there are not so many blocks; where none can be had, nobody knows. */
static bool hold(int fd, uint64_t *ret_size)
{
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return true;
	*ret_size = (uint64_t)st.st_size;
	do {
		r = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0,
			      st.st_size + STORE_RESERVE);
	} while (r < 0 && errno == EINTR);
	return r == 0 || (errno != ENOSPC && errno != EDQUOT);
}

enum store_room store_room(struct store *s)
{
	struct statvfs v;
	uint64_t size = 0, left = UINT64_MAX;
	bool held = hold(s->wal_fd, &size) && hold(s->fd, &size);

	if (s->fd >= 0 && !fstatvfs(s->fd, &v))
		left = (uint64_t)v.f_bavail * v.f_frsize;
	if (!held || left == 0)
		s->room = STORE_ROOM_NONE;
	else if (left < LOW * (uint64_t)STORE_RESERVE)
		s->room = STORE_ROOM_LOW;
	else
		s->room = STORE_ROOM;
	return s->room;
}

static int on_written(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct store *s = ctx;

	if (pages < CHECKPOINT_PAGES)
		return SQLITE_OK;
	/* Should it fail the log goes on growing, into its own reserve. */
	(void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE,
					NULL, NULL);
	store_room(s);
	return SQLITE_OK;
}

void store_room_init(struct store *s, const char *path)
{
	char *wal = xasprintf("%s-wal", path);
	int persist = 1;

	s->fd = open(path, O_RDWR | O_CLOEXEC);
	s->wal_fd = open(wal, O_RDWR | O_CLOEXEC);
	free(wal);
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	sqlite3_wal_hook(s->db, on_written, s);
	store_room(s);
}

void store_room_clear(struct store *s)
{
	forget_put(s);
	free(s->put);
	if (s->fd >= 0)
		close(s->fd);
	if (s->wal_fd >= 0)
		close(s->wal_fd);
}
