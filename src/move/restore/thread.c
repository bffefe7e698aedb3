/*
 * thread.c - the last steps of each thread, before and after release
 *
 * A thread makes its own settings, queues the signals that waited for it,
 * and stands before the word `released`.  After that the leader arms the
 * timers, so that their time begins when the process runs again, and each
 * thread leaves by rt_sigreturn, which puts all its registers back at once.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <time.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/cpu.h"
#include "move/restore/restart.h"
#include "move/restore/restore.h"
#include "move/tracee/mempolicy.h"
#include "move/tracee/settings.h"
#include "move/tracee/tracee.h"

#define IOPRIO_WHO_PROCESS 1

struct list {
	struct landing *l;
	struct stub_call *call;
	size_t nr, cap;
};

static void add_call(struct list *q, long nr, uint64_t a, uint64_t b,
		     uint64_t c, uint64_t d)
{
	array_room(q->call, q->nr, &q->cap);
	q->call[q->nr++] =
		(struct stub_call){ .nr = nr, .arg = { a, b, c, d } };
}

static uint64_t box_word(const struct landing *l, size_t offset)
{
	return l->area + STUB_BOX + offset;
}

/*
 * If L was put ahead of others for the freeze, so are its threads; each puts itself
 * back.
 */
static int put_calm(struct list *q, const Move__Thread *t, struct error *err)
{
	struct sched_param normal = { 0 };
	uint64_t at;
	int r = landing_keep_data(q->l, &normal, sizeof(normal), &at, err);

	if (!r)
		add_call(q, SYS_sched_setscheduler, 0, SCHED_OTHER, at, 0);
	add_call(q, SYS_setpriority, PRIO_PROCESS, 0, (uint64_t)t->nice, 0);
	return r;
}

static int put_settings(struct list *q, const Move__Thread *t,
			struct error *err)
{
	const struct user_regs_struct *regs = (const void *)t->regs.data;
	struct sched_param param = { .sched_priority = t->priority };
	char name[16] = "";
	uint64_t at;
	int r;

	add_call(q, SYS_arch_prctl, ARCH_SET_FS, regs->fs_base, 0, 0);
	add_call(q, SYS_arch_prctl, ARCH_SET_GS, regs->gs_base, 0, 0);
	add_call(q, SYS_set_tid_address, t->clear_tid, 0, 0, 0);
	if (t->robust_list)
		add_call(q, SYS_set_robust_list, t->robust_list, t->robust_size,
			 0, 0);
	if (t->rseq)
		add_call(q, SYS_rseq, t->rseq, t->rseq_size, 0, t->rseq_sig);
	add_call(q, SYS_setpriority, 0, 0, (uint64_t)t->nice, 0);
	if (t->ioprio)
		add_call(q, SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, t->ioprio,
			 0);
	strncpy(name, t->comm, sizeof(name) - 1);
	r = landing_keep_data(q->l, name, sizeof(name), &at, err);
	if (!r)
		add_call(q, SYS_prctl, PR_SET_NAME, at, 0, 0);
	if (!r && t->policy != SCHED_OTHER) {
		r = landing_keep_data(q->l, &param, sizeof(param), &at, err);
		if (!r)
			add_call(q, SYS_sched_setscheduler, 0, t->policy, at,
				 0);
	}
	if (!r && t->affinity.len) {
		r = landing_keep_data(q->l, t->affinity.data, t->affinity.len,
				      &at, err);
		if (!r)
			add_call(q, SYS_sched_setaffinity, 0, t->affinity.len,
				 at, 0);
	}
	return r;
}

/* These may fail: this kernel or its administrator may not allow a setting. */
static int put_prctls(struct list *q, const Move__Thread *t, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < t->n_setting && !r; i++) {
		array_room(q->call, q->nr, &q->cap);
		r = settings_make(t->setting[i], &q->call[q->nr++], err);
	}
	return r;
}

static int put_mempolicy(struct list *q, const Move__Thread *t,
			 struct error *err)
{
	uint64_t nodes[MEMPOLICY_NODES / 64], at;
	int r;

	if (!t->mempolicy)
		return 0;
	if (!mempolicy_nodes(t->mempolicy, nodes))
		return error_set(err, -EPROTO, "malformed memory policy");
	r = landing_keep_data(q->l, nodes, sizeof(nodes), &at, err);
	if (r < 0)
		return r;
	add_call(q, SYS_set_mempolicy, t->mempolicy->mode, at,
		 MEMPOLICY_NODES + 1, 0);
	q->call[q->nr - 1].must = 1;
	return 0;
}

