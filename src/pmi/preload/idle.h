/*
 * idle.h - an MPI that waits spins briefly, then blocks
 *
 * MPI libraries wait by calling one function in a loop, which polls every
 * connection once (ucp_worker_progress() of UCX, opal_progress() of Open MPI).
 * That wastes a core; where two ranks share a core, the waiting one even keeps
 * the other from the work that it waits for.
 *
 * A wrapper of such a function reports each call:
 *
 *	idle_enter();
 *	n = the function itself();	... polls are told by idle_looked()
 *	idle_leave(n > 0);
 *
 * and idle_leave() blocks when nothing has happened for a while: until one of
 * the descriptors of that call is ready, for at most IDLE_WAIT_MAX.
 * Descriptors are not remembered for that from one call to the next, so numbers
 * may be closed and reused.
 *
 * Where it is clear before a look that it would end in a block, the look itself waits
 * (idle_waits_here()): two system calls instead of three, and no progress function
 * called again to find what ended the block.
 *
 * How long it spins first: being woken costs some 25 us, so on a core of its
 * own a rank spins for IDLE_SPIN.  After the first calls it yields the core
 * (sched_yield(), which returns at once if nobody wants the core): if another
 * thread ran, this rank does not spin at all for IDLE_SHARED_FIRST, and then
 * offers the core at the beginning of each wait, until nobody has taken it for a
 * while; if somebody does, that time doubles, up to IDLE_SHARED_MAX.  The clock is
 * read only every few calls, and on a core of its own not in the first ones: a
 * ping-pong never gets that far.
 *
 * How long it blocks: until the event, so in the end for IDLE_WAIT_MAX at most.
 * Some waits end otherwise than by a descriptor, and are noticed by the bound alone;
 * it begins with IDLE_WAIT_FIRST and doubles, within a wait, and from one wait to the next
 * as long as they end by their events.
 *
 * All state is per thread.  Nothing blocks before idle_allow(IDLE_BLOCK), nor
 * between idle_test_begin() and idle_test_end(), which enclose calls that test
 * without waiting (MPI_Test).  idle_begin() tells that a call begins that polls
 * once even if it has nothing to wait for (MPI_Win_flush): many of them in a row
 * are no wait, and what was idle before says nothing of this one.
 */
#ifndef PMI_PRELOAD_IDLE_H
#define PMI_PRELOAD_IDLE_H

#include <stdbool.h>
#include <time.h>

/* Nanoseconds. */
#define IDLE_SPIN	  50000
#define IDLE_SHARED_FIRST 1000000
#define IDLE_SHARED_MAX	  20000000
#define IDLE_WAIT_FIRST	  100000
#define IDLE_WAIT_MAX	  10000000

/*
 * For the process: what a wait may do.  IDLE_OFFER only yields the core: for
 * libraries that wait with a lock held which other threads need.  It saves no
 * CPU time, but lets another rank run.
 */
enum idle_mode { IDLE_SPIN_ONLY, IDLE_OFFER, IDLE_BLOCK };

void idle_allow(enum idle_mode mode);

void idle_test_begin(void);
void idle_test_end(void);
void idle_begin(void);

/* Calls may be nested; the outermost one waits. */
void idle_enter(void);
bool idle_entered(void);

/*
 * The function has polled fd for `events`.  If it found some (`found`), the
 * call was not idle.
 */
void idle_looked(int fd, short events, bool found);

/*
 * The function is about to poll n descriptors, fd the first, without waiting.  True: it
 * shall wait for them for at most *ret_bound instead, and tell by idle_waited_here(),
 * before idle_looked(), whether an event ended that.  Only where the idle call before
 * looked at as many and no others, so that nothing else goes unheard.
 */
bool idle_waits_here(int fd, unsigned n, struct timespec *ret_bound);
void idle_waited_here(bool event);

/* Preserves errno. */
void idle_leave(bool progressed);

#endif
