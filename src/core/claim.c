/* claim.c - the lowest claim on processor and disk, see claim.h */
#include "core/claim.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/hurry.h"

/* In the 13 bits of an I/O priority below its class. */
#define MARK	  0x1400 /* and nothing else of the upper four */
#define MARK_MASK 0x1e00
#define POLICY(m) ((m) >> 7 & 3) /* OTHER, FIFO, RR, BATCH */
#define PRIO(m)	  ((m)&0x7f)

#define PROMPT	      (-19)  /* nice value */
#define TURN	      100000 /* ns */
#define FORK_AS_USUAL 1	     /* SCHED_FLAG_RESET_ON_FORK */

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

/* As sched_setattr(2) takes it; no header of libc has it. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * As others are scheduled, but in short turns (from Linux 6.12 on): it waits for its own less,
 * and is sooner out of the way of others.
 */
static bool set_usual(pid_t tid, uint64_t flags, int nice)
{
	struct attr attr = { .size = sizeof(attr),
			     .policy = SCHED_OTHER,
			     .flags = flags,
			     .nice = nice,
			     .runtime = TURN };

	return syscall(SYS_sched_setattr, tid, &attr, 0) == 0;
}

/* Anybody may set the flag for himself. */
static int policy_of(pid_t tid)
{
	int policy = sched_getscheduler(tid);

	return policy < 0 ? policy : policy & ~SCHED_RESET_ON_FORK;
}

bool claim_is_idle(pid_t tid)
{
	return policy_of(tid) == SCHED_IDLE;
}

void claim_bound(pid_t tid, int *policy, int *priority)
{
	struct rlimit most;

	if (!*priority || (!prlimit(tid, RLIMIT_RTPRIO, NULL, &most) &&
			   most.rlim_cur >= (rlim_t)*priority))
		return;
	*policy = SCHED_OTHER;
	*priority = 0;
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

bool claim_is_marked(pid_t tid)
{
	int ignored;

	return claim_lowered(ioprio_of(tid), &ignored, &ignored);
}

bool claim_mark(pid_t tid)
{
	int policy, mark;
	struct sched_param param;

	hurry_end(tid);
	policy = policy_of(tid);
	if (policy < 0 || policy >= SCHED_IDLE ||
	    sched_getparam(tid, &param) < 0)
		return false;
	if (claim_is_marked(tid))
		return true;
	mark = MARK | policy << 7 | (param.sched_priority & 0x7f);
	return set_ioprio(tid, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT | mark);
}

/* The mark first, so that whoever dies in between leaves what can be undone. */
bool claim_lower(pid_t tid)
{
	return claim_mark(tid) && set_class(tid, SCHED_IDLE, 0);
}

bool claim_mend(pid_t tid)
{
	int ioprio = ioprio_of(tid), class = ioprio >> IOPRIO_CLASS_SHIFT;

	return claim_is_idle(tid) &&
	       (class == IOPRIO_CLASS_RT || class == IOPRIO_CLASS_BE) &&
	       set_ioprio(tid, IOPRIO_CLASS_IDLE << IOPRIO_CLASS_SHIFT | MARK |
				       SCHED_OTHER << 7);
}

bool claim_stir(pid_t tid)
{
	return claim_is_idle(tid) && claim_is_marked(tid) &&
	       set_usual(tid, 0, getpriority(PRIO_PROCESS, (id_t)tid));
}

bool claim_settle(pid_t tid)
{
	return claim_is_marked(tid) && policy_of(tid) == SCHED_OTHER &&
	       set_class(tid, SCHED_IDLE, 0);
}

/* None is 0, which hurry_begin() takes, nor what that sets. */
static const int nice_of[CLAIM_STEPS] = { 0, -1, -10, -19 };

bool claim_step(pid_t tid, unsigned step)
{
	if (!step || !claim_is_marked(tid))
		return claim_settle(tid);
	return (claim_is_idle(tid) ||
		getpriority(PRIO_PROCESS, (id_t)tid) != nice_of[step]) &&
	       set_usual(tid, 0, nice_of[step]);
}

bool claim_raise(pid_t tid)
{
	int policy, priority;

	if (!claim_lowered(ioprio_of(tid), &policy, &priority))
		return false;
	claim_bound(tid, &policy, &priority);
	return set_class(tid, policy, priority) && set_ioprio(tid, 0);
}

void claim_leave_step(pid_t tid)
{
	if (claim_is_marked(tid))
		(void)!setpriority(PRIO_PROCESS, (id_t)tid, nice_of[0]);
}

bool claim_raise_worker(pid_t tid)
{
	claim_leave_step(tid);
	return claim_raise(tid);
}

void claim_promptly(void)
{
	(void)!set_usual(0, FORK_AS_USUAL, PROMPT);
}
