/*
 * run.c - lists of system calls in the name of a stopped process
 *
 * They lie in the landing area, cost one stop for a whole list, and run in all
 * threads at once.  The first call, which maps that area, is call.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/xalloc.h"
#include "move/tracee/task.h"
#include "move/tracee/tracee.h"
#include "move/wire/fault.h"

/* Where task i's list lies in the tracee. */
static uint64_t list_at(const struct tracee *t, size_t i)
{
	return i ? tracee_slot(t, i)
		 : t->area + STUB_BOX + offsetof(struct stub_box, call);
}

#define PAUSE	 TRACEE_PAUSE
#define EPILOGUE (PAUSE + 1)
#define MARK	 (-100) /* where put_pause() is to put one */

static size_t list_size(const struct tracee_list *l)
{
	return l->n + (l->at_pause ? PAUSE : 0) + EPILOGUE;
}

/* A pause: a signal that only the engine minds.  at: where c will lie. */
static void put_pause(struct tracee *t, struct stub_call *c, uint64_t at)
{
	uint64_t args = at + 2 * sizeof(*c) + offsetof(struct stub_call, arg);

	c[0] = (struct stub_call){ .nr = SYS_getpid, .copy = args };
	c[1] = (struct stub_call){ .nr = SYS_gettid, .copy = args + 8 };
	c[2] = (struct stub_call){ .nr = SYS_tgkill,
				   .arg = { 0, 0, (uint64_t)t->stop_sig } };
}

void tracee_pause(struct stub_call *c)
{
	for (int i = 0; i < PAUSE; i++)
		c[i] = (struct stub_call){ .nr = SYS_getpid };
	c[0].nr = MARK;
}

/*
 * Every list ends in a pause; and if there is no engine any more, in being
 * again what the thread was.
 */
static void build_list(struct tracee *t, const struct tracee_list *l,
		       uint64_t at, uint64_t uc, struct stub_call *c)
{
	size_t n = 0;

	if (l->at_pause) {
		c[n++] = l->call[0];
		c[0].copy = at + (1 + PAUSE) * sizeof(*c) +
			    offsetof(struct stub_call, arg);
		put_pause(t, c + n, at + n * sizeof(*c));
		n += PAUSE;
		c[n++] = l->call[1];
	} else {
		memcpy(c, l->call, l->n * sizeof(*c));
		for (n = 0; n < l->n; n++)
			if (c[n].nr == MARK)
				put_pause(t, c + n, at + n * sizeof(*c));
	}
	put_pause(t, c + n, at + n * sizeof(*c));
	c[n + PAUSE] =
		(struct stub_call){ .nr = STUB_SIGRETURN, .arg = { uc } };
}

/* Pieces of the tracee's memory, and what they are read into or written from. */
struct pieces {
	struct iovec *here, *there;
	size_t nr;
};

static struct pieces pieces_create(size_t most)
{
	return (struct pieces){ xcalloc(most, sizeof(struct iovec)),
				xcalloc(most, sizeof(struct iovec)), 0 };
}

static void pieces_add(struct pieces *p, uint64_t at, void *here, size_t n)
{
	p->there[p->nr] = (struct iovec){ (void *)(uintptr_t)at, n };
	p->here[p->nr++] = (struct iovec){ here, n };
}

static void pieces_clear(struct pieces *p)
{
	free(p->here);
	free(p->there);
}

/*
 * Task i's list, and the frame by which the thread returns to what it was; both
 * allocated.
 */
static void list_make(struct tracee *t, size_t i, const struct tracee_list *l,
		      struct pieces *ret)
{
	struct task *k = &t->task[i];
	struct stub_frame f = {
		.mask = k->mask,
		.altstack_flags = 0x10, /* not valid: keep what is set */
		.xstate = k->xstate,
		.xstate_size = t->xsave_size,
	};
	struct user_regs_struct again = k->cont;
	uint64_t frame_at = tracee_slot(t, i) + sizeof(struct stub_thread), uc;
	char *frame = xcalloc(1, stub_slot_size(t->xsave_size));
	struct stub_call *c = xcalloc(list_size(l), sizeof(*c));
	size_t n;

