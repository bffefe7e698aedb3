/* task.c - one thread of a tracee; see task.h */
#include "move/tracee/task.h"

#include <elf.h>
#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/hurry.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"

/*
 * A thread that does not stop within that time waits for something that no
 * signal ends, such as the child of its vfork(), while the others stand still.
 */
#define STOP_PATIENCE  (150 * USEC_PER_MSEC)
#define STEPS_MOST     200 /* instructions; a reading of a clock has less */
/* Until such a thread can be let go; meanwhile all others run. */
#define LEAVE_PATIENCE (5 * USEC_PER_SEC)

/* The vector state as NT_X86_XSTATE; returns its size or -errno. */
#define XSTATE_MAX 16384
static ssize_t get_xstate(pid_t tid, void *p, size_t room)
{
	struct iovec iov = { p, room };

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &iov) < 0)
		return -errno;
	return (ssize_t)iov.iov_len;
}

struct waiting {
	pid_t tid, got;
	int status, error;
};

static bool look_for(void *arg)
{
	struct waiting *w = arg;

	w->got = waitpid(w->tid, &w->status, __WALL | WNOHANG);
	w->error = w->got < 0 ? errno : 0;
	return w->got != 0;
}

/* ptrace says EPERM of a thread that has exited and is still listed. */
static bool has_exited(pid_t tid)
{
	struct proc_status st;

	return proc_read_status(tid, &st, NULL) < 0 || st.state == 'Z' ||
	       st.state == 'X';
}

/*
 * Its number may be another process's by now: where threads come and go quickly
 * all numbers are used up in less than a second.
 */
static bool is_others(const struct tracee *t, pid_t tid)
{
	return syscall(SYS_tgkill, t->pid, tid, 0) < 0 && errno == ESRCH;
}

/* Only who stands still can be let go; it has not been told to stop so far. */
static void leave_other(pid_t tid)
{
	struct waiting w = { .tid = tid };
	int sig;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ||
	    !tracee_await(look_for, &w, STOP_PATIENCE) || !WIFSTOPPED(w.status))
		return;
	sig = w.status >> 16 ? 0 : WSTOPSIG(w.status);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)sig);
}

int task_seize(struct tracee *t, pid_t tid, struct error *err)
{
	struct task *k;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		int e = errno;

		if (e == ESRCH ||
		    (e == EPERM && (is_others(t, tid) || has_exited(tid))))
			return 0;
		return error_sys(
			err, -e,
			"cannot trace thread %d (is a debugger on it, and is it yours?)",
			tid);
	}
	/* while it is traced its number stays its own */
	if (is_others(t, tid)) {
		leave_other(tid);
		return 0;
	}
	array_room(t->task, t->nr, &t->cap);
	k = &t->task[t->nr++];
	*k = (struct task){
		.tid = tid, .seized = true, .going = true, .syscall = -1
	};
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 && errno != ESRCH)
		return error_sys(err, -errno, "stopping thread %d", tid);
	/* the thread runs no instruction of its own before it stops */
	k->stirred = claim_stir(tid);
	if (t->hurry && !k->stirred)
		k->hurried = hurry_begin(tid);
	return 1;
}

/* Either it has to wait for a processor, or no signal reaches it. */
static int still_going(pid_t tid, struct error *err)
{
	struct proc_status st;

	if (proc_read_status(tid, &st, NULL) == 0 && st.state == 'R')
		return error_set(
			err, -EAGAIN,
			"thread %d cannot be stopped now: this host is too busy to let it run for a moment",
			tid);
	return error_set(
		err, -EAGAIN,
		"thread %d cannot be stopped now: it waits for something that cannot be interrupted, such as the child of a vfork()",
		tid);
}

static int task_go(struct task *k, int how, int sig)
{
	k->going = true;
	return (int)ptrace(how, k->tid, NULL, (void *)(uintptr_t)sig);
}

