/*
 * scratch.c - see scratch.h
 *
 * A test that is killed, and a fuzzer that finds something, end without
 * atexit(). So a separate process waits for the end. It is not a child of the
 * test and shares no pipe with it, so that tests of children and pipes are not
 * disturbed.
 */
#include "core/scratch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(bool held)
{
	if (held)
		return;
	perror("scratch directory");
	abort();
}

static _Noreturn void clean_up_after(pid_t test, const char *dir)
{
	struct pollfd ended = { .events = POLLIN };
	int nowhere = open("/dev/null", O_RDWR);

	ended.fd = (int)syscall(SYS_pidfd_open, test, 0);
	need(ended.fd >= 0 && nowhere >= 0);
	if (fork() != 0)
		_exit(0);
	/*
	 * Signals to the test's process group, such as Ctrl-C, must not reach
	 * it.
	 */
	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(nowhere, fd);
	while (poll(&ended, 1, -1) != 1)
		;
	execl("/bin/rm", "rm", "-rf", dir, NULL);
	_exit(127);
}

void scratch_dir(char ret[SCRATCH_MAX], const char *where)
{
	pid_t test = getpid(), pid;
	int status;

	snprintf(ret, SCRATCH_MAX, "%s/stint-test-XXXXXX", where);
	need(mkdtemp(ret));
	pid = fork();
	need(pid >= 0);
	if (!pid)
		clean_up_after(test, ret);
	need(waitpid(pid, &status, 0) == pid && status == 0);
}

void scratch_put(const char *dir, const char *file, const char *text)
{
	char *path;
	FILE *f;

	need(asprintf(&path, "%s/%s", dir, file) >= 0);
	f = fopen(path, "we");
	need(f);
	fputs(text, f);
	need(!fclose(f));
	free(path);
}