	/* rt_sigreturn forgets what restart_syscall would continue */
	if (k->syscall >= 0)
		again.rax = (unsigned long)k->syscall;
	f.regs = &again;
	n = stub_build_frame(frame, frame_at, &f, &uc);
	build_list(t, l, list_at(t, i), uc, c);
	pieces_add(ret, frame_at, frame, n);
	pieces_add(ret, list_at(t, i), c, list_size(l) * sizeof(*c));
}

static int list_start(struct tracee *t, size_t i, struct error *err)
{
	struct task *k = &t->task[i];
	struct user_regs_struct regs = k->cont;
	uint64_t mask = ~(UINT64_C(1) << (t->stop_sig - 1));

	regs.rip = t->area + STUB_ENTRY;
	regs.rbx = list_at(t, i);
	regs.rsp = (regs.rsp - 1024) & ~UINT64_C(63);
	/* in this order: from the first on, the frame undoes it all */
	if (ptrace(PTRACE_SETREGS, k->tid, NULL, &regs) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, k->tid, sizeof(mask), &mask) < 0 ||
	    ptrace(PTRACE_CONT, k->tid, NULL, NULL) < 0)
		return error_sys(err, -errno, "starting thread %d", k->tid);
	return 0;
}

static bool has_news(void *task)
{
	const struct task *k = task;
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)k->tid, &si,
		      WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL) < 0 ||
	       si.si_pid;
}

/* Wait until the thread pauses at that call, for so long; 0: for ever. */
static int wait_pause(struct tracee *t, struct task *k, uint64_t at,
		      usec_t limit, struct error *err)
{
	struct user_regs_struct regs;
	int status;

	for (;;) {
		if (limit && !tracee_await(has_news, k, limit))
			return error_set(err, -EAGAIN, "thread %d still waits",
					 k->tid);
		if (waitpid(k->tid, &status, __WALL) < 0 ||
		    !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, k->tid, NULL, &regs) < 0)
			return error_set(err, -ESRCH, "thread %d has exited",
					 k->tid);
		if (WSTOPSIG(status) == t->stop_sig && regs.rbx == at)
			return 0;
		if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGILL)
			return error_set(err, -EFAULT,
					 "thread %d failed in the stub",
					 k->tid);
		ptrace(PTRACE_CONT, k->tid, NULL, NULL);
	}
}

/* The pause in the middle, if there is one. */
static int list_pause(struct tracee *t, size_t i, const struct tracee_list *l,
		      struct error *err)
{
	struct task *k = &t->task[i];
	uint64_t at = list_at(t, i);
	struct stub_call made;
	int r;

	if (!l->at_pause)
		return 0;
	r = wait_pause(t, k, at + PAUSE * sizeof(made), 0, err);
	if (!r && (r = tracee_read(t->pid, at, &made, sizeof(made))) < 0)
		error_sys(err, r, "reading from the process");
	if (!r)
		r = l->at_pause(l->arg, &made, err);
	ptrace(PTRACE_CONT, k->tid, NULL, NULL);
	return r;
}

/* Wait for the end of the list, and make the thread what it was. */
static int list_wait(struct tracee *t, size_t i, const struct tracee_list *l,
		     usec_t limit, struct error *err)
{
	struct task *k = &t->task[i];
	uint64_t last =
		list_at(t, i) + (list_size(l) - 2) * sizeof(struct stub_call);
	int paused = list_pause(t, i, l, err);
	int r = wait_pause(t, k, last, limit, paused < 0 ? NULL : err);

	if (r < 0)
		return r;
	/* in this order: until the second, the frame still undoes it all */
	if (ptrace(PTRACE_SETSIGMASK, k->tid, sizeof(k->mask), &k->mask) < 0 ||
	    task_put_back(k) < 0)
		return error_sys(err, -errno, "writing thread %d", k->tid);
	return paused;
}

/* The results, for lists that did not pause: those took theirs. */
static int read_results(struct tracee *t, struct tracee_list *list, void *data,
			size_t nr_data, struct error *err)
{
	struct pieces p = pieces_create(t->nr + 1);
	int r;

	for (size_t i = 0; i < t->nr; i++)
		if (list[i].n && !list[i].at_pause)
			pieces_add(&p, list_at(t, i), list[i].call,
				   list[i].n * sizeof(*list[i].call));
	if (nr_data)
		pieces_add(&p, tracee_box_data(t), data, nr_data);
	r = tracee_read_all(t->pid, p.here, p.there, p.nr);
	pieces_clear(&p);
	return r < 0 ? error_sys(err, r, "reading from the process") : 0;
}

