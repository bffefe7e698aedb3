#include "pmi/preload/idle.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "pmi/preload/apart.h"

enum {
	LOOKED_MAX = 64,
	CALLS_FIRST = 64, /* idle ones before the clock is read */
	CALLS_CLOCK = 8,  /* ... and from then on every so many */
	SHARED_FIRST = 2, /* the first that reads it where the core is shared */
	TAKEN = 10000,	  /* ns after which a yielded core was taken */
	OWN_AGAIN = 8,	  /* first offers of waits that nobody took, in a row */
};

static atomic_int allowed; /* enum idle_mode */

/*
 * Reached without a call, which the default model makes for each use: there are some
 * seven a poll.  Only libraries loaded at a program's start may ask for that.
 */
__attribute__((tls_model("initial-exec"))) static _Thread_local struct {
	unsigned depth, tests;
	struct pollfd looked[LOOKED_MAX];
	unsigned nr; /* more than LOOKED_MAX: too many to wait for */
	bool found;
	bool waited; /* this call has blocked already, where it looked */
	struct {
		int fd; /* the first */
		unsigned nr;
	} last;		/* what the last idle call looked at */
	unsigned calls; /* idle ones in a row */
	bool blocks;	/* it has blocked since something happened */
	bool timed_out; /* the last block ended by its bound */
	int64_t since;	/* of the idle calls; 0: the clock was not read */
	int64_t wait;	/* the next block's length */
	int64_t first;	/* that of a row's first one; 0: nothing is known yet */
	int64_t shared; /* for how long it did not spin, when taken; 0: core of its own */
	int64_t shared_end; /* when it may spin again */
	int untaken;	    /* first offers in a row that nobody took */
} idle;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void idle_allow(enum idle_mode mode)
{
	atomic_store_explicit(&allowed, (int)mode, memory_order_relaxed);
}

void idle_test_begin(void)
{
	idle.tests++;
}

void idle_test_end(void)
{
	idle.tests--;
}

void idle_begin(void)
{
	idle.calls = 0;
}

void idle_enter(void)
{
	if (idle.depth++)
		return;
	idle.nr = 0;
	idle.found = idle.waited = false;
}

bool idle_entered(void)
{
	return idle.depth;
}

void idle_looked(int fd, short events, bool found)
{
	idle.found |= found;
	if (idle.nr < LOOKED_MAX)
		idle.looked[idle.nr] =
			(struct pollfd){ .fd = fd, .events = events };
	if (idle.nr <= LOOKED_MAX)
		idle.nr++;
}

static int64_t doubled(int64_t wait)
{
	return wait * 2 < IDLE_WAIT_MAX ? wait * 2 : IDLE_WAIT_MAX;
}

static void has_blocked(bool event)
{
	idle.blocks = true;
	idle.wait = doubled(idle.wait);
	idle.timed_out = !event;
	if (event) {
		idle.calls = 0;
		idle.first = doubled(idle.first);
	}
}

static void block(void)
{
	struct timespec ts = { .tv_nsec = idle.wait };
	int saved = errno;

	/* A signal's handler may be what the program waits for. */
	has_blocked(apart_poll(idle.looked, idle.nr, &ts) > 0);
	errno = saved;
}

/*
 * Something has happened.  If no event told of it, the bound ended the wait, and the
 * next ones' must be short again.
 */
static void row_ends(bool happened)
{
	if (idle.timed_out && happened)
		idle.first = IDLE_WAIT_FIRST;
	idle.calls = 0;
}

/*
 * A thread that ran here once may be a passing one; one that is found each time
 * shares the core.
 */
static void taken(int64_t at)
{
	idle.shared = idle.shared ? 2 * idle.shared : IDLE_SHARED_FIRST;
	if (idle.shared > IDLE_SHARED_MAX)
		idle.shared = IDLE_SHARED_MAX;
	idle.shared_end = at + idle.shared;
	idle.untaken = 0;
}

/* The first offer of a wait tells most: later ones are made where nobody computes. */
static void not_taken(void)
{
	if (idle.calls == SHARED_FIRST && ++idle.untaken >= OWN_AGAIN)
		idle.shared = 0;
}

/* Whether it has spun long enough; offers the core to others meanwhile. */
static bool spun(void)
{
	int64_t before = now(), after;

	if (!idle.since)
		idle.since = before;
	if (before < idle.shared_end)
		return true;
	sched_yield();
	after = now();
	if (after - before > TAKEN) {
		taken(after);
		return true;
	}
	not_taken();
	return after - idle.since >= IDLE_SPIN;
}

/* In a row of idle calls: the first two tell of nothing yet. */
static bool clock_is_due(void)
{
	if (idle.shared)
		return idle.calls % CALLS_CLOCK == SHARED_FIRST;
	return idle.calls >= CALLS_FIRST && idle.calls % CALLS_CLOCK == 0;
}

static enum idle_mode allowed_mode(void)
{
	return (enum idle_mode)atomic_load_explicit(&allowed,
						    memory_order_relaxed);
}

/* The call would block when it has looked, without asking anything first. */
static bool would_block(void)
{
	if (idle.blocks || !idle.shared)
		return idle.blocks && idle.calls;
	return idle.calls + 1 == SHARED_FIRST && now() < idle.shared_end;
}

bool idle_waits_here(int fd, unsigned n, struct timespec *ret_bound)
{
	if (!would_block() || idle.nr || fd != idle.last.fd ||
	    n != idle.last.nr || idle.tests || allowed_mode() != IDLE_BLOCK)
		return false;
	*ret_bound = (struct timespec){ .tv_nsec = idle.wait };
	return true;
}

void idle_waited_here(bool event)
{
	idle.waited = true;
	has_blocked(event);
}

static void idle_call(enum idle_mode mode)
{
	idle.last.fd = idle.looked[0].fd;
	idle.last.nr = idle.nr;
	if (!idle.calls++) {
		idle.since = 0;
		idle.blocks = false;
		if (!idle.first)
			idle.first = IDLE_WAIT_FIRST;
		idle.wait = idle.first;
	}
	if (mode == IDLE_OFFER) {
		if (clock_is_due())
			sched_yield();
	} else if (!idle.waited &&
		   (idle.blocks || (clock_is_due() && spun()))) {
		block();
	}
}

void idle_leave(bool progressed)
{
	enum idle_mode mode = allowed_mode();

	if (--idle.depth)
		return;
	if (progressed || idle.found || idle.nr > LOOKED_MAX || idle.tests ||
	    mode == IDLE_SPIN_ONLY)
		row_ends(progressed || idle.found);
	else if (idle.nr)
		idle_call(mode);
}
