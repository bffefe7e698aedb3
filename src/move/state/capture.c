/*
 * capture.c - the state of a stopped process; see capture.h
 *
 * Each thread makes a short list of calls about itself, the leader also a
 * long one about the process (capture_leader.h); all lists run at the same time.
 */
#include "move/state/capture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/hurry.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/cpu.h"
#include "move/proc/uapi.h"
#include "move/state/capture_leader.h"
#include "move/tracee/cpuclock.h"
#include "move/tracee/mempolicy.h"
#include "move/tracee/settings.h"
#include "move/tracee/timers.h"
#include "move/wire/append.h"

#define IOPRIO_WHO_PROCESS 1

/* What each thread's calls write into its slot's data. */
struct thread_data {
	struct mempolicy mempolicy;
	uint64_t setting[SETTINGS];
	uint64_t altstack[3];
	uint64_t tid_address;
	struct timespec cpu;
	uint32_t pdeath;
	char comm[16];
};

enum thread_call {
	T_GETTID,
	T_ALTSTACK,
	T_TID_ADDRESS,
	T_PDEATH,
	T_SLACK,
	T_COMM,
	T_CPU,
	T_MEMPOLICY,
	T_SETTINGS,
	T_CALLS = T_SETTINGS + SETTINGS_OF_THREAD
};

static void thread_calls(struct stub_call *c, uint64_t data)
{
	call_set(&c[T_GETTID], SYS_gettid, 0, 0, 0, 0);
	call_set(&c[T_ALTSTACK], SYS_sigaltstack, 0,
		 data + offsetof(struct thread_data, altstack), 0, 0);
	call_set(&c[T_TID_ADDRESS], SYS_prctl, PR_GET_TID_ADDRESS,
		 data + offsetof(struct thread_data, tid_address), 0, 0);
	call_set(&c[T_PDEATH], SYS_prctl, PR_GET_PDEATHSIG,
		 data + offsetof(struct thread_data, pdeath), 0, 0);
	call_set(&c[T_SLACK], SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0);
	call_set(&c[T_COMM], SYS_prctl, PR_GET_NAME,
		 data + offsetof(struct thread_data, comm), 0, 0);
	call_set(&c[T_CPU], SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID,
		 data + offsetof(struct thread_data, cpu), 0, 0);
	c[T_MEMPOLICY] =
		mempolicy_ask(data + offsetof(struct thread_data, mempolicy));
	settings_ask(SETTINGS_THREAD, &c[T_SETTINGS],
		     data + offsetof(struct thread_data, setting));
}

/* What ptrace and the kernel tell from outside. */
static void take_outside(Move__Thread *m, const struct task *k,
			 const cpu_set_t *ours)
{
	struct __ptrace_rseq_configuration conf;
	struct sched_param param = { 0 };
	unsigned long list = 0, size = 0;
	int policy, priority;
	cpu_set_t cpus;
	long n;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, k->tid, sizeof(conf),
		   &conf) >= 0) {
		m->rseq = conf.rseq_abi_pointer;
		m->rseq_size = conf.rseq_abi_size;
		m->rseq_sig = conf.signature;
	}
	if (syscall(SYS_get_robust_list, k->tid, &list, &size) == 0) {
		m->robust_list = list;
		m->robust_size = size;
	}
	m->policy = SCHED_OTHER; /* and nice value 0 */
	if (!k->hurried) {
		m->policy = (uint32_t)syscall(SYS_sched_getscheduler, k->tid);
		syscall(SYS_sched_getparam, k->tid, &param);
		m->nice = 20 - (int32_t)syscall(SYS_getpriority, PRIO_PROCESS,
						k->tid);
	}
	m->priority = param.sched_priority;
	CPU_ZERO(&cpus);
	n = syscall(SYS_sched_getaffinity, k->tid, sizeof(cpus), &cpus);
	/* like this process, it may run on all: so it may there */
	if (n > 0 && !CPU_EQUAL(&cpus, ours))
		m->affinity = append_bytes(&cpus, (size_t)n);
	n = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, k->tid);
	m->ioprio = n > 0 ? (uint32_t)n : 0;
	/* What the owner of this host wants of it is nothing of its own. */
	if (claim_lowered((int)n, &policy, &priority)) {
		claim_bound(k->tid, &policy, &priority);
		m->policy = (uint32_t)policy;
		m->priority = priority;
		m->ioprio = 0;
	}
}

