/*
 * signals.h - all signals, the C library's own as well
 *
 * The library keeps signals 32 and 33 for itself (timers and cancelled threads,
 * setuid() of all threads): its sigfillset(), sigprocmask() and signal() leave
 * them as they are, and its posix_spawn() leaves them ignored in the child.
 * Who blocks or resets them for another program's sake has to mean all.
 */
#ifndef CORE_SIGNALS_H
#define CORE_SIGNALS_H

#include <signal.h>

#define SIGNALS 64 /* their numbers are 1 to this */

/* For system calls and posix_spawnattr; sigprocmask() takes two out again. */
void signals_fill(sigset_t *ret);
/* In the calling thread, and in what it starts. */
void signals_block_all(void);
/* Of the process: all dispositions are the default. */
void signals_reset_all(void);

#endif
