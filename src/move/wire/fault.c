/* fault.c - named points at which a test can strike; see fault.h */
#include "move/wire/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"

static const char *const names[MF_COUNT] = {
#define X(id, name) name,
	MOVE_FAULTS(X)
#undef X
};

/*
 * The fault that was picked, "" for none; a value that begins with @ names a
 * file that has it.
 */
static const char *picked(char *buf, size_t n)
{
	const char *want = getenv("STINT_FAULT");
	fd_auto fd = -1;
	ssize_t r;

	if (!want || *want != '@')
		return want ? want : "";
	fd = open(want + 1, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -1 : read(fd, buf, n - 1);
	buf[r < 0 ? 0 : r] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

int move_fault(enum move_fault f, struct error *err)
{
	char buf[64];
	const char *want = picked(buf, sizeof(buf)), *action;
	size_t n = strlen(names[f]);

	if (strncmp(want, names[f], n) || (want[n] && want[n] != ':'))
		return 0;
	action = want[n] ? want + n + 1 : "kill";
	if (!strcmp(action, "error"))
		return error_set(err, -EIO, "fault at %s", names[f]);
	if (!strcmp(action, "exit"))
		_exit(3);
	kill(getpid(), !strcmp(action, "stop") ? SIGSTOP : SIGKILL);
	return 0;
}