/*
 * Queue signals, for the process if tid is 0.  Only a task itself may send
 * itself any signal.
 */
static int put_signals(struct list *q, Move__Signal *const *s, size_t n,
		       bool own, int32_t pid, int32_t tid, struct error *err)
{
	uint64_t elsewhere = restore_by_leader(s, n, own);

	for (size_t i = 0; i < n; i++) {
		uint64_t at, signo;
		siginfo_t info;
		int r;

		if (s[i]->info.len != sizeof(info))
			return error_set(err, -EPROTO, "malformed siginfo");
		memcpy(&info, s[i]->info.data, sizeof(info));
		signo = (uint64_t)info.si_signo;
		if (elsewhere && elsewhere >> ((signo - 1) & 63) & 1)
			continue;
		r = landing_keep_data(q->l, &info, sizeof(info), &at, err);
		if (r < 0)
			return r;
		if (tid)
			add_call(q, SYS_rt_tgsigqueueinfo, (uint64_t)pid,
				 (uint64_t)tid, signo, at);
		else
			add_call(q, SYS_rt_sigqueueinfo, (uint64_t)pid, signo,
				 at, 0);
		q->call[q->nr - 1].must = 1; /* no signal is lost in silence */
	}
	return 0;
}

/*
 * Set the limit of signals that wait, which counts those of the user's other processes,
 * too.
 */
static int put_limit(struct list *q, const Move__State *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_rlimit && !r; i++) {
		uint64_t lim[2] = { s->rlimit[i]->soft, s->rlimit[i]->hard };
		uint64_t at;

		if (s->rlimit[i]->resource != RLIMIT_SIGPENDING)
			continue;
		r = landing_keep_data(q->l, lim, sizeof(lim), &at, err);
		if (!r)
			add_call(q, SYS_prlimit64, 0, RLIMIT_SIGPENDING, at, 0);
	}
	return r;
}

static int put_itimers(struct list *q, const Move__State *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_itimer && !r; i++) {
		const Move__Itimer *t = s->itimer[i];
		int64_t v[4] = { t->interval_sec, t->interval_usec,
				 t->value_sec, t->value_usec };
		uint64_t at;

		if (!v[0] && !v[1] && !v[2] && !v[3])
			continue;
		r = landing_keep_data(q->l, v, sizeof(v), &at, err);
		if (!r && t->until)
			landing_end(q->l, WAIT_TIMEVAL,
				    (uint64_t *)landing_here(q->l, at) + 2, 0,
				    t->until, 1);
		if (!r)
			add_call(q, SYS_setitimer, i, at, 0, 0);
	}
	return r;
}

static bool has_time(const Move__PosixTimer *t)
{
	return t->value_sec || t->value_nsec || t->interval_sec ||
	       t->interval_nsec;
}

static int put_timers(struct list *q, const Move__State *s, struct error *err)
{
	int r = put_itimers(q, s, err);

	for (size_t i = 0; i < s->n_timer && !r; i++) {
		const Move__PosixTimer *t = s->timer[i];
		int64_t v[4] = { t->interval_sec, t->interval_nsec,
				 t->value_sec, t->value_nsec };
		/* one that expires meanwhile keeps its rhythm */
		bool absolute = t->until && t->clock == CLOCK_MONOTONIC;
		uint64_t at;

		if (!has_time(t))
			continue;
		if (absolute) {
			v[2] = t->until / NSEC_PER_SEC;
			v[3] = t->until % NSEC_PER_SEC;
		}
		r = landing_keep_data(q->l, v, sizeof(v), &at, err);
		if (!r)
			add_call(q, SYS_timer_settime, (uint64_t)t->id,
				 absolute ? TIMER_ABSTIME : 0, at, 0);
		if (!r && t->until && !absolute)
			landing_end(q->l, WAIT_TIMESPEC,
				    (uint64_t *)landing_here(q->l, at) + 2, 0,
				    t->until, 1);
	}
	return r;
}

/*
 * Some thread may set a timer as soon as it runs. The leader must not overwrite that
 * later with the timer's value at the source.
 */