static int task_wait(struct task *k, int *ret, usec_t limit, struct error *err)
{
	struct waiting w = { .tid = k->tid };
	bool news = tracee_await(look_for, &w, limit);

	*ret = w.status;
	if (w.error)
		return error_sys(err, -w.error, "waiting for thread %d",
				 k->tid);
	if (!news)
		return still_going(k->tid, err);
	k->going = false;
	if (WIFSTOPPED(*ret))
		return 0;
	k->gone = true;
	k->seized = false;
	return 0;
}

/*
 * Wait until the thread stands in the stop we asked for.  A signal that gets
 * in between is delivered: its handler's frame is then part of the state,
 * made by the kernel with all the rules about interrupted calls.
 */
static int task_wait_stop(struct task *k, struct error *err)
{
	int status, r;

	while ((r = task_wait(k, &status, STOP_PATIENCE, err)) == 0 &&
	       !k->gone) {
		int sig = WSTOPSIG(status);

		if (status >> 16 == PTRACE_EVENT_STOP) {
			if (sig == SIGTRAP)
				return 0;
			return error_set(
				err, -EBUSY,
				"process is stopped by signal %d; continue it first (kill -CONT)",
				sig);
		}
		task_go(k, PTRACE_CONT, sig);
	}
	return r;
}

/* Is a signal that is not blocked waiting for this thread? */
static bool task_has_signal(const struct task *k)
{
	siginfo_t info[32];

	for (int shared = 0; shared < 2; shared++) {
		struct __ptrace_peeksiginfo_args args = {
			.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
			.nr = 32,
		};
		long n;

		while ((n = ptrace(PTRACE_PEEKSIGINFO, k->tid, &args, info)) >
		       0) {
			for (long i = 0; i < n; i++)
				if (!(k->mask >> (info[i].si_signo - 1) & 1))
					return true;
			args.off += (uint64_t)n;
		}
	}
	return false;
}

/*
 * Inside a restartable sequence a thread that was stopped has to go to the
 * abort address.  The kernel would see to it on its way back, but not once
 * the thread has been elsewhere.
 */
static void task_leave_rseq(pid_t pid, struct task *k)
{
	struct __ptrace_rseq_configuration conf;
	struct rseq_cs cs;
	uint64_t at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, k->tid, sizeof(conf), &conf) <
		    0 ||
	    !conf.rseq_abi_pointer ||
	    tracee_read(pid,
			conf.rseq_abi_pointer + offsetof(struct rseq, rseq_cs),
			&at, sizeof(at)) < 0 ||
	    !at || tracee_read(pid, at, &cs, sizeof(cs)) < 0)
		return;
	if (k->cont.rip - cs.start_ip < cs.post_commit_offset)
		k->cont.rip = cs.abort_ip;
}

/* Has the kernel make a call again that our stop has cut short. */
static bool mend_cut(const struct tracee *t, struct user_regs_struct *regs)
{
	bool cut = cut_by_stop(t->pid, regs);

	if (cut)
		regs->rax = (unsigned long)-(long)ERESTARTNOINTR;
	return cut;
}

static int task_read(struct tracee *t, struct task *k, struct error *err)
{
	static __thread char xstate[XSTATE_MAX];
	ssize_t n;

	if (ptrace(PTRACE_GETREGS, k->tid, NULL, &k->regs) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, k->tid, sizeof(k->mask), &k->mask) < 0)
		return error_sys(err, -errno, "reading thread %d", k->tid);
	n = get_xstate(k->tid, xstate, sizeof(xstate));
	if (n < 0)
		return error_sys(err, (int)n, "reading thread %d's vectors",
				 k->tid);
	t->xsave_size = (size_t)n;
	free(k->xstate);
	k->xstate = xmalloc((size_t)n);
	memcpy(k->xstate, xstate, (size_t)n);
	mend_cut(t, &k->regs);
	k->syscall = settle_syscall(&k->regs, &k->cont);
	k->restart = settle_code(&k->regs);
	tracee_found_call(t, k);
	task_leave_rseq(t->pid, k);
	return 0;
}

