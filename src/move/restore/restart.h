/*
 * restart.h - at the destination: calls that a signal may still end
 *
 * Whether a handler ends an interrupted call or the call is made again after
 * it, the kernel decides, at the moment a thread goes on, by registers that
 * rt_sigreturn cannot write and ptrace can (settle_give_back() in tracee/tracee.h). So
 * a thread in such a call, for which some signal has a handler that ends it,
 * is traced from READY until it has gone on: its list of calls ends in a
 * signal that only a tracer minds, and the tracer stops it once more where its
 * rt_sigreturn has put everything back.
 *
 * Should the tracer die the thread goes on by itself and makes its call
 * again.  So it does where it may not be traced (it is not dumpable, and we
 * have no privilege), or handles all signals that do no harm by default.
 */
#ifndef MOVE_RESTORE_RESTART_H
#define MOVE_RESTORE_RESTART_H

#include "move/land/land.h"
#include "move/wire/state.pb-c.h"

/* The signal that thread i has to send itself before its end, or 0. */
int restart_signal(const Move__State *s, const Move__Thread *t);

/* Trace all that need it; they stand before the release.  NULL: none. */
struct restart *restart_begin(const struct landing *l, const Move__State *s);
/* They are released: see each off.  Returns after a second at the latest. */
void restart_finish(struct restart *r);
/* Let go of who is left, and free. */
void restart_end(struct restart *r);

#endif
