/*
 * restart.h - at the destination: calls that a signal may still end
 *
 * When a thread continues, the kernel decides whether a signal handler ends the
 * interrupted call or the call is restarted, by registers that ptrace can write
 * but rt_sigreturn cannot (settle_give_back() in tracee/tracee.h). So a thread
 * in such a call, for which some signal has a handler that ends it, is traced
 * from READY until it has continued: its list of calls ends in a signal that
 * has an effect only on a tracer, which stops it once more when its
 * rt_sigreturn has restored everything.
 *
 * If the tracer dies, the thread continues by itself and restarts its call.
 * The same happens if it cannot be traced (it is not dumpable, and we have no
 * privilege), or has handlers for all signals that are ignored by default.
 */
#ifndef MOVE_RESTORE_RESTART_H
#define MOVE_RESTORE_RESTART_H

#include "move/land/land.h"
#include "move/wire/state.pb-c.h"

/* The signal that thread i has to send itself before its end, or 0. */
int restart_signal(const Move__State *s, const Move__Thread *t);

/* Trace all threads that need it, which wait for the release.  NULL: none. */
struct restart *restart_begin(const struct landing *l, const Move__State *s);
/*
 * After the release: follow each thread until it has continued.  Returns after
 * a second at the latest.
 */
void restart_finish(struct restart *r);
/* Detach from the remaining threads, and free. */
void restart_end(struct restart *r);

#endif
