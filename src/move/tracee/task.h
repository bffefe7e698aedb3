/*
 * task.h - one thread of a tracee: seize it, have it stop, read what it was at, and
 * let it go (stop.c does so for all threads)
 *
 * A thread that turns out to have exited is marked `gone`, which is no error.
 */
#ifndef MOVE_TRACEE_TASK_H
#define MOVE_TRACEE_TASK_H

#include "move/tracee/tracee.h"

/*
 * Seize thread tid, add it to the tracee and tell it to stop.  1: done; 0: it has
 * exited meanwhile.
 */
int task_seize(struct tracee *t, pid_t tid, struct error *err) must_check;

/*
 * Wait until it has stopped, and read its registers, its signal mask and the call
 * that the stop has interrupted.  -EAGAIN: it cannot be stopped now.
 */
int task_take_stop(struct tracee *t, struct task *k,
		   struct error *err) must_check;

/*
 * Let a stopped thread run out of the vdso, if it is there.  -EAGAIN if it stays
 * inside and t->lose_vdso says that it may not.
 */
int task_leave_vdso(struct tracee *t, struct task *k,
		    struct error *err) must_check;

/*
 * Give a stopped thread its own registers again, a call that was interrupted as
 * the kernel left it: so it is right even if this process dies now.
 */
int task_put_back(const struct task *k) must_check;

/* Let go of a thread, if it stands still by now. */
void task_leave(struct task *k);
/*
 * Let go of a thread that was told to stop and has not been waited for: it may
 * be stopped with a signal to be delivered, or in an interrupted call.
 */
void task_leave_late(const struct tracee *t, struct task *k);

#endif
