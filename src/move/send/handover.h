/*
 * handover.h - exclusive fcntl(F_SETLK) locks are handed from the process to its copy
 *
 * Only the process itself can release such a lock, and no third process may get it
 * before the copy has it.  No file system can hand a lock over.  But two processes can
 * hold a shared lock at a time, and a shared lock keeps every exclusive one out.  So
 * the process turns its lock into a shared one, the landing process takes a shared lock
 * as well, the process unlocks, and the landing process makes its lock exclusive.  That
 * is done for the first byte of each locked range, and only then for the rest of it.
 * So one of the two parts is locked exclusively at any instant, and nobody else can
 * lock the whole range, not even for reading.
 *
 * All that happens before READY, when the destination has everything else.  Until the
 * process is killed, its leader stands in the middle of a list of calls that ends in
 * taking the locks back, however long that takes; all other threads wait for that.  So
 * whichever party dies, the process neither runs without its locks nor beside a copy
 * that has them.
 */
#ifndef MOVE_SEND_HANDOVER_H
#define MOVE_SEND_HANDOVER_H

#include "move/fd/fds.h"
#include "move/tracee/tracee.h"
#include "move/wire/frame.h"

#define HANDOVER_TURNS 4

struct handover;

/*
 * Prepare to hand over those among these descriptors' locks of t that need it; NULL:
 * there are none. t and ch outlive it. beats: whom to tell that the destination makes
 * progress.
 */
struct handover *handover_create(struct tracee *t, struct channel *ch,
				 const struct frame_beats *beats,
				 const struct fds_source *fds);
void handover_free(struct handover *h); /* NULL is allowed */

/*
 * Hand the locks over; to be called after STATE was sent. NULL: nothing to do.
 */
int handover_run(struct handover *h, struct error *err) must_check;
/*
 * The move has failed: tell the destination why, because it has to unlock first, and
 * have the process take its locks back. NULL: nothing to do. Returns false if the
 * process has not got them yet: then it is left to itself, and goes on as soon as it
 * has them.
 */
bool handover_undo(struct handover *h, const char *why);
/*
 * Has handover_undo() returned false? Then t must not be resumed; its threads go on by
 * themselves when this process exits.
 */
bool handover_lasts(const struct handover *h);

#endif
