/*
 * look.c - since when does a thread sleep, and until when; see wait.h
 *
 * The scheduler notes in se.exec_start when it last let a thread run, in the
 * time of that thread's processor.  That time runs behind CLOCK_MONOTONIC by
 * what interrupts and the hypervisor took, so it is compared on the same
 * processor, by going there.  The number of voluntary switches tells whether a
 * thread still sleeps the same sleep: every sleep and every stop adds one.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/tracee/tracee.h"
#include "move/tracee/wait.h"

#define NEVER INT64_MAX

/*
 * A processor's clock may run faster than CLOCK_MONOTONIC, but not by more than
 * this.
 */
#define CLOCK_ERROR 1024

/* What is known of the call that a thread sleeps in. */
struct wait_seen {
	pid_t tid;
	uint64_t ip, sp;
	int64_t nr;	   /* the call, before anybody interrupted it */
	uint64_t switches; /* voluntary ones, up to now */
	int64_t since;	   /* asleep since, as seen by a look; 0 unknown */
	int64_t until;	   /* when stopped: the wait's end, or NEVER */
	bool snippet;	   /* we have let it make the call again */
	unsigned cpu;	   /* during a look: where it sleeps, */
	int64_t exec;	   /* since this time of that processor; 0 done */
};

static struct wait_seen *seen_find(const struct tracee *t, pid_t tid)
{
	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i].tid == tid)
			return &t->seen[i];
	return NULL;
}

static struct wait_seen *seen_make(struct tracee *t, pid_t tid)
{
	struct wait_seen *w = seen_find(t, tid);

	if (w)
		return w;
	array_room(t->seen, t->nr_seen, &t->cap_seen);
	w = &t->seen[t->nr_seen++];
	*w = (struct wait_seen){ .tid = tid, .nr = -1 };
	return w;
}

/* "se.exec_start  :  1545082.960079", milliseconds. */
static bool sched_field(const char *text, const char *name, int64_t *ret_whole,
			int64_t *ret_part)
{
	const char *p = strstr(text, name);

	*ret_part = 0;
	return p && (p = strchr(p, ':')) &&
	       sscanf(p + 1, "%" SCNd64 ".%" SCNd64, ret_whole, ret_part) >= 1;
}

/* false from kernels that do not tell. */
static bool read_sched(pid_t tid, int64_t *ret_exec, uint64_t *ret_switches)
{
	int64_t whole, part, switches, none;
	char *text;
	bool ok;

	if (proc_read(tid, "sched", &text, NULL) < 0)
		return false;
	ok = sched_field(text, "se.exec_start", &whole, &part) &&
	     sched_field(text, "nr_voluntary_switches", &switches, &none);
	free(text);
	if (ok) {
		*ret_exec = whole * NSEC_PER_MSEC + part;
		*ret_switches = (uint64_t)switches;
	}
	return ok;
}

/* The call a thread sleeps in; false when it runs. */
static bool read_call(pid_t tid, int64_t *ret_nr, uint64_t arg[6],
		      uint64_t *ret_sp, uint64_t *ret_ip)
{
	char *text;
	int n;

	if (proc_read(tid, "syscall", &text, NULL) < 0)
		return false;
	n = sscanf(text,
		   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   ret_nr, &arg[0], &arg[1], &arg[2], &arg[3], &arg[4], &arg[5],
		   ret_sp, ret_ip);
	free(text);
	return n == 9;
}

static bool told_by_kernel(const struct wait_kind *k, const uint64_t arg[6])
{
	return k->rest >= 0 && arg[k->rest];
}

