/*
 * signals.h - all signals, including the C library's own
 *
 * The library keeps signals 32 and 33 for itself (timers and cancelled threads,
 * setuid() of all threads): its sigfillset(), sigprocmask() and signal() leave
 * them as they are, and its posix_spawn() leaves them ignored in the child.
 * Code that blocks or resets signals for another program must include these
 * two.
 */
#ifndef CORE_SIGNALS_H
#define CORE_SIGNALS_H

#include <signal.h>
#include <spawn.h>

#define SIGNALS 64 /* signal numbers are 1 to 64 */

/*
 * For system calls and posix_spawnattr; sigprocmask() would drop 32 and 33
 * again.
 */
void signals_fill(sigset_t *ret);
/* For the calling thread, inherited by what it starts. */
void signals_block_all(void);
/* What posix_spawn() starts by these has none blocked, and all at the default; and more flags. */
void signals_spawn_reset(posix_spawnattr_t *attr, short flags);
/* Set all dispositions of the process to the default. */
void signals_reset_all(void);

#endif
