/*
 * handover.h - exclusive locks by fcntl(F_SETLK) go from copy to copy
 *
 * Only the process can give them up, and nobody else may have one before the
 * destination has.  No file system hands a lock over, but a shared one can be
 * had by two at a time, and stands in the way of any exclusive one: so the
 * process makes its own a shared one, the landing process takes a shared one
 * beside it, the process lets go, and the landing process makes its own
 * exclusive.  That is done for the first byte of each, and only then for what
 * is left: at any instant one of the two parts is exclusive, and who wants all
 * of it, if only to read, does not get it.
 *
 * All that is before READY, when the destination has all else.  Until
 * the process has been killed its leader stands in the middle of a list of
 * calls that ends in taking its locks back, however long that takes; all other
 * threads wait for it.  So, whoever dies, the process does not run without
 * them, nor beside a copy that has them.
 */
#ifndef MOVE_SEND_HANDOVER_H
#define MOVE_SEND_HANDOVER_H

#include "move/fd/fds.h"
#include "move/tracee/tracee.h"

#define HANDOVER_TURNS 4

struct handover;

/*
 * Of the locks among these descriptors of t; NULL: there are none.  t and ch
 * outlive it.
 */
struct handover *handover_create(struct tracee *t, struct channel *ch,
				 const struct fds_source *fds);
void handover_free(struct handover *h); /* NULL is allowed */

/* After STATE.  NULL: nothing to do. */
int handover_run(struct handover *h, struct error *err) must_check;
/*
 * The move has failed: tell the destination why, as it has to let go first, and
 * have the locks taken back.  NULL: nothing to do.  False if that lasts: the
 * process is left to itself, and goes on once it has them.
 */
bool handover_undo(struct handover *h, const char *why);
/*
 * It has been left so: t is not to be resumed, and its threads go on when we
 * let go of them by exit.
 */
bool handover_lasts(const struct handover *h);

#endif
