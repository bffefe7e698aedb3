/*
 * hurry.h - ahead of others, for the moment in which a rank stands still
 *
 * A move is a relay of short steps in several processes; while it hands over,
 * the moved process stands still.  On a busy host each step would wait some
 * milliseconds for its turn.  So whoever takes part is put into the real-time
 * class for the freeze, a few milliseconds in all, and then put back: only for
 * work that is known to be short, never to send what may be much, and by
 * somebody else if it takes longer after all (move/proc/watch.h).
 *
 * It needs CAP_SYS_NICE, and on a kernel with RT_GROUP_SCHED a share of
 * real-time in each cgroup (cpu.rt_runtime_us).  Where there is none, the nice
 * value -20 helps against others of the same cgroup; without the capability
 * the freeze just takes its turns.  Only threads of the normal class, of
 * nice value 0 and with the usual timer slack (which the real-time class takes
 * away) are put ahead, so that there is no doubt what to put them back to.
 */
#ifndef CORE_HURRY_H
#define CORE_HURRY_H

#include <stdbool.h>
#include <sys/types.h>

#define HURRY_SLACK 50000 /* ns: the usual timer slack */

/* tid 0: the caller.  Threads it makes meanwhile are ahead as well. */
bool hurry_begin(pid_t tid); /* true: it is ahead now and was not */
/* Back to the normal class, if hurry_begin() put it ahead. */
void hurry_end(pid_t tid);
/*
 * End the caller with SIGKILL should it ever run for a second in the real-time
 * class without once sleeping.
 */
void hurry_guard(void);

#endif