static int load_all(struct tracee *t, const struct tracee_list *list,
		    const void *data, size_t nr_data, struct error *err)
{
	struct pieces p = pieces_create(2 * t->nr + 1);
	int r;

	for (size_t i = 0; i < t->nr; i++)
		if (list[i].n)
			list_make(t, i, &list[i], &p);
	if (nr_data)
		pieces_add(&p, tracee_box_data(t), (void *)(uintptr_t)data,
			   nr_data);
	r = tracee_write_all(t->pid, p.here, p.there, p.nr);
	for (size_t i = 0; i < p.nr - (nr_data > 0); i++)
		free(p.here[i].iov_base);
	pieces_clear(&p);
	return r < 0 ? error_sys(err, r, "writing into the process") : 0;
}

/*
 * Start all lists; returns how many were gone through, all of them or up to the
 * error.
 */
static int start_all(struct tracee *t, const struct tracee_list *list,
		     size_t *ret_nr, struct error *err)
{
	size_t nr = 0;
	int r = 0;

	while (nr < t->nr && (!list[nr].n || (r = list_start(t, nr, err)) == 0))
		nr++;
	*ret_nr = nr;
	return r < 0 ? r : move_fault(MF_SOURCE_INJECTED, err);
}

static int wait_all(struct tracee *t, const struct tracee_list *list, size_t nr,
		    int r, usec_t limit, struct error *err)
{
	/*
	 * Even after a failure: a thread let go in the middle would keep our
	 * signal mask.
	 */
	for (size_t i = 0; i < nr; i++) {
		int k = list[i].n ? list_wait(t, i, &list[i], limit,
					      r ? NULL : err)
				  : 0;

		r = r < 0 ? r : k;
	}
	return r;
}

int tracee_run(struct tracee *t, struct tracee_list *list, void *data,
	       size_t nr_data, struct error *err)
{
	size_t nr = 0;
	int r = load_all(t, list, data, nr_data, err);

	if (r < 0)
		return r;
	r = start_all(t, list, &nr, err);
	r = wait_all(t, list, nr, r, 0, err);
	return r < 0 ? r : read_results(t, list, data, nr_data, err);
}

int tracee_begin(struct tracee *t, struct tracee_list *list, const void *data,
		 size_t nr_data, struct error *err)
{
	size_t nr = 0;
	int r = load_all(t, list, data, nr_data, err);

	if (!r)
		r = start_all(t, list, &nr, err);
	return r;
}

uint64_t tracee_call_at(const struct tracee *t, size_t n)
{
	return list_at(t, 0) + n * sizeof(struct stub_call);
}

int tracee_reach(struct tracee *t, size_t n, struct error *err)
{
	return wait_pause(t, &t->task[0], tracee_call_at(t, n + PAUSE - 1), 0,
			  err);
}

static void go_on(struct tracee *t)
{
	ptrace(PTRACE_CONT, t->task[0].tid, NULL, NULL);
}

int tracee_go_past(struct tracee *t, struct error *err)
{
	pid_t tid = t->task[0].tid;
	struct user_regs_struct regs;

	/* the stub goes on to the one behind that at which it is */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
		return error_sys(err, -errno, "reading thread %d", tid);
	regs.rbx += sizeof(struct stub_call);
	if (ptrace(PTRACE_SETREGS, tid, NULL, &regs) < 0)
		return error_sys(err, -errno, "writing thread %d", tid);
	go_on(t);
	return 0;
}

int tracee_end(struct tracee *t, const struct tracee_list *list, usec_t limit,
	       struct error *err)
{
	go_on(t);
	return wait_all(t, list, t->nr, 0, limit, err);
}

int tracee_look_at(struct tracee *t, struct stub_call *call, size_t n,
		   struct error *err)
{
	int r = tracee_read(t->pid, list_at(t, 0), call, n * sizeof(*call));

	return r < 0 ? error_sys(err, r, "reading from the process") : 0;
}
