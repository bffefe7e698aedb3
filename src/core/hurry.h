/*
 * hurry.h - real-time priority for the moment in which a rank stands still
 *
 * The last phase of a move is a sequence of short steps in several processes,
 * during which the moved process stands still.  On a busy host each step would
 * wait some milliseconds for a processor.  So all processes that take part
 * enter the real-time scheduling class for the freeze, a few milliseconds in
 * all, and leave it afterwards.  This is for short work only, never for sending
 * much data; if it takes longer after all, the watch (move/proc/watch.h) puts
 * them back.
 *
 * It needs CAP_SYS_NICE, and on a kernel with RT_GROUP_SCHED a share of
 * real-time in each cgroup (cpu.rt_runtime_us).  Where the cgroup has no such
 * share, nice -20 is used, which helps against processes of the same cgroup;
 * without the capability nothing is changed.  Only threads of the normal class
 * with nice 0 and the default timer slack (which the real-time class discards)
 * are changed, so that hurry_end() knows what to restore.
 */
#ifndef CORE_HURRY_H
#define CORE_HURRY_H

#include <stdbool.h>
#include <sys/types.h>

#define HURRY_SLACK 50000 /* ns: the usual timer slack */

/*
 * tid 0: the caller.  Threads that it creates meanwhile inherit the priority.
 */
bool hurry_begin(pid_t tid); /* true if this call raised it */
/* Back to the normal class, if hurry_begin() raised it. */
void hurry_end(pid_t tid);
/*
 * Whether hurry_end() would take a thread that has these of its own for one that
 * hurry_begin() raised.
 */
bool hurry_is_like(unsigned policy, int priority, int nice);
/*
 * The caller leaves the real-time class, by SIGXCPU, if it ever runs for a second
 * in it without sleeping once; if it cannot, the kernel kills it a second later.
 */
void hurry_guard(void);

#endif