static void look_at_thread(struct tracee *t, pid_t tid)
{
	uint64_t arg[6], again[6], sp, ip, switches;
	const struct wait_kind *k;
	struct wait_seen *w;
	struct procstat stat;
	int64_t nr, nr_again, exec;

	if (!read_call(tid, &nr, arg, &sp, &ip) ||
	    !read_sched(tid, &exec, &switches) ||
	    procstat_read(tid, &stat) < 0 ||
	    !read_call(tid, &nr_again, again, &sp, &ip) || nr != nr_again ||
	    memcmp(arg, again, sizeof(arg)) || !exec)
		return;
	w = seen_make(t, tid);
	if (nr == SYS_restart_syscall && w->ip == ip && w->sp == sp)
		return;
	if (nr == SYS_restart_syscall)
		nr = wait_guess(t->pid, arg);
	if (!(k = wait_kind(nr, arg)) || told_by_kernel(k, arg))
		return;
	*w = (struct wait_seen){
		.tid = tid,
		.ip = ip,
		.sp = sp,
		.nr = nr,
		.switches = switches,
		.until = NEVER,
		.cpu = stat.cpu,
		.exec = exec,
	};
}

/* From that processor's time to ours, for all that sleep there. */
static void date_cpu(struct tracee *t, unsigned cpu)
{
	uint64_t switches;
	int64_t here, now;
	cpu_set_t one;
	bool ok;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ok = sched_setaffinity(0, sizeof(one), &one) == 0 &&
	     sched_yield() == 0 &&
	     read_sched((pid_t)syscall(SYS_gettid), &here, &switches);
	now = wait_now();
	for (size_t i = 0; i < t->nr_seen; i++) {
		struct wait_seen *w = &t->seen[i];
		int64_t slept = here - w->exec;

		if (!w->exec || w->cpu != cpu)
			continue;
		if (ok && slept > 0)
			w->since = now - (slept - slept / CLOCK_ERROR);
		w->exec = 0;
	}
}

void tracee_look(struct tracee *t)
{
	cpu_set_t mine;
	pid_t *tid;
	ssize_t n = proc_read_tasks(t->pid, &tid, NULL);

	if (n < 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		look_at_thread(t, tid[i]);
	free(tid);
	if (sched_getaffinity(0, sizeof(mine), &mine) < 0)
		return;
	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i].exec)
			date_cpu(t, t->seen[i].cpu);
	sched_setaffinity(0, sizeof(mine), &mine);
}

/*
 * The earliest end that is not too early.  known: what is remembered of this
 * very call site, or NULL.
 */
static int64_t find_end(pid_t pid, const struct task *k,
			const struct wait_kind *kind, const uint64_t arg[6],
			int64_t limit, const struct wait_seen *known,
			uint64_t switches)
{
	int64_t now = wait_now(), until = now + limit, end = NEVER, left;
	bool again = k->regs.orig_rax == SYS_restart_syscall;
	struct wait_kind rest = *kind;

	rest.limit = kind->rest;
	if (settle_code(&k->regs) && told_by_kernel(kind, arg)) {
		left = wait_limit(pid, &rest, arg);
		if (left >= 0)
			end = now + left;
	} else if (known && (again || known->snippet) &&
		   known->until != NEVER && switches - known->switches <= 2) {
		end = known->until;
	} else if (known && known->since && switches == known->switches + 1) {
		end = known->since + limit;
	}
	return end < until ? end : until;
}

/* What was called; of a call that begins again, what it was at first. */
static int64_t number_of_call(const struct tracee *t, const struct task *k,
			      bool fresh, const struct wait_seen *w,
			      uint64_t *arg)
{
	int64_t nr = (int64_t)(fresh ? k->regs.rax : k->regs.orig_rax);

	if (nr != SYS_restart_syscall)
		return nr;
	return w && w->nr >= 0 ? w->nr : wait_guess(t->pid, arg);
}

