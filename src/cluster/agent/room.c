/*
 * room.c - a host whose run directory is full takes no ranks
 *
 * A keeper could not write there what it must, and its rank would fail at once.  As the
 * host would then be free again, it would make one job after the other fail.
 */
#include <errno.h>
#include <sys/statvfs.h>

#include "cluster/agent/priv.h"

/* What must be left: the files of a keeper and its rank take less. */
enum { ROOM_BYTES = 1 << 20, ROOM_FILES = 64 };

static bool lacks_room(const struct agent *a)
{
	struct statvfs fs;

	if (statvfs(a->conf->run_dir, &fs) < 0)
		return false; /* starting a keeper will say why */
	/* Some file systems have no bound of files, and say that with zeros. */
	return fs.f_bavail * fs.f_frsize < ROOM_BYTES ||
	       (fs.f_files && fs.f_favail < ROOM_FILES);
}

int room_admits(const struct agent *a, struct error *err)
{
	return lacks_room(a)
		       ? error_set(err, -ENOSPC,
				   "%s takes no ranks: there is no room in "
				   "%s",
				   a->name, a->conf->run_dir)
		       : 0;
}

enum closed room_closed(const struct agent *a, enum closed why)
{
	return why == CLOSED_NOT && lacks_room(a) ? CLOSED_DISK : why;
}