static Move__Wait *take_wait(const struct tracee *t, const struct task *k)
{
	Move__Wait *w;

	if (!k->wait.kind)
		return NULL;
	w = append_new(&move__wait__descriptor);
	w->form = k->wait.kind->form;
	w->limit = (uint32_t)k->wait.kind->limit;
	w->until = k->wait.until + t->clock_shift;
	w->in_place = k->wait.in_place;
	return w;
}

static Move__Thread *take_thread(const struct tracee *t, const struct task *k,
				 const struct thread_data *d,
				 const struct stub_call *c,
				 const cpu_set_t *ours)
{
	Move__Thread *m = append_new(&move__thread__descriptor);
	struct user_regs_struct regs = k->cont;

	/* the destination's kernel has nothing to restart: call it again */
	if (k->syscall >= 0)
		regs.rax = (unsigned long)k->syscall;
	m->tid = (int32_t)c[T_GETTID].ret;
	m->regs = append_bytes(&regs, sizeof(regs));
	m->xstate = append_bytes(k->xstate, t->xsave_size);
	m->mask = k->mask;
	m->altstack_sp = d->altstack[0];
	m->altstack_flags = (uint32_t)d->altstack[1];
	m->altstack_size = d->altstack[2];
	m->clear_tid = c[T_TID_ADDRESS].ret == 0 ? d->tid_address : 0;
	m->pdeath = d->pdeath;
	m->timer_slack = k->hurried ? HURRY_SLACK : (uint64_t)c[T_SLACK].ret;
	m->wait = take_wait(t, k);
	m->restart = k->restart == ERESTART_RESTARTBLOCK ? ERESTARTNOHAND
							 : (uint32_t)k->restart;
	m->comm = xasprintf("%.*s", (int)sizeof(d->comm), d->comm);
	m->mempolicy = mempolicy_take(&c[T_MEMPOLICY], &d->mempolicy);
	settings_take(SETTINGS_THREAD, &c[T_SETTINGS], d->setting, m);
	take_outside(m, k, ours);
	return m;
}

static Move__Signal **peek_signals(pid_t tid, bool shared, size_t *ret_n)
{
	struct __ptrace_peeksiginfo_args args = {
		.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
		.nr = 32,
	};
	Move__Signal **list = NULL;
	siginfo_t info[32];
	long n;

	*ret_n = 0;
	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, info)) > 0) {
		for (long i = 0; i < n; i++) {
			Move__Signal *m = append_new(&move__signal__descriptor);

			m->info = append_bytes(&info[i], sizeof(info[i]));
			append_to(list, *ret_n, m);
		}
		args.off += (uint64_t)n;
	}
	return list;
}

static void free_signals(Move__Signal **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		move__signal__free_unpacked(list[i], NULL);
	free(list);
}

/* Once more what may still have come in: the signals that wait. */
static void pending_again(struct tracee *t, Move__State *s)
{
	free_signals(s->pending, s->n_pending);
	s->pending = peek_signals(t->task[0].tid, true, &s->n_pending);
	for (size_t i = 0; i < t->nr; i++) {
		Move__Thread *m = s->thread[i];

		free_signals(m->pending, m->n_pending);
		m->pending = peek_signals(t->task[i].tid, false, &m->n_pending);
	}
}

int capture_calls(const struct tracee *t, struct error *err)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->task[i].syscall == SYS_restart_syscall)
			return error_set(
				err, -EAGAIN,
				"thread %d waits in a call that somebody interrupted before, and it is not known which",
				t->task[i].tid);
	return 0;
}

