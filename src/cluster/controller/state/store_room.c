/*
 * store_room.c - the reserve of the store's files, see store.h
 *
 * The reserve consists of blocks of the files themselves, beyond their ends: a separate
 * file that is deleted when room is needed would only make room for whoever fills the
 * disk.  A checkpoint cuts the database's reserve off, so it is allocated again after
 * each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cluster/controller/state/store_priv.h"
#include "core/clock.h"
#include "core/xalloc.h"

enum {
	CHECKPOINT_PAGES = 1000, /* SQLite's default */
	LOW = 8,		 /* room counts as low below so many reserves */
	LOOKS_AFTER = 10000,	 /* microseconds */
	BLOCK = 512,		 /* what stat() counts in */
	AHEAD = 256 << 10,	 /* beyond the reserve */
};

/* Blocks that tell where the others are count, too: less than AHEAD. */
static bool has_reserve(const struct stat *st)
{
	return st->st_blocks * BLOCK >= st->st_size + STORE_RESERVE + AHEAD;
}

/*
 * Preallocate the reserve, and some more, or each look would change the file's inode, which
 * the next commit would have to write.  Anew: what lies beyond the end now may be what the
 * file system allocated for itself, and takes back.  False if the disk lacks the blocks;
 * true if the file system cannot reserve any.
 */
static bool hold_reserve(int fd, bool anew, uint64_t *ret_size)
{
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return true;
	*ret_size = (uint64_t)st.st_size;
	if (!anew && has_reserve(&st))
		return true;
	do {
		r = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0,
			      st.st_size + STORE_RESERVE + 2 * AHEAD);
	} while (r < 0 && errno == EINTR);
	return !r || (errno != ENOSPC && errno != EDQUOT);
}

static enum store_room look(struct store *s, bool anew)
{
	struct statvfs v;
	uint64_t size = 0, left = UINT64_MAX;
	bool held = hold_reserve(s->wal_fd, anew, &size) &&
		    hold_reserve(s->fd, anew, &size);

	if (s->fd >= 0 && !fstatvfs(s->fd, &v))
		left = (uint64_t)v.f_bavail * v.f_frsize;
	if (!held || left == 0)
		s->room = STORE_ROOM_NONE;
	else if (left < LOW * (uint64_t)STORE_RESERVE)
		s->room = STORE_ROOM_LOW;
	else
		s->room = STORE_ROOM;
	s->room_seen = clock_usec(CLOCK_MONOTONIC);
	return s->room;
}

/* A submit asks several times, and many come at once. */
enum store_room store_room(struct store *s)
{
	return clock_usec(CLOCK_MONOTONIC) - s->room_seen < LOOKS_AFTER
		       ? s->room
		       : look(s, false);
}

bool store_room_for(struct store *s, uint64_t bytes)
{
	struct statvfs v;

	return s->fd < 0 || fstatvfs(s->fd, &v) < 0 ||
	       (uint64_t)v.f_bavail * v.f_frsize >=
		       bytes + LOW * (uint64_t)STORE_RESERVE;
}

static int on_written(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct store *s = ctx;

	if (pages < CHECKPOINT_PAGES)
		return SQLITE_OK;
	/* If this fails, the log keeps growing, into its own reserve. */
	(void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE,
					NULL, NULL);
	look(s, true);
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
	look(s, true);
}

void store_room_clear(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->wal_fd >= 0)
		close(s->wal_fd);
}
