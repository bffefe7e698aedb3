/*
 * procstat.h - what /proc/PID/stat says of a process or a thread
 *
 * The fields are those of proc_pid_stat(5).  Addresses are 0 for who may not trace the
 * process, and after it has lost its memory.
 */
#ifndef CORE_PROCSTAT_H
#define CORE_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

struct procstat {
	char state;			   /* field 3, a letter */
	pid_t pgrp, session;		   /* 5, 6 */
	uint64_t flags;			   /* 9: PF_* of linux/sched.h */
	uint64_t major_faults;		   /* 12 */
	uint64_t user_ticks, system_ticks; /* 14, 15: clock ticks */
	uint64_t start;			   /* 22: clock ticks after boot */
	uint64_t resident;		   /* 24: pages */
	uint64_t start_code, end_code;	   /* 26, 27 */
	uint64_t start_stack;		   /* 28 */
	unsigned cpu;			   /* 39: it runs or last ran on it */
	uint64_t start_data, end_data;	   /* 45, 46 */
	uint64_t start_brk;		   /* 47 */
	uint64_t arg_start, arg_end;	   /* 48, 49 */
	uint64_t env_start, env_end;	   /* 50, 51 */
};

/* 0, or -EBADMSG for a text that has not all of these fields. */
int procstat_parse(const char *text, struct procstat *ret) must_check;

/*
 * Of a process, or by its thread id of a thread; 0 is the caller's process.  0, -ESRCH if
 * there is none, or why it cannot be read.
 */
int procstat_read(pid_t pid, struct procstat *ret) must_check;

/* What a thread got of the processors so far, and how long it waited for one. */
struct schedstat {
	uint64_t ran, waited; /* ns */
	uint64_t turns;	      /* on a processor */
};

/* 0, -EBADMSG, or why it cannot be read. */
int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret) must_check;

/* It runs none of its own code any more, though its state may not yet be Z or X. */
bool procstat_exiting(const struct procstat *s);

#endif
