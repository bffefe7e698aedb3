/*
 * locks.c - locks by fcntl(F_SETLK), which L takes itself
 *
 * By now nothing closes those files any more.  The exclusive ones that the
 * source hands over come by turns, see send/handover.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/units.h"
#include "move/fd/fds.h"
#include "move/restore/restore.h"
#include "move/wire/frame.h"

#define RETAKES 100 /* tries to get a lock, a millisecond apart */

static int take_lock(struct landing *l, int fd, const struct flock *range,
		     int type, struct error *err)
{
	struct flock fl = *range;
	uint64_t at;
	int r;

	fl.l_type = (short)type;
	r = landing_data(l, &fl, sizeof(fl), &at, err);
	if (!r)
		r = landing_call(l, "a lock by fcntl(F_SETLK)", SYS_fcntl,
				 (uint64_t)fd, F_SETLK, at, 0, 0, 0, err);
	return r;
}

/* The part of each lock that is handed over in this turn. */
static int take_parts(struct landing *l, bool rest, int type, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < l->nr_locks && !r; i++) {
		const struct fds_lock *k = &l->lock[i];
		struct flock part = fds_lock_first(k);

		if (k->handed && (!rest || fds_lock_rest(k, &part)))
			r = take_lock(l, k->fd, &part, type, err);
	}
	return r < 0 ? r : landing_flush(l, err);
}

/*
 * Taken while the source still has its own lock, so that no other process gets an
 * exclusive one.
 */
static int share(struct landing *l, bool rest, struct error *err)
{
	return take_parts(l, rest, F_RDLCK, err);
}

/*
 * The source has let go; another process that has a shared lock may let go soon, too.
 */
static int own(struct landing *l, bool rest, struct error *err)
{
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	int r = -EAGAIN;

	for (int i = 0; i < RETAKES && (r == -EAGAIN || r == -EACCES); i++) {
		if (i)
			nanosleep(&pause, NULL);
		r = take_parts(l, rest, F_WRLCK, err);
	}
	if (r == -EAGAIN || r == -EACCES)
		return error_set(
			err, r,
			"a lock by fcntl(F_SETLK) cannot be handed over: somebody has just taken a shared one beside it");
	return r;
}

/* Let the source take its turn in handing over, and wait until it is done. */
static int turn(struct landing *l, uint64_t nr, struct error *err)
{
	struct frame f = { 0 };
	int r = frame_send_u64(l->ch, FRAME_LOCKS, nr, err);

	if (!r)
		r = frame_expect_u64(l->ch, &f, FRAME_LOCKS, nr, err);
	frame_clear(&f);
	return r;
}

static bool some_are_handed(const struct landing *l)
{
	for (size_t i = 0; i < l->nr_locks; i++)
		if (l->lock[i].handed)
			return true;
	return false;
}

int restore_locks(struct landing *l, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < l->nr_locks && !r; i++) {
		const struct fds_lock *k = &l->lock[i];

		if (!k->handed)
			r = take_lock(l, k->fd, &k->range, k->range.l_type,
				      err);
	}
	if (r < 0 || !some_are_handed(l))
		return r;
	r = landing_flush(l, err);
	if (!r)
		r = turn(l, 0, err);
	if (!r)
		r = share(l, false, err);
	if (!r)
		r = turn(l, 1, err);
	if (!r)
		r = own(l, false, err);
	if (!r)
		r = turn(l, 2, err);
	if (!r)
		r = share(l, true, err);
	if (!r)
		r = turn(l, 3, err);
	return r < 0 ? r : own(l, true, err);
}
