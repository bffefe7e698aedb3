/* fault.c - named points at which a test can strike; see fault.h */
#include "move/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[MF_COUNT] = {
#define X(id, name) name,
	MOVE_FAULTS(X)
#undef X
};

const char *move_fault_name(unsigned f)
{
	return f < MF_COUNT ? names[f] : NULL;
}

int move_fault(enum move_fault f, struct error *err)
{
	const char *want = getenv("STINT_FAULT"), *action;
	size_t n = strlen(names[f]);

	if (!want || strncmp(want, names[f], n) || (want[n] && want[n] != ':'))
		return 0;
	action = want[n] ? want + n + 1 : "kill";
	if (!strcmp(action, "error"))
		return error_set(err, -EIO, "fault at %s", names[f]);
	if (!strcmp(action, "exit"))
		_exit(3);
	kill(getpid(), !strcmp(action, "stop") ? SIGSTOP : SIGKILL);
	return 0;
}