void tracee_found_call(struct tracee *t, struct task *k)
{
	bool fresh = stub_is_snippet(t->area, k->regs.rip);
	struct wait_seen *w = seen_find(t, k->tid);
	const struct wait_kind *kind;
	uint64_t arg[6], switches = 0;
	int64_t nr, exec, limit = -1;

	k->wait.kind = NULL;
	/* it was interrupted before, and has not got into its call again */
	if (fresh)
		k->restart = ERESTARTNOHAND;
	if (!k->restart)
		return;
	if (w && (w->ip != k->regs.rip || w->sp != k->regs.rsp))
		w = NULL;
	wait_args(&k->regs, arg);
	nr = number_of_call(t, k, fresh, w, arg);
	if (k->syscall == SYS_restart_syscall && nr >= 0)
		k->syscall = nr;
	kind = wait_kind(nr, arg);
	if (kind)
		limit = wait_limit(t->pid, kind, arg);
	if (limit >= 0) {
		if (!read_sched(k->tid, &exec, &switches))
			w = NULL;
		k->wait.kind = kind;
		k->wait.in_place = kind->rest == kind->limit &&
				   -(long)k->regs.rax == ERESTARTNOHAND;
		k->wait.until =
			find_end(t->pid, k, kind, arg, limit, w, switches);
	}
	if (k->syscall < 0)
		return;
	w = seen_make(t, k->tid);
	*w = (struct wait_seen){
		.tid = k->tid,
		.ip = k->regs.rip,
		.sp = k->regs.rsp,
		.nr = nr,
		.switches = switches,
		.until = limit >= 0 ? k->wait.until : NEVER,
	};
}

/*
 * The kernel continues the thread's call; the thread may have made calls for us
 * since the stop.
 */
static void recount(struct tracee *t, const struct task *k)
{
	struct wait_seen *w = seen_find(t, k->tid);
	int64_t exec;

	if (w && !read_sched(k->tid, &exec, &w->switches))
		w->until = NEVER;
}

/* Have the thread make its call again by a snippet. */
static int use_snippet(struct tracee *t, const struct task *k,
		       struct user_regs_struct *regs, const uint64_t limit[2],
		       uint64_t slot)
{
	unsigned long long *arg = wait_arg(regs, k->wait.kind->limit);
	unsigned char page[STUB_PAGE];
	uint64_t at = slot + offsetof(struct stub_thread, limit);
	size_t off;
	int r = tracee_read(t->pid, t->area, page, sizeof(page));

	if (!r && !stub_is_snippet(t->area, regs->rip)) {
		off = stub_snippet(page, k->wait.kind->limit, *arg,
				   regs->rip + 2);
		if (!off)
			return -ENOSPC;
		regs->rip = t->area + off;
		r = tracee_poke(k->tid, regs->rip, page + off, STUB_SNIPPET);
	}
	if (!r && k->wait.kind->form != WAIT_MSEC)
		r = tracee_write(t->pid, at, limit, 2 * sizeof(*limit));
	*arg = k->wait.kind->form == WAIT_MSEC ? limit[0] : at;
	return r;
}

static void remember_snippet(struct tracee *t, const struct task *k,
			     const struct user_regs_struct *regs)
{
	struct wait_seen *w = seen_make(t, k->tid);

	*w = (struct wait_seen){
		.tid = k->tid,
		.ip = regs->rip,
		.sp = regs->rsp,
		.nr = (int64_t)regs->orig_rax,
		.until = k->wait.until,
		.snippet = true,
	};
	recount(t, k);
}

/* The limit becomes what is left of it.  True: by a snippet. */
static bool shorten(struct tracee *t, size_t i, struct user_regs_struct *regs)
{
	const struct task *k = &t->task[i];
	struct user_regs_struct made = *regs;
	uint64_t limit[2] = { 0 }, arg[6];

	wait_args(regs, arg);
	wait_store(k->wait.kind->form, k->wait.until - wait_now(), 0, limit);
	if (k->wait.in_place)
		(void)!tracee_write(t->pid, arg[k->wait.kind->limit], limit,
				    sizeof(limit));
	else if (t->area &&
		 use_snippet(t, k, &made, limit, tracee_slot(t, i)) == 0)
		*regs = made;
	return regs->rip != k->cont.rip;
}

void tracee_resume_call(struct tracee *t, size_t i)
{
	struct task *k = &t->task[i];
	struct user_regs_struct regs = k->cont;
	bool snippet = false;

	if (!k->restart)
		return;
	if (k->wait.kind && k->syscall < 0)
		snippet = shorten(t, i, &regs);
	settle_give_back(&regs, k->restart);
	if (ptrace(PTRACE_SETREGS, k->tid, NULL, &regs) < 0)
		return;
	if (snippet)
		remember_snippet(t, k, &regs);
	else if (k->wait.kind && k->syscall >= 0)
		recount(t, k);
}
