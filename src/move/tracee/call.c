/*
 * call.c - one system call in the name of a stopped process that has no memory for it
 *
 * A few instructions in the unused end of the vdso make the call, put the
 * clobbered registers back and jump to where the thread was; signals may come in
 * between as for any code.  Lists of calls in memory of our own: run.c.
 */
#include "move/tracee/tracee.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "move/proc/proc.h"
#include "move/tracee/task.h"

#define SNIPPET_ROOM 192

/* movabs $imm, %reg */
static unsigned char *emit_mov(unsigned char *p, unsigned op, uint64_t imm)
{
	*p++ = (unsigned char)(op >> 8);
	*p++ = (unsigned char)op;
	memcpy(p, &imm, sizeof(imm));
	return p + sizeof(imm);
}

enum {
	MOV_RAX = 0x48b8,
	MOV_RCX = 0x48b9,
	MOV_RDX = 0x48ba,
	MOV_RSI = 0x48be,
	MOV_RDI = 0x48bf,
	MOV_R8 = 0x49b8,
	MOV_R9 = 0x49b9,
	MOV_R10 = 0x49ba,
	MOV_R11 = 0x49bb,
};

/* The call, all that it changes put back, and the jump to where we were. */
static size_t snippet_build(unsigned char *code, long nr, const uint64_t arg[6],
			    const struct user_regs_struct *cont,
			    size_t *ret_after)
{
	static const unsigned op[6] = { MOV_RDI, MOV_RSI, MOV_RDX,
					MOV_R10, MOV_R8,  MOV_R9 };
	const uint64_t was[6] = { cont->rdi, cont->rsi, cont->rdx,
				  cont->r10, cont->r8,	cont->r9 };
	unsigned char *p = emit_mov(code, MOV_RAX, (uint64_t)nr);

	for (int i = 0; i < 6; i++)
		p = emit_mov(p, op[i], arg[i]);
	*p++ = 0x0f; /* syscall */
	*p++ = 0x05;
	*ret_after = (size_t)(p - code);
	for (int i = 0; i < 6; i++)
		p = emit_mov(p, op[i], was[i]);
	p = emit_mov(p, MOV_RCX, cont->rcx);
	p = emit_mov(p, MOV_R11, cont->r11);
	p = emit_mov(p, MOV_RAX, cont->rax);
	memcpy(p, "\xff\x25\0\0\0\0", 6); /* jmp *0(%rip) */
	memcpy(p + 6, &cont->rip, sizeof(cont->rip));
	return (size_t)(p - code) + 6 + sizeof(cont->rip);
}

static int find_snippet_room(struct tracee *t, uint64_t *ret, struct error *err)
{
	static const char zero[SNIPPET_ROOM];
	struct vma_list maps = { 0 };
	char tail[SNIPPET_ROOM];
	const struct vma *vdso;
	int r = proc_read_maps(t->pid, &maps, err);

	if (r < 0)
		goto out;
	vdso = vma_named(&maps, "[vdso]");
	r = -ENOTSUP;
	if (vdso &&
	    tracee_read(t->pid, vdso->end - SNIPPET_ROOM, tail, sizeof(tail)) ==
		    0 &&
	    !memcmp(tail, zero, sizeof(tail))) {
		*ret = vdso->end - SNIPPET_ROOM;
		r = 0;
	} else {
		error_set(err, r, "the process has no vdso with room to spare");
	}
out:
	vma_list_clear(&maps);
	return r;
}

/* Let the leader run up to the end of the call at rip == after. */
static int run_to_exit(struct tracee *t, uint64_t after,
		       struct user_regs_struct *ret, struct error *err)
{
	pid_t tid = t->task[0].tid;
	int status, sig = 0, stops = 0;

	while (stops < 2) {
		if (ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(uintptr_t)sig) <
			    0 ||
		    waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return error_set(err, -ESRCH, "process %d has exited",
					 t->pid);
		sig = 0;
		if (status >> 16)
			continue;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GETREGS, tid, NULL, ret) < 0)
			return error_sys(err, -errno, "reading thread %d", tid);
		/* a handler's own calls stop elsewhere */
		stops += ret->rip == after;
	}
	return 0;
}

int tracee_call(struct tracee *t, long nr, const uint64_t arg[6], int64_t *ret,
		struct error *err)
{
	unsigned char code[SNIPPET_ROOM] = { 0 };
	struct task *k = &t->task[0];
	struct user_regs_struct regs = k->cont, out;
	uint64_t at;
	size_t after;
	int r = find_snippet_room(t, &at, err);

	if (r < 0)
		return r;
	snippet_build(code, nr, arg, &k->cont, &after);
	regs.rip = at;
	r = tracee_poke(k->tid, at, code, sizeof(code));
	if (r < 0)
		return error_sys(err, r, "writing into the process");
	if (ptrace(PTRACE_SETOPTIONS, k->tid, NULL, PTRACE_O_TRACESYSGOOD) <
		    0 ||
	    ptrace(PTRACE_SETREGS, k->tid, NULL, &regs) < 0)
		return error_sys(err, -errno, "writing thread %d", k->tid);
	r = run_to_exit(t, at + after, &out, err);
	if (r < 0)
		return r;
	if (task_put_back(k) < 0)
		return error_sys(err, -errno, "writing thread %d", k->tid);
	memset(code, 0, sizeof(code));
	r = tracee_poke(k->tid, at, code, sizeof(code));
	if (r < 0)
		return error_sys(err, r, "writing into the process");
	*ret = (int64_t)out.rax;
	return 0;
}