static int take_snippets(const struct tracee *t, Move__State *s,
			 struct error *err)
{
	char page[STUB_PAGE];
	int r = tracee_read(t->pid, t->area, page, sizeof(page));

	if (r < 0)
		return error_sys(err, r, "reading from the process");
	s->snippets = append_bytes(page + STUB_SNIPPETS,
				   sizeof(page) - STUB_SNIPPETS);
	return 0;
}

static int read_slots(const struct tracee *t, struct thread_data *d,
		      struct error *err)
{
	struct iovec *here = xcalloc(2 * t->nr, sizeof(*here));
	struct iovec *there = here + t->nr;
	int r;

	for (size_t i = 0; i < t->nr; i++) {
		uint64_t at =
			tracee_slot(t, i) + offsetof(struct stub_thread, data);

		here[i] = (struct iovec){ &d[i], sizeof(d[i]) };
		there[i] =
			(struct iovec){ (void *)(uintptr_t)at, sizeof(d[i]) };
	}
	r = tracee_read_all(t->pid, here, there, t->nr);
	free(here);
	return r < 0 ? error_sys(err, r, "reading from the process") : 0;
}

static int take_slots(struct tracee *t, Move__State *s,
		      const struct tracee_list *list, struct error *err)
{
	struct thread_data *d = xcalloc(t->nr, sizeof(*d));
	int r = read_slots(t, d, err);
	cpu_set_t ours;

	CPU_ZERO(&ours);
	syscall(SYS_sched_getaffinity, 0, sizeof(ours), &ours);
	for (size_t i = 0; i < t->nr && !r; i++) {
		append_to(s->thread, s->n_thread,
			  take_thread(t, &t->task[i], &d[i], list[i].call,
				      &ours));
		cpuclock_take(s, (uint32_t)s->thread[i]->tid, &d[i].cpu);
	}
	free(d);
	return r;
}

static void take_tiles(const struct tracee *t, Move__State *s)
{
	for (size_t i = 0; i < t->nr && s->xcomp_perm & XSTATE_TILES; i++)
		s->thread[i]->tiles = tracee_has_room_for_tiles(t, i);
}

int capture_state(struct tracee *t, const struct proc_status *stopped,
		  Move__State *s, struct error *err)
{
	struct tracee_list *list = xcalloc(t->nr, sizeof(*list));
	struct leader_data *data = xcalloc(1, sizeof(*data));
	int r = timers_read(t->pid, s, LEADER_TIMERS, err);

	if (!r)
		r = take_snippets(t, s, err);
	if (r < 0)
		goto out;
	for (size_t i = 0; i < t->nr; i++) {
		list[i].n = T_CALLS;
		/* no more than needed: fresh memory is slow */
		list[i].call = xcalloc(i ? T_CALLS : T_CALLS + LEADER_CALLS,
				       sizeof(struct stub_call));
		thread_calls(list[i].call,
			     tracee_slot(t, i) +
				     offsetof(struct stub_thread, data));
	}
	list[0].n +=
		leader_calls(list[0].call + T_CALLS, tracee_box_data(t), s);
	r = tracee_run(t, list, data, sizeof(*data), err);
	if (!r)
		cpuclock_take(s,
			      CPUCLOCK_PROCESS |
				      (uint32_t)list[0].call[T_GETTID].ret,
			      &data->cpu);
	if (!r)
		r = take_slots(t, s, list, err);
	if (!r) {
		s->thread[0]->creds = capture_creds(stopped);
		leader_take(t, s, data, list[0].call + T_CALLS);
		take_tiles(t, s);
		cpuclock_add(t->pid, s);
		pending_again(t, s);
	}
out:
	for (size_t i = 0; i < t->nr; i++)
		free(list[i].call);
	free(list);
	free(data);
	return r;
}
