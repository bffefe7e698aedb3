/*
 * recheck.h - is it still the process that was found movable?
 *
 * It runs on for as long as the pre-copy takes, and may have exited, started
 * another program, made children or threads meanwhile.
 */
#ifndef MOVE_SEND_RECHECK_H
#define MOVE_SEND_RECHECK_H

#include "move/send/send.h"

/* While it runs: -ESRCH when it has exited, -EBUSY after an exec. */
int recheck_running(const struct send_process *p, struct error *err) must_check;

/* Whatever may pass is -ENOTSUP: a child, while it runs, ... */
int recheck_children(pid_t pid, struct error *err) must_check;
/* ... and that and more when all threads stand still; notes p->stopped. */
int recheck_stopped(const struct sending *s, struct send_process *p,
		    struct error *err) must_check;

#endif