/*
 * The stop comes before a signal that waits and has interrupted a call; only
 * the kernel knows how the call then ends, so let it deliver the signal.
 */
int task_take_stop(struct tracee *t, struct task *k, struct error *err)
{
	int status, r = task_wait_stop(k, err);

	while (!r && !k->gone && (r = task_read(t, k, err)) == 0) {
		if (!settle_code(&k->regs) || !task_has_signal(k))
			break;
		k->wait.kind = NULL;
		task_go(k, PTRACE_CONT, 0);
		r = task_wait(k, &status, STOP_PATIENCE, err);
		if (r < 0 || k->gone)
			break;
		ptrace(PTRACE_INTERRUPT, k->tid, NULL, NULL);
		task_go(k, PTRACE_CONT, status >> 16 ? 0 : WSTOPSIG(status));
		r = task_wait_stop(k, err);
	}
	return r;
}

static bool in_vdso(const struct tracee *t, const struct task *k)
{
	return k->cont.rip >= t->vdso && k->cont.rip < t->vdso_end;
}

/*
 * In a time namespace the vdso reads the kernel's clock and then adds the
 * namespace's offset; between the two it must not come to another kernel.
 * That is near its end, so walk out.  A signal that comes leads out as well.
 */
static int step_out(struct tracee *t, struct task *k, struct error *err)
{
	int status, sig = 0, r = 0;

	for (int n = 0;
	     (n < STEPS_MOST || sig) && !r && !k->gone && in_vdso(t, k); n++) {
		if (task_go(k, PTRACE_SINGLESTEP, sig) < 0)
			return error_sys(err, -errno, "thread %d", k->tid);
		r = task_wait(k, &status, STOP_PATIENCE, err);
		if (r < 0 || k->gone)
			return r;
		sig = status >> 16 || WSTOPSIG(status) == SIGTRAP
			      ? 0
			      : WSTOPSIG(status);
		if (ptrace(PTRACE_GETREGS, k->tid, NULL, &k->cont) < 0)
			r = error_sys(err, -errno, "thread %d", k->tid);
	}
	return r < 0 || k->gone ? r : task_read(t, k, err);
}

/* What is behind a system call in the vdso stays as it is: see vdso.h. */
int task_leave_vdso(struct tracee *t, struct task *k, struct error *err)
{
	int r;

	if (k->gone || !in_vdso(t, k) || settle_code(&k->regs))
		return 0;
	r = step_out(t, k, err);
	if (!r && t->lose_vdso && !k->gone && in_vdso(t, k))
		r = error_set(
			err, -EAGAIN,
			"thread %d is in the vdso, the code that its kernel provides",
			k->tid);
	return r;
}

int task_put_back(const struct task *k)
{
	struct user_regs_struct regs = k->cont;

	settle_give_back(&regs, k->restart);
	return (int)ptrace(PTRACE_SETREGS, k->tid, NULL, &regs);
}

void task_leave(struct task *k)
{
	if (k->seized &&
	    (ptrace(PTRACE_DETACH, k->tid, NULL, NULL) == 0 || errno != ESRCH))
		k->seized = false;
}

void task_leave_late(const struct tracee *t, struct task *k)
{
	struct user_regs_struct regs;
	int status, sig;

	if (task_wait(k, &status, LEAVE_PATIENCE, NULL) == 0 && !k->gone) {
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		if (!sig && ptrace(PTRACE_GETREGS, k->tid, NULL, &regs) == 0 &&
		    mend_cut(t, &regs))
			ptrace(PTRACE_SETREGS, k->tid, NULL, &regs);
		ptrace(PTRACE_DETACH, k->tid, NULL, (void *)(uintptr_t)sig);
	}
}
