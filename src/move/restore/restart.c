/* restart.c - let the kernel continue interrupted calls; see restart.h */
#include "move/restore/restart.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/tracee/tracee.h"

#define FINISH_PATIENCE USEC_PER_SEC
#define SYSCALL_STOP	(SIGTRAP | 0x80)

struct traced {
	pid_t tid;
	int code;     /* settle_code() */
	int mark;     /* restart_signal() */
	bool leaving; /* has sent itself the mark */
};

struct restart {
	uint64_t stub, stub_end;
	struct traced *thread;
	size_t nr;
	bool ending;
};

static uint64_t bit(unsigned sig)
{
	return UINT64_C(1) << (sig - 1);
}

static bool is_handler(const Move__Action *a)
{
	return a->handler != (uintptr_t)SIG_DFL &&
	       a->handler != (uintptr_t)SIG_IGN;
}

/* Does this action of a signal end t's call, if t takes the signal? */
static bool can_end(const Move__Thread *t, const Move__Action *a)
{
	return a->signo && a->signo <= 64 && is_handler(a) &&
	       !(t->mask & bit(a->signo)) &&
	       (t->restart == ERESTARTNOHAND ||
		(t->restart == ERESTARTSYS && !(a->flags & SA_RESTART)));
}

static bool is_caught(const Move__State *s, unsigned sig)
{
	for (size_t i = 0; i < s->n_action; i++)
		if (s->action[i]->signo == sig)
			return is_handler(s->action[i]);
	return false;
}

/*
 * A signal that t blocks may be waiting already, and would be mistaken for ours.
 */
static bool waits_for(const Move__Thread *t, int sig)
{
	for (size_t i = 0; i < t->n_pending; i++) {
		const ProtobufCBinaryData *info = &t->pending[i]->info;

		if (info->len == sizeof(siginfo_t) &&
		    ((const siginfo_t *)(const void *)info->data)->si_signo ==
			    sig)
			return true;
	}
	return false;
}

int restart_signal(const Move__State *s, const Move__Thread *t)
{
	static const int harmless[] = { SIGURG, SIGWINCH, SIGCONT, SIGCHLD };
	bool needed = false;
	int blocked = 0;

	for (size_t i = 0; i < s->n_action && !needed; i++)
		needed = can_end(t, s->action[i]);
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless) && needed;
	     i++) {
		int sig = harmless[i];

		if (is_caught(s, (unsigned)sig) || waits_for(t, sig))
			continue;
		if (!(t->mask & bit((unsigned)sig)))
			return sig;
		blocked = sig;
	}
	return blocked;
}

static bool is_needed(const Move__State *s)
{
	for (size_t i = 0; i < s->n_thread; i++)
		if (restart_signal(s, s->thread[i]))
			return true;
	return false;
}

struct restart *restart_begin(const struct landing *l, const Move__State *s)
{
	struct restart *r;
	pid_t *tid;
	ssize_t n;

	if (!is_needed(s))
		return NULL;
	/* the kernel lists them in the order in which they were made */
	n = proc_read_tasks(l->pid, &tid, NULL);
	if (n < 0)
		return NULL;
	if (n != (ssize_t)s->n_thread) {
		free(tid);
		return NULL;
	}
	r = xcalloc(1, sizeof(*r));
	r->stub = l->area;
	r->stub_end = l->area + STUB_SNIPPETS;
	r->thread = xcalloc(s->n_thread, sizeof(*r->thread));
	for (size_t i = 0; i < s->n_thread; i++) {
		int mark = restart_signal(s, s->thread[i]);

		if (mark && ptrace(PTRACE_SEIZE, tid[i], NULL,
				   PTRACE_O_TRACESYSGOOD) == 0)
			r->thread[r->nr++] = (struct traced){
				.tid = tid[i],
				.code = (int)s->thread[i]->restart,
				.mark = mark,
			};
	}
	free(tid);
	return r;
}

/*
 * A call begins or ends. Calls of the stub pass; when its rt_sigreturn ends, the thread
 * has its own state again. True: the kernel has taken over.
 */
static bool at_call(const struct restart *r, const struct traced *t)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) < 0)
		return false;
	if (regs.rip >= r->stub && regs.rip < r->stub_end) {
		ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL);
		return false;
	}
	settle_give_back(&regs, t->code);
	ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	return ptrace(PTRACE_DETACH, t->tid, NULL, NULL) == 0;
}

/* Returns true if the thread is no longer ours. */
static bool saw_off(const struct restart *r, struct traced *t, int status)
{
	static const uint64_t all = ~UINT64_C(0);
	int sig;

	if (!WIFSTOPPED(status))
		return true;
	sig = WSTOPSIG(status);
	if (status >> 16 && r->ending)
		return ptrace(PTRACE_DETACH, t->tid, NULL, NULL) == 0;
	/* the process was stopped by a signal, and stays so until SIGCONT */
	if (status >> 16 && sig != SIGTRAP) {
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
		return false;
	}
	if (status >> 16)
		sig = 0;
	if (sig == SYSCALL_STOP)
		return at_call(r, t);
	if (sig == t->mark) {
		/* the next signal of this number is the program's own */
		ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(all), &all);
		t->leaving = true;
		sig = 0;
	}
	ptrace(t->leaving ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL,
	       (void *)(uintptr_t)sig);
	return false;
}

/* Handle what has happened to the threads; true if no thread is left. */
static bool is_through(void *arg)
{
	struct restart *r = arg;
	size_t n = 0;

	for (size_t i = 0; i < r->nr; i++) {
		struct traced t = r->thread[i];
		pid_t got;
		int status;

		while ((got = waitpid(t.tid, &status, __WALL | WNOHANG)) > 0 &&
		       !saw_off(r, &t, status))
			;
		if (got == 0)
			r->thread[n++] = t;
	}
	r->nr = n;
	return n == 0;
}

void restart_finish(struct restart *r)
{
	if (r)
		tracee_await(is_through, r, FINISH_PATIENCE);
}

void restart_end(struct restart *r)
{
	if (!r)
		return;
	r->ending = true;
	/*
	 * these threads stop at once, wherever they are, and are then released
	 */
	for (size_t i = 0; i < r->nr; i++)
		ptrace(PTRACE_INTERRUPT, r->thread[i].tid, NULL, NULL);
	tracee_await(is_through, r, FINISH_PATIENCE);
	free(r->thread);
	free(r);
}
