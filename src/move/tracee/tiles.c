/*
 * tiles.c - has the kernel made room for AMX's tiles in a thread?
 *
 * It does when a thread first uses one, for good: frames of its signal handlers
 * are as much longer from then on.  Of a frame that is longer than the thread has
 * room for rt_sigreturn puts back the registers of SSE alone, and says nothing; and
 * longer ones than before may not fit the stack.  So a thread that moves needs the
 * room that it had, also if its tiles are all zeros at the moment, as they are in
 * a handler.
 *
 * No call tells.  But the kernel takes vector registers in which tiles are in
 * use from a tracer only if the thread has room for them.  All zeros are what
 * they are anyway.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "core/xalloc.h"
#include "move/proc/cpu.h"
#include "move/tracee/tracee.h"

static bool set_xstate(pid_t tid, void *p, size_t n)
{
	struct iovec iov = { p, n };

	return !ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &iov);
}

bool tracee_has_room_for_tiles(const struct tracee *t, size_t i)
{
	const struct task *k = &t->task[i];
	uint64_t used = stub_used(k->xstate) | XSTATE_TILES;
	char *tried;
	bool has;

	if (stub_used(k->xstate) & XSTATE_TILES)
		return true;
	tried = xmalloc(t->xsave_size);
	memcpy(tried, k->xstate, t->xsave_size);
	memcpy(tried + STUB_XSTATE_USED, &used, sizeof(used));
	has = set_xstate(k->tid, tried, t->xsave_size);
	if (has)
		(void)!set_xstate(k->tid, k->xstate, t->xsave_size);
	free(tried);
	return has;
}
