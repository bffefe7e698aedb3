/*
 * capture_leader.h - what a process has once, as its leader tells it: the second
 * half of the leader's list of calls (capture.c)
 */
#ifndef MOVE_STATE_CAPTURE_LEADER_H
#define MOVE_STATE_CAPTURE_LEADER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "move/tracee/settings.h"
#include "move/tracee/tracee.h"
#include "move/wire/state.pb-c.h"

#define LEADER_SIGNALS 64
#define LEADER_GROUPS  256
#define LEADER_TIMERS  256

struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

/* What the leader's calls write into box.data. */
struct leader_data {
	struct kernel_action action[LEADER_SIGNALS];
	struct itimerval itimer[3];
	struct itimerspec timer[LEADER_TIMERS];
	uint32_t uid[3], gid[3];
	uint32_t groups[LEADER_GROUPS];
	uint64_t setting[SETTINGS];
	uint64_t xcomp;
	struct timespec now; /* after the timers were read */
	struct timespec cpu;
};

enum leader_call {
	L_BRK,
	L_PERSONALITY,
	L_DUMPABLE,
	L_KEEPCAPS,
	L_SECBITS,
	L_MEMBARRIER,
	L_XCOMP,
	L_CPU,
	L_UID,
	L_GID,
	L_GROUPS,
	L_SETTINGS,
	L_ITIMER = L_SETTINGS + SETTINGS - SETTINGS_OF_THREAD,
	L_ACTION = L_ITIMER + 3,
	L_TIMER = L_ACTION + LEADER_SIGNALS,
};

/* One of a list, as stub.h has them. */
static inline void call_set(struct stub_call *c, long nr, uint64_t a,
			    uint64_t b, uint64_t x, uint64_t d)
{
	*c = (struct stub_call){ .nr = nr, .arg = { a, b, x, d } };
}

/* The most calls that the leader makes about the process. */
#define LEADER_CALLS (L_TIMER + LEADER_TIMERS + 1)

/*
 * Write the calls to c, which has room for LEADER_CALLS, and return how many they
 * are.  at: where their struct leader_data will lie in the process; s has its
 * timers (timers_read()).
 */
size_t leader_calls(struct stub_call *c, uint64_t at, Move__State *s);
/*
 * Once they are made: put what they returned into s, which has the threads, the
 * leader first and with credentials.
 */
void leader_take(const struct tracee *t, Move__State *s,
		 const struct leader_data *d, const struct stub_call *c);

#endif
