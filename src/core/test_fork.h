/* test_fork.h - children of tests, which never outlive them */
#ifndef CORE_TEST_FORK_H
#define CORE_TEST_FORK_H

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * fork(); the child is killed when its parent ends, also where that was before
 * the child had run at all.
 */
static inline pid_t fork_to_end_with(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
	}
	return pid;
}

#endif
