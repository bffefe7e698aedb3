/* clocks.c - the clocks of a process; see clocks.h */
#include "move/proc/clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/units.h"
#include "move/proc/proc.h"

/* PROC_TIME_INIT_INO of the kernel, the same in all versions */
#define FIRST_NAMESPACE "time:[4026531834]"

void clocks_offsets(pid_t pid, struct clocks *ret)
{
	long sec, nsec;
	char *text, *p;

	*ret = (struct clocks){ 0 };
	if (proc_read(pid ? pid : getpid(), "timens_offsets", &text, NULL) < 0)
		return;
	p = strstr(text, "monotonic");
	if (p && sscanf(p, "monotonic %ld %ld", &sec, &nsec) == 2)
		ret->monotonic = sec * NSEC_PER_SEC + nsec;
	p = strstr(text, "boottime");
	if (p && sscanf(p, "boottime %ld %ld", &sec, &nsec) == 2)
		ret->boottime = sec * NSEC_PER_SEC + nsec;
	free(text);
}

void clocks_now(pid_t pid, struct clocks *ret)
{
	struct clocks mine, its;

	clocks_offsets(0, &mine);
	clocks_offsets(pid, &its);
	ret->monotonic =
		clock_nsec(CLOCK_MONOTONIC) + its.monotonic - mine.monotonic;
	ret->boottime =
		clock_nsec(CLOCK_BOOTTIME) + its.boottime - mine.boottime;
}

bool clocks_own(pid_t pid)
{
	char *link;
	bool own;

	if (proc_read_link(pid, "ns/time", &link, NULL) < 0)
		return false;
	own = strcmp(link, FIRST_NAMESPACE) != 0;
	free(link);
	return own;
}

int64_t clocks_shift(pid_t pid)
{
	struct clocks mine, its;

	clocks_offsets(0, &mine);
	clocks_offsets(pid, &its);
	return its.monotonic - mine.monotonic;
}
