/*
 * script.h - a program of the administrator's that is run for a job, and its end
 *
 * Never by a shell, in an environment that has nothing of the agent's or the job's own,
 * in a process group of its own, which ends with it.
 */
#ifndef CLUSTER_AGENT_SCRIPT_H
#define CLUSTER_AGENT_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

/* What it is told, as variables. */
struct script_job {
	const char *host, *id, *user;
	uint32_t rank, uid;
};

/*
 * Is that a program which nobody can change but root, and the agent's own user?  That
 * holds for its directories, too.
 */
int script_check(const char *path, struct error *err) must_check;

/* Check it and run it: its pid, which is its group's as well, or -errno. */
pid_t script_spawn(const char *path, const struct script_job *job,
		   struct error *err) must_check;

#endif
