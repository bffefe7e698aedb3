/*
 * clocks.h - the clocks of a process that has a time namespace
 */
#ifndef MOVE_PROC_CLOCKS_H
#define MOVE_PROC_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What its namespace adds to the kernel's clocks, ns; or instants on them. */
struct clocks {
	int64_t monotonic, boottime;
};

/* All 0 without time namespaces; pid 0 is this process. */
void clocks_offsets(pid_t pid, struct clocks *ret);
/* The present time of the clocks as that process reads them. */
void clocks_now(pid_t pid, struct clocks *ret);
/* Is it in a time namespace other than the initial one? */
bool clocks_own(pid_t pid);
/* Its CLOCK_MONOTONIC minus ours. */
int64_t clocks_shift(pid_t pid);

#endif
