/* capture_leader.c - what a process has once; see capture_leader.h */
#include "move/state/capture_leader.h"

#include <asm/prctl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/uapi.h"
#include "move/tracee/timers.h"
#include "move/wire/append.h"

size_t leader_calls(struct stub_call *c, uint64_t at, Move__State *s)
{
#define AT(member) (at + offsetof(struct leader_data, member))
	size_t n = L_TIMER;

	call_set(&c[L_BRK], SYS_brk, 0, 0, 0, 0);
	call_set(&c[L_PERSONALITY], SYS_personality, 0xffffffff, 0, 0, 0);
	call_set(&c[L_DUMPABLE], SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0);
	call_set(&c[L_KEEPCAPS], SYS_prctl, PR_GET_KEEPCAPS, 0, 0, 0);
	call_set(&c[L_SECBITS], SYS_prctl, PR_GET_SECUREBITS, 0, 0, 0);
	call_set(&c[L_MEMBARRIER], SYS_membarrier,
		 MEMBARRIER_CMD_GET_REGISTRATIONS, 0, 0, 0);
	call_set(&c[L_XCOMP], SYS_arch_prctl, ARCH_GET_XCOMP_PERM, AT(xcomp), 0,
		 0);
	call_set(&c[L_CPU], SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID,
		 AT(cpu), 0, 0);
	call_set(&c[L_UID], SYS_getresuid, AT(uid[0]), AT(uid[1]), AT(uid[2]),
		 0);
	call_set(&c[L_GID], SYS_getresgid, AT(gid[0]), AT(gid[1]), AT(gid[2]),
		 0);
	call_set(&c[L_GROUPS], SYS_getgroups, LEADER_GROUPS, AT(groups), 0, 0);
	settings_ask(SETTINGS_PROCESS, &c[L_SETTINGS], AT(setting));
	for (unsigned i = 0; i < 3; i++)
		call_set(&c[L_ITIMER + i], SYS_getitimer, i,
			 at + offsetof(struct leader_data, itimer) +
				 i * sizeof(struct itimerval),
			 0, 0);
	for (unsigned i = 0; i < LEADER_SIGNALS; i++)
		call_set(&c[L_ACTION + i], SYS_rt_sigaction, i + 1, 0,
			 AT(action) + i * sizeof(struct kernel_action), 8);
	for (size_t i = 0; i < s->n_timer; i++)
		call_set(&c[n++], SYS_timer_gettime, (uint32_t)s->timer[i]->id,
			 AT(timer) + i * sizeof(struct itimerspec), 0, 0);
	call_set(&c[n++], SYS_clock_gettime, CLOCK_MONOTONIC, AT(now), 0, 0);
	return n;
#undef AT
}

static void take_actions(Move__State *s, const struct leader_data *d)
{
	for (unsigned i = 0; i < LEADER_SIGNALS; i++) {
		const struct kernel_action *k = &d->action[i];
		Move__Action *a;

		if (!k->handler && !k->flags && !k->mask)
			continue;
		a = append_new(&move__action__descriptor);
		a->signo = i + 1;
		a->handler = k->handler;
		a->flags = k->flags;
		a->restorer = k->restorer;
		a->mask = k->mask;
		append_to(s->action, s->n_action, a);
	}
}

/* When what is left will have passed; 0 for nothing left. */
static int64_t instant(const struct leader_data *d, int64_t sec, int64_t nsec)
{
	if (!sec && !nsec)
		return 0;
	return (d->now.tv_sec + sec) * NSEC_PER_SEC + d->now.tv_nsec + nsec;
}

static void take_timers(const struct tracee *tr, Move__State *s,
			const struct leader_data *d)
{
	for (unsigned i = 0; i < 3; i++) {
		Move__Itimer *t = append_new(&move__itimer__descriptor);

		t->interval_sec = d->itimer[i].it_interval.tv_sec;
		t->interval_usec = d->itimer[i].it_interval.tv_usec;
		t->value_sec = d->itimer[i].it_value.tv_sec;
		t->value_usec = d->itimer[i].it_value.tv_usec;
		/*
		 * One whose signal still waits reads as 0 and is wound up
		 * when the signal is taken, which the destination's is not.
		 */
		if (!t->value_sec && !t->value_usec) {
			t->value_sec = t->interval_sec;
			t->value_usec = t->interval_usec;
		}
		if (i == ITIMER_REAL)
			t->until =
				instant(d, t->value_sec, t->value_usec * 1000);
		append_to(s->itimer, s->n_itimer, t);
	}
	for (size_t i = 0; i < s->n_timer; i++) {
		Move__PosixTimer *t = s->timer[i];

		t->interval_sec = d->timer[i].it_interval.tv_sec;
		t->interval_nsec = d->timer[i].it_interval.tv_nsec;
		t->value_sec = d->timer[i].it_value.tv_sec;
		t->value_nsec = d->timer[i].it_value.tv_nsec;
		if (!timers_of_cpu(t->clock))
			t->until = instant(d, t->value_sec, t->value_nsec);
		/* /proc tells thread ids as we see them */
		for (size_t j = 0; j < tr->nr; j++)
			if (tr->task[j].tid == t->tid) {
				t->tid = s->thread[j]->tid;
				break;
			}
	}
}

/* PR_GET_* calls that fail where the kernel was built without them. */
static uint32_t flag_of(const struct stub_call *c)
{
	return c->ret > 0 ? (uint32_t)c->ret : 0;
}

void leader_take(const struct tracee *t, Move__State *s,
		 const struct leader_data *d, const struct stub_call *c)
{
	Move__Creds *k = s->thread[0]->creds;

	s->brk = (uint64_t)c[L_BRK].ret;
	s->personality = (uint64_t)c[L_PERSONALITY].ret;
	s->dumpable = flag_of(&c[L_DUMPABLE]);
	s->membarrier = flag_of(&c[L_MEMBARRIER]);
	s->xcomp_perm = c[L_XCOMP].ret == 0 ? d->xcomp : 0;
	settings_take(SETTINGS_PROCESS, &c[L_SETTINGS], d->setting,
		      s->thread[0]);
	k->keep_caps = flag_of(&c[L_KEEPCAPS]);
	k->secbits = flag_of(&c[L_SECBITS]);
	k->uid = d->uid[0];
	k->euid = d->uid[1];
	k->suid = d->uid[2];
	k->gid = d->gid[0];
	k->egid = d->gid[1];
	k->sgid = d->gid[2];
	k->n_groups = flag_of(&c[L_GROUPS]);
	k->groups = xcalloc(k->n_groups + 1, sizeof(*k->groups));
	memcpy(k->groups, d->groups, k->n_groups * sizeof(*k->groups));
	take_actions(s, d);
	take_timers(t, s, d);
}