static bool waits_for_timers(const Move__State *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_itimer; i++)
		any |= s->itimer[i]->value_sec || s->itimer[i]->value_usec ||
		       s->itimer[i]->interval_sec ||
		       s->itimer[i]->interval_usec;
	for (size_t i = 0; i < s->n_timer; i++)
		any |= has_time(s->timer[i]);
	return any && s->n_thread > 1;
}

/*
 * Make the interrupted call again for what is left.  True if the limit is in
 * the register itself, which is in a frame that is still to be made.
 */
static bool restore_wait(struct landing *l, const Move__Wait *w,
			 struct user_regs_struct *regs, size_t i,
			 size_t xsave_size)
{
	unsigned long long *arg = wait_arg(regs, (int)w->limit);
	size_t off;

	if (w->in_place) {
		landing_end(l, w->form, NULL, *arg, w->until, 0);
		return false;
	}
	if (!stub_is_snippet(l->area, regs->rip)) {
		off = stub_snippet(l->code, (int)w->limit, *arg, regs->rip + 2);
		/*
		 * there is no room for another snippet: then it waits once more in full
		 */
		if (!off)
			return false;
		regs->rip = l->area + off;
	}
	if (w->form == WAIT_MSEC)
		return true;
	*arg = landing_slot(l, i, xsave_size) +
	       offsetof(struct stub_thread, limit);
	landing_end(l, w->form, landing_slot_here(l, i, xsave_size)->limit, 0,
		    w->until, 0);
	return false;
}

static bool needs_tiles(const Move__Thread *t)
{
	return t->tiles || stub_used(t->xstate.data) & XSTATE_TILES;
}

static int build_frame(struct landing *l, const Move__State *s, size_t i,
		       uint64_t *ret_uc, struct error *err)
{
	const Move__Thread *t = s->thread[i];
	struct stub_frame f = {
		.mask = t->mask,
		.altstack_sp = t->altstack_sp,
		.altstack_size = t->altstack_size,
		/* SS_ONSTACK is found out, not set */
		.altstack_flags = t->altstack_flags & ~1u,
		.xstate = t->xstate.data,
		.xstate_size = t->xstate.len,
	};
	struct stub_thread *slot = landing_slot_here(l, i, t->xstate.len);
	struct user_regs_struct regs;
	bool again = false;

	/* slots of different sizes would overlap */
	if (t->regs.len != sizeof(regs) || t->xstate.len < 576 ||
	    t->xstate.len != s->thread[0]->xstate.len ||
	    (char *)slot + stub_slot_size(t->xstate.len) >
		    l->map + l->size - STUB_BOX ||
	    (needs_tiles(t) && !(s->xcomp_perm & XSTATE_TILES)) ||
	    (t->wait && (t->wait->limit > 5 || t->wait->form > WAIT_MSEC)))
		return error_set(err, -EPROTO, "malformed thread");
	memcpy(&regs, t->regs.data, sizeof(regs));
	f.regs = &regs;
	if (t->wait)
		again = restore_wait(l, t->wait, &regs, i, t->xstate.len);
	stub_build_frame(slot->frame,
			 landing_slot(l, i, t->xstate.len) +
				 sizeof(struct stub_thread),
			 &f, ret_uc);
	if (again)
		landing_end(l, WAIT_MSEC,
			    stub_frame_arg(slot->frame, (int)t->wait->limit), 0,
			    t->wait->until, 0);
	return 0;
}

/*
 * Place the list in the thread's slot, or in the box if it is too long for
 * that.
 */
static int place_list(struct list *q, struct stub_thread *slot,
		      struct error *err)
{
	uint64_t at;
	int r;

	if (q->nr <= STUB_THREAD_CALLS) {
		memcpy(slot->call, q->call, q->nr * sizeof(*q->call));
		return 0;
	}
	r = landing_keep_calls(q->l, q->call, q->nr, &at, err);
	if (!r)
		slot->call[0] =
			(struct stub_call){ .nr = STUB_JUMP, .arg = { at } };
	return r;
}

