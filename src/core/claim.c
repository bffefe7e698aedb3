/* claim.c - the lowest claim on processor and disk, see claim.h */
#include "core/claim.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/hurry.h"

/* In the 13 bits of an I/O priority below its class. */
#define MARK	  0x1400 /* and nothing else of the upper four */
#define MARK_MASK 0x1e00
#define POLICY(m) ((m) >> 7 & 3) /* OTHER, FIFO, RR, BATCH */
#define PRIO(m)	  ((m)&0x7f)

static int ioprio_of(pid_t tid)
{
	return (int)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, tid);
}

static bool set_ioprio(pid_t tid, int ioprio)
{
	return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, tid, ioprio) == 0;
}

static bool set_class(pid_t tid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(tid, policy, &param) == 0;
}

bool claim_lowered(int ioprio, int *ret_policy, int *ret_priority)
{
	int data = ioprio & ((1 << IOPRIO_CLASS_SHIFT) - 1);

	if (ioprio < 0 || ioprio >> IOPRIO_CLASS_SHIFT != IOPRIO_CLASS_IDLE ||
	    (data & MARK_MASK) != MARK)
		return false;
	*ret_policy = POLICY(data);
	*ret_priority = PRIO(data);
	return true;
}

bool claim_lower(pid_t tid)
{
	int policy, ignored, mark;
	struct sched_param param;

	hurry_end(tid);
	policy = sched_getscheduler(tid);
	if (policy < 0 || policy == SCHED_IDLE || policy > SCHED_IDLE ||
	    sched_getparam(tid, &param) < 0)
		return false;
	mark = MARK | policy << 7 | (param.sched_priority & 0x7f);
	/* First, so that whoever dies in between leaves what can be undone. */
	if (!claim_lowered(ioprio_of(tid), &ignored, &ignored) &&
	    !set_ioprio(tid, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT | mark))
		return false;
	return set_class(tid, SCHED_IDLE, 0);
}

bool claim_is_marked(pid_t tid)
{
	int ignored;

	return claim_lowered(ioprio_of(tid), &ignored, &ignored);
}

bool claim_stir(pid_t tid)
{
	return sched_getscheduler(tid) == SCHED_IDLE && claim_is_marked(tid) &&
	       set_class(tid, SCHED_OTHER, 0);
}

bool claim_settle(pid_t tid)
{
	return claim_is_marked(tid) && sched_getscheduler(tid) == SCHED_OTHER &&
	       set_class(tid, SCHED_IDLE, 0);
}

bool claim_raise(pid_t tid)
{
	int policy, priority;

	return claim_lowered(ioprio_of(tid), &policy, &priority) &&
	       set_class(tid, policy, priority) && set_ioprio(tid, 0);
}
