/*
 * claim.h - a guest's threads, while the owner of the host is there
 *
 * A thread that is lowered runs when nothing else wants the processor
 * (SCHED_IDLE, which an owner feels less than weights or freezing) and reads and
 * writes when nobody else does (I/O class idle).  What it forks is lowered, too,
 * and a thread without CAP_SYS_NICE cannot raise itself.  Its class of before
 * stands in its I/O priority, in bits that mean nothing in the class idle; its
 * I/O priority of before is forgotten, and is the default once it is raised.
 *
 * So hurry_begin() (core/hurry.h) leaves it alone: nothing of a guest is
 * real-time while an owner is there.
 */
#ifndef CORE_CLAIM_H
#define CORE_CLAIM_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * True if this call changed it.  Needs CAP_SYS_NICE for threads of others, and
 * to raise any.
 */
bool claim_lower(pid_t tid);
/*
 * One that was lowered and has given itself another I/O priority since, which anybody may:
 * it is lowered again.  What it was before stood there, so it will be as others are.
 */
bool claim_mend(pid_t tid);
/* Back, if it was lowered by claim_lower(). */
bool claim_raise(pid_t tid);
/*
 * One that was lowered is scheduled as usual for a moment, in which it stops or ends:
 * where an owner keeps the processors busy it would wait for seconds to be let do that.
 * True if this call changed it.  Its mark stays, so claim_settle() knows who is to be
 * lowered again, and so does claim_lower().
 */
bool claim_stir(pid_t tid);
bool claim_settle(pid_t tid);
/* Is it marked, stirred or not? */
bool claim_is_marked(pid_t tid);
/* Mark it, so that it can be lowered by claim_settle(): it is just now to stop. */
bool claim_mark(pid_t tid);

/*
 * One that was lowered and works for a guest's leaving (it has no nice value of its own): the
 * least claim at 0, above that one like others', and more at each step.  Never real-time:
 * hurry_begin() leaves it alone at each.  True if this call changed it.
 */
#define CLAIM_STEPS 4
bool claim_step(pid_t tid, unsigned step);
/* Its nice value is none of a step any more, and its class as it was. */
void claim_leave_step(pid_t tid);
/* As claim_raise(), for one whose step was set. */
bool claim_raise_worker(pid_t tid);

/*
 * The caller, who has little to do and does it for an owner, gets a processor soon though others
 * keep all of them busy.  What it forks does not.  Without CAP_SYS_NICE nothing changes.
 */
void claim_promptly(void);

/*
 * Is that the I/O priority of a lowered thread?  Then *ret_policy and
 * *ret_priority are its scheduling class of before.
 */
bool claim_lowered(int ioprio, int *ret_policy, int *ret_priority);
/*
 * The mark is the thread's own to write: what it says may be no more real-time than the
 * thread could take by itself (RLIMIT_RTPRIO); else it is scheduled as usual.
 */
void claim_bound(pid_t tid, int *policy, int *priority);
/* Has it the lowest claim? */
bool claim_is_idle(pid_t tid);

#endif
