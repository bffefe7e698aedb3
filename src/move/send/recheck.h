/*
 * recheck.h - check that a process that was found movable still is
 *
 * It runs on during the pre-copy, and may have exited, called exec, or made children or
 * threads meanwhile.
 */
#ifndef MOVE_SEND_RECHECK_H
#define MOVE_SEND_RECHECK_H

#include "move/send/send.h"

/* While it runs: -ESRCH if it has exited, -EBUSY after an exec. */
int recheck_running(const struct send_process *p, struct error *err) must_check;

/* While it runs: -ENOTSUP if it has a child, which may end ... */
int recheck_children(pid_t pid, struct error *err) must_check;
/*
 * ... and when all threads stand still: are there children, new threads, seccomp and
 * more? Fills in p->stopped.
 */
int recheck_stopped(const struct sending *s, struct send_process *p,
		    struct error *err) must_check;

#endif
