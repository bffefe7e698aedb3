/*
 * idle.h - an MPI that waits spins briefly, then blocks
 *
 * MPI libraries wait by calling one function without end that looks once at
 * every connection (ucp_worker_progress() of UCX, opal_progress() of Open MPI).
 * A core burns for nothing meanwhile, and where two ranks share one, the one
 * that waits keeps the other from what it waits for.
 *
 * Whoever stands in for such a function tells of each call:
 *
 *	idle_enter();
 *	n = the function itself();	... in which every look that found
 *					nothing is told by idle_looked()
 *	idle_leave(n > 0);
 *
 * and idle_leave() takes its time where nothing has happened for a while: it
 * waits until one of the descriptors of that very call is ready, or for at most
 * IDLE_WAIT_MAX.  Nothing is remembered of a descriptor from one call to the
 * next, so numbers may be closed and used again.
 *
 * How long it spins first is settled by what losing costs.  To be woken takes
 * some 25 us, so on a core of its own a rank spins for IDLE_SPIN.  After the
 * first calls it offers the core to others (sched_yield(), which comes back at
 * once where nobody wants it): if somebody took it, this rank does not spin at all
 * for IDLE_SHARED_FIRST, and for twice as long, up to IDLE_SHARED_MAX, each time
 * that the core is taken again where it is offered next.  The clock is read only every
 * few calls, and not in the first: a ping-pong never comes that far.
 *
 * Of a thread: a call of another one changes nothing here.  Nothing blocks
 * before idle_allow(IDLE_BLOCK), nor between idle_test_begin() and idle_test_end(),
 * with which the calls are wrapped that ask without waiting (MPI_Test).
 */
#ifndef PMI_PRELOAD_IDLE_H
#define PMI_PRELOAD_IDLE_H

#include <stdbool.h>

/* Nanoseconds. */
#define IDLE_SPIN	  50000
#define IDLE_SHARED_FIRST 1000000
#define IDLE_SHARED_MAX	  20000000
#define IDLE_WAIT_FIRST	  100000
#define IDLE_WAIT_MAX	  10000000

/*
 * Of the process: what waits may do.  Offering the core alone is for those that
 * hold a lock which other threads want; it saves no work, but lets another rank
 * have the core.
 */
enum idle_mode { IDLE_SPIN_ONLY, IDLE_OFFER, IDLE_BLOCK };

void idle_allow(enum idle_mode mode);

void idle_test_begin(void);
void idle_test_end(void);

/* Calls may be nested; the outermost one waits. */
void idle_enter(void);
bool idle_entered(void);

/*
 * The function has looked for `events` of poll() at fd.  Where it found some
 * (`found`), the call was not idle.
 */
void idle_looked(int fd, short events, bool found);

/* errno is left alone. */
void idle_leave(bool progressed);

#endif
