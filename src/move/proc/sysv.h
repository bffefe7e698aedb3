/*
 * sysv.h - does the process have System V objects?
 *
 * Semaphores, queues and shared memory belong to an IPC namespace, not to a
 * process, and do not travel.  In a namespace other than ours, such as a
 * capsule's, all objects count as the process's; in ours, those that it created
 * or used last.
 */
#ifndef MOVE_PROC_SYSV_H
#define MOVE_PROC_SYSV_H

#include <sys/types.h>

#include "core/error.h"

/* 0, or -ENOTSUP with what it has; takes some microseconds. */
int sysv_check(pid_t pid, struct error *err) must_check;

#endif
