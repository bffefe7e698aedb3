/*
 * nest.h - a pid namespace of its own for one moved process
 *
 * `stint move receive` puts a process into a nest, as there is no keeper to
 * provide a capsule: new pid and mount namespaces with a small init that forks
 * the landing helper, reaps, keeps the landing memory as the shepherd, and ends
 * with the status of the process.  Everything else is the receiver's own:
 * files, network, stdio.
 */
#ifndef CMD_MOVE_NEST_H
#define CMD_MOVE_NEST_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

struct nest;

/*
 * Signals to its init, for a process that has landed and waits because the
 * connection was lost: let it run, or end it.
 */
#define NEST_RELEASE SIGUSR1
#define NEST_DISCARD SIGUSR2

int nest_create(struct nest **ret, struct error *err) must_check;

/* Have init fork a child that lands; as move_dest_ops.spawn. */
int nest_spawn(struct nest *n, const void *arg, size_t size, const int *fds,
	       size_t nr_fds, struct error *err) must_check;

/* The process is complete: from now on init outlives us, and keeps it. */
int nest_keep(struct nest *n, pid_t ns_pid, struct error *err) must_check;

/* Wait for its end; the status as from waitpid(). */
int nest_wait(struct nest *n, int *ret, struct error *err) must_check;

pid_t nest_pid(const struct nest *n); /* init's, as seen from here */

/* Kills what is left in it unless kept.  NULL is allowed. */
void nest_destroy(struct nest *n);

#endif
