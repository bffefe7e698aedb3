/*
 * restore_ops.h - what fds_restore() is given, and what is open before it
 */
#ifndef MOVE_FDKIT_RESTORE_OPS_H
#define MOVE_FDKIT_RESTORE_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/*
 * In F, while the process still runs: open the files that fds_look() told of,
 * and close those that it opened before and that the process has no more; make
 * room in the table for all. *early is NULL at first and becomes
 * fds_restore_ops.early. Goes on after an error and returns the first one.
 */
struct fds_early;
int fds_open_early(struct fds_early **early, const void *paths, size_t n,
		   struct error *err) must_check;
void fds_early_destroy(struct fds_early *early); /* NULL is allowed */

/* fds_queues() hands over the next bytes. */
typedef int fds_put_fn(void *ctx, const void *p, size_t n, struct error *err);

struct fds_restore_ops {
	/*
	 * The process's end of the new external called name; fds_restore()
	 * owns it from then on.  If *ret_far is set it is a duplicate of the
	 * far end, also owned, through which bytes that the process had not
	 * read at the source are put back; -1 will do for pipes.  Nothing may
	 * be written to the far end until fds_restore() has returned.  Called
	 * once a name.  Negative errno on failure.
	 */
	int (*external)(void *ctx, const char *name, int *ret_far,
			struct error *err);
	/*
	 * The memfd that is mapped already for the object with that inode
	 * number at the source, one of reserved[]; -ENOENT if there is none.
	 * NULL: there never is one.
	 */
	int (*object)(void *ctx, uint64_t dev, uint64_t ino);
	/*
	 * The next n bytes of queues, as fds_queues() gives them at the source.
	 * NULL: there are none.
	 */
	int (*queue)(void *ctx, void *p, size_t n, struct error *err);
	/* The process's CLOCK_MONOTONIC less the caller's, ns. */
	int64_t clock_shift;
	struct fds_early *early; /* or NULL; fds_restore() takes from it */
};

#endif
