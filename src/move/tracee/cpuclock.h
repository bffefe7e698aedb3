/*
 * cpuclock.h - CPU clocks continue at the destination where they are read
 * through the vdso
 *
 * A process's CPU time begins at 0 where it lands, and no system call sets it.
 * But clock_gettime() of the C library (used by clock(), Python's
 * process_time()) goes through the vdso, which passes these clocks on to the
 * kernel by a system call.  In the process's copy of the vdso that one call is
 * replaced by code that adds the time used before.  Instruction boundaries do
 * not change, so a thread or a signal frame may be anywhere in the vdso, and no
 * other clock becomes slower.
 *
 * The added time is selected by pid and tid, because children inherit the copy
 * and their time begins at 0.  exec() maps a fresh vdso.
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
 * Patch an image of n bytes to add these; if there is no room for all, only the
 * first ones.  Returns how many; 0 if it is an unknown kind of vdso.
 */
size_t cpuclock_patch(uint8_t *image, size_t n, const struct cpuclock *c,
		      size_t nr);
/*
 * Undo the patch; returns how many clocks it had, at most CPUCLOCK_MOST, and
 * their times in ret.  The image is not trusted.
 */
size_t cpuclock_unpatch(uint8_t *image, size_t n, struct cpuclock *ret);

/* Before the freeze: find the process's vdso, or what replaced it. */
void cpuclock_find(pid_t pid, Move__State *s);
/*
 * Once the landing area is mapped: if the vdso is patched, have no thread
 * stopped in the middle of it, as a time read here would be added to at the
 * destination again.
 */
void cpuclock_avoid(struct tracee *t, const Move__State *s);
/* A copy of pid's vdso, allocated; its size, or -errno if it has none. */
int cpuclock_image(pid_t pid, const Move__State *s, uint8_t **ret);
/*
 * For how many clocks a copy of its vdso has room, as far as can be seen here.
 */
size_t cpuclock_room(pid_t pid, const Move__State *s);
/* Record what the kernel reports for a clock; the process's comes first. */
void cpuclock_take(Move__State *s, uint32_t id, const struct timespec *used);
/* Add what its vdso adds to the recorded clocks. */
void cpuclock_add(pid_t pid, Move__State *s);

#endif