/* Set credentials, and then what changing them would have undone. */
static int put_creds(struct list *q, const Move__State *s, size_t i,
		     const struct restore_ids *ids, struct error *err)
{
	const Move__Thread *t = s->thread[i];
	struct stub_call call[RESTORE_CRED_CALLS];
	size_t n = 0;
	int r = restore_creds(q->l, s->thread[0]->creds, ids, call, &n, err);

	for (size_t k = 0; k < n; k++) {
		array_room(q->call, q->nr, &q->cap);
		q->call[q->nr++] = call[k];
	}
	if (s->dumpable < 2)
		add_call(q, SYS_prctl, PR_SET_DUMPABLE, s->dumpable, 0, 0);
	if (t->pdeath)
		add_call(q, SYS_prctl, PR_SET_PDEATHSIG, t->pdeath, 0, 0);
	return r;
}

/* The list of thread i, wherever it was placed. */
static const struct stub_call *first_call(struct landing *l,
					  const Move__State *s, size_t i)
{
	const struct stub_call *c =
		landing_slot_here(l, i, s->thread[i]->xstate.len)->call;

	return c->nr == STUB_JUMP ? landing_here(l, c->arg[0]) : c;
}

int restore_thread_check(struct landing *l, const Move__State *s, size_t i,
			 struct error *err)
{
	for (const struct stub_call *c = first_call(l, s, i);
	     c->nr != STUB_ARRIVE; c++)
		if (c->must && c->ret < 0 && c->ret > -4096)
			return error_sys(
				err, (int)c->ret,
				"thread %d at the destination: call %lld(%#llx, %#llx)",
				s->thread[i]->tid, (long long)c->nr,
				(unsigned long long)c->arg[0],
				(unsigned long long)c->arg[1]);
	return 0;
}

/* For the tracer of restart.h; without one this has no effect. */
static int put_mark(struct list *q, int32_t pid, int32_t tid, int sig,
		    struct error *err)
{
	uint64_t mask = ~(UINT64_C(1) << (sig - 1)), at;
	int r = landing_keep_data(q->l, &mask, sizeof(mask), &at, err);

	if (r < 0)
		return r;
	add_call(q, SYS_rt_sigprocmask, SIG_SETMASK, at, 0, sizeof(mask));
	add_call(q, SYS_tgkill, (uint64_t)pid, (uint64_t)tid, (uint64_t)sig, 0);
	return 0;
}

int restore_thread_list(struct landing *l, const Move__State *s, size_t i,
			const struct restore_ids *ids, struct error *err)
{
	const Move__Thread *t = s->thread[i];
	int32_t pid = s->thread[0]->tid;
	struct list q = { .l = l };
	int mark = restart_signal(s, t);
	bool timed = waits_for_timers(s);
	uint64_t uc;
	int r = build_frame(l, s, i, &uc, err);

	if (!r)
		r = put_settings(&q, t, err);
	if (!r)
		r = put_prctls(&q, t, err);
	if (!r)
		r = put_mempolicy(&q, t, err);
	if (!r)
		r = put_creds(&q, s, i, ids, err);
	if (!r)
		r = put_signals(&q, t->pending, t->n_pending, i == 0, pid,
				t->tid, err);
	if (!r && i == 0)
		r = put_signals(&q, s->pending, s->n_pending, true, pid, 0,
				err);
	if (!r && needs_tiles(t))
		add_call(&q, STUB_TILES, 0, 0, 0, 0);
	add_call(&q, STUB_ARRIVE, box_word(l, offsetof(struct stub_box, ready)),
		 s->n_thread, 0, 0);
	add_call(&q, STUB_WAIT,
		 i && timed ? box_word(l, offsetof(struct stub_box, timed))
			    : box_word(l, offsetof(struct stub_box, released)),
		 0, 0, 0);
	if (!r && t->policy == SCHED_OTHER)
		r = put_calm(&q, t, err);
	/* the real-time class has none, and takes no other */
	add_call(&q, SYS_prctl, PR_SET_TIMERSLACK, t->timer_slack, 0, 0);
	if (!r && i == 0)
		r = put_limit(&q, s, err);
	if (!r && i == 0)
		r = put_timers(&q, s, err);
	if (i == 0 && timed)
		add_call(&q, STUB_ARRIVE,
			 box_word(l, offsetof(struct stub_box, timed)), 1, 0,
			 0);
	if (!r && mark)
		r = put_mark(&q, pid, t->tid, mark, err);
	add_call(&q, STUB_SIGRETURN, uc, 0, 0, 0);
	if (!r)
		r = place_list(&q, landing_slot_here(l, i, t->xstate.len), err);
	free(q.call);
	return r;
}
