/*
 * cpuclock.h - CPU clocks that go on at the destination, for who asks the vdso
 *
 * A process's CPU time begins at 0 where it lands, and no call sets it.  But who
 * asks by clock_gettime() of the C library (clock(), Python's process_time())
 * comes through the vdso, which hands these clocks on to the kernel.  In the
 * process's copy of it that one call is replaced by code that adds what was used
 * before.  The bytes of the call itself stay where they are, so a thread or a
 * signal frame may stand anywhere in it, and nothing else becomes slower.
 *
 * What is added goes by pid and tid, for the copy is inherited by children, whose
 * time begins at 0.  exec() brings a fresh vdso.
 */
#ifndef MOVE_TRACEE_CPUCLOCK_H
#define MOVE_TRACEE_CPUCLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "move/tracee/tracee.h"
#include "move/wire/state.pb-c.h"

#define CPUCLOCK_PROCESS 0x80000000u
#define CPUCLOCK_MOST	 64 /* fewer, where the vdso has no room */

struct cpuclock {
	uint32_t id; /* tid, or CPUCLOCK_PROCESS | pid */
	int64_t nsec;
};

/*
 * Have an image of n bytes add these; the first ones, if there is no room for
 * all: how many.  0: it is not one that we know how to change.
 */
size_t cpuclock_patch(uint8_t *image, size_t n, const struct cpuclock *c,
		      size_t nr);
/*
 * What it adds, at most CPUCLOCK_MOST, and make it again what it was.  The
 * image is not trusted.
 */
size_t cpuclock_unpatch(uint8_t *image, size_t n, struct cpuclock *ret);

/* Before the freeze: where s's process has its vdso, or what took its place. */
void cpuclock_find(pid_t pid, Move__State *s);
/*
 * Its area is there.  If that adds anything, no thread is to be taken from its
 * middle: what it has read would get what is added there.
 */
void cpuclock_avoid(struct tracee *t, const Move__State *s);
/* That, as pid has it; fresh.  -errno: it has none. */
int cpuclock_image(pid_t pid, const Move__State *s, uint8_t **ret);
/* As far as its vdso tells, for how many clocks a copy of it has room. */
size_t cpuclock_room(pid_t pid, const Move__State *s);
/* The kernel tells that of a clock; the process's first. */
void cpuclock_take(Move__State *s, uint32_t id, const struct timespec *used);
/* To what the kernel told of its clocks: what its vdso adds. */
void cpuclock_add(pid_t pid, Move__State *s);

#endif
