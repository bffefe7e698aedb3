/* stop.c - stop all threads of a process, and let them go; tracee.h */
#include "move/tracee/tracee.h"

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

#include "core/hurry.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/move.h"
#include "move/proc/proc.h"
#include "move/proc/watch.h"

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

/*
 * A signal that the process ignores, so that it has no effect if no tracer is
 * there to take it; at worst one that it handles as spurious (Go's SIGURG).
 */
static int choose_stop_sig(uint64_t caught)
{
	static const int harmless[] = { SIGURG, SIGWINCH, SIGCHLD, SIGCONT };

	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (!(caught & UINT64_C(1) << (harmless[i] - 1)))
			return harmless[i];
	return SIGURG;
}

struct tracee *tracee_create(pid_t pid, struct error *err)
{
	struct proc_status s;
	struct tracee *t;

	if (proc_read_status(pid, &s, err) < 0)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->pid = pid;
	t->stop_sig = choose_stop_sig(s.sig_caught);
	return t;
}

void tracee_abandon(struct tracee *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->task[i].xstate);
	free(t->task);
	free(t->seen);
	free(t);
}

void tracee_destroy(struct tracee *t)
{
	if (t)
		tracee_resume(t);
	tracee_abandon(t);
}

static struct task *task_find(struct tracee *t, pid_t tid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->task[i].tid == tid)
			return &t->task[i];
	return NULL;
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

/* 1: seized and told to stop, 0: it has exited meanwhile. */
static int task_seize(struct tracee *t, pid_t tid, struct error *err)
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
	if (t->hurry)
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
static int task_take_stop(struct tracee *t, struct task *k, struct error *err)
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

static void forget_gone(struct tracee *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (!t->task[i].gone)
			t->task[n++] = t->task[i];
		else
			free(t->task[i].xstate);
	t->nr = n;
}

int tracee_stop_leader(struct tracee *t, struct error *err)
{
	int r;

	watch_stands(t->watch, true);
	r = task_seize(t, t->pid, err);
	if (r > 0)
		r = task_take_stop(t, &t->task[0], err);
	else if (!r)
		r = error_set(err, -ESRCH, "process %d has exited", t->pid);
	forget_gone(t);
	if (!r && !t->nr)
		r = error_set(err, -ESRCH, "process %d has exited", t->pid);
	return r;
}

/* Seize the threads not known yet; returns how many, or -errno. */
static int seize_new(struct tracee *t, struct error *err)
{
	pid_t *tid;
	ssize_t n = proc_read_tasks(t->pid, &tid, err);
	int found = 0, r = 0;

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n && r >= 0; i++) {
		if (task_find(t, tid[i]))
			continue;
		r = task_seize(t, tid[i], err);
		found += r > 0;
	}
	free(tid);
	return r < 0 ? r : found;
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
static int leave_vdso(struct tracee *t, struct task *k, struct error *err)
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

/*
 * A thread can make another one until it has stopped, so look again until a
 * look at stopped threads alone finds nothing new.
 */
int tracee_stop(struct tracee *t, struct error *err)
{
	size_t done = 0;
	int r;

	watch_stands(t->watch, true);
	while ((r = seize_new(t, err)) > 0) {
		for (; done < t->nr; done++)
			if ((r = task_take_stop(t, &t->task[done], err)) < 0)
				return r;
	}
	for (size_t i = 0; t->leave_vdso && i < t->nr && !r; i++)
		r = leave_vdso(t, &t->task[i], err);
	if (r < 0)
		return r;
	forget_gone(t);
	if (!task_find(t, t->pid))
		return error_set(err, -ESRCH, "the main thread has exited");
	if (t->task[0].tid != t->pid) {
		struct task *k = task_find(t, t->pid), tmp = *k;

		*k = t->task[0];
		t->task[0] = tmp;
	}
	return 0;
}

/* Let go of a thread, if it stands still by now. */
static void task_leave(struct task *k)
{
	if (k->seized &&
	    (ptrace(PTRACE_DETACH, k->tid, NULL, NULL) == 0 || errno != ESRCH))
		k->seized = false;
}

/*
 * Let go of a thread that was told to stop and has not been waited for: it may
 * be stopped with a signal to be delivered, or in an interrupted call.
 */
static void task_leave_late(const struct tracee *t, struct task *k)
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

/* The leader last: if killed, it can be waited for after all the others. */
void tracee_resume(struct tracee *t)
{
	for (size_t i = t->nr; i-- > 0;) {
		if (t->task[i].hurried)
			hurry_end(t->task[i].tid);
		if (t->task[i].going)
			continue;
		if (t->task[i].seized)
			tracee_resume_call(t, i);
		task_leave(&t->task[i]);
	}
	watch_stands(t->watch, false);
	for (size_t i = t->nr; i-- > 0;)
		if (t->task[i].seized)
			task_leave_late(t, &t->task[i]);
	for (size_t i = 0; i < t->nr; i++)
		free(t->task[i].xstate);
	t->nr = 0;
}
