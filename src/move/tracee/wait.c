/* wait.c - calls that wait for a limited time; see wait.h */
#include "move/tracee/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/clock.h"
#include "core/units.h"
#include "move/tracee/tracee.h"

static const struct wait_kind kinds[] = {
	{ SYS_nanosleep, WAIT_TIMESPEC, 0, 1 },
	{ SYS_clock_nanosleep, WAIT_TIMESPEC, 2, 3 },
	{ SYS_select, WAIT_TIMEVAL, 4, 4 },
	{ SYS_pselect6, WAIT_TIMESPEC, 4, 4 },
	{ SYS_ppoll, WAIT_TIMESPEC, 2, 2 },
	{ SYS_poll, WAIT_MSEC, 2, -1 },
	{ SYS_epoll_wait, WAIT_MSEC, 3, -1 },
	{ SYS_epoll_pwait, WAIT_MSEC, 3, -1 },
	{ SYS_epoll_pwait2, WAIT_TIMESPEC, 3, -1 },
	{ SYS_futex, WAIT_TIMESPEC, 3, -1 },
	{ SYS_rt_sigtimedwait, WAIT_TIMESPEC, 2, -1 },
};

/* Clocks that go on while a process stands still; not those of its own. */
static bool is_sleep_clock(uint64_t clock)
{
	switch ((int32_t)clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_BOOTTIME_ALARM:
	case CLOCK_TAI:
		return true;
	}
	return false;
}

const struct wait_kind *wait_kind(int64_t nr, const uint64_t arg[6])
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].nr != nr)
			continue;
		/* until an instant is until that instant anywhere */
		if (nr == SYS_clock_nanosleep &&
		    (arg[1] & TIMER_ABSTIME || !is_sleep_clock(arg[0])))
			return NULL;
		if (nr == SYS_futex && (arg[1] & FUTEX_CMD_MASK) != FUTEX_WAIT)
			return NULL;
		return &kinds[i];
	}
	return NULL;
}

void wait_args(const struct user_regs_struct *regs, uint64_t ret[6])
{
	ret[0] = regs->rdi;
	ret[1] = regs->rsi;
	ret[2] = regs->rdx;
	ret[3] = regs->r10;
	ret[4] = regs->r8;
	ret[5] = regs->r9;
}

unsigned long long *wait_arg(struct user_regs_struct *regs, int i)
{
	unsigned long long *arg[6] = { &regs->rdi, &regs->rsi, &regs->rdx,
				       &regs->r10, &regs->r8,  &regs->r9 };

	return arg[i];
}

int64_t wait_load(enum wait_form form, const uint64_t v[2])
{
	int64_t sec = (int64_t)v[0], part = (int64_t)v[1];
	int64_t parts = form == WAIT_TIMEVAL ? USEC_PER_SEC : NSEC_PER_SEC;

	if (form == WAIT_MSEC)
		return (int32_t)v[0] < 0 ? -1 : (int32_t)v[0] * NSEC_PER_MSEC;
	if (sec < 0 || part < 0 || part >= parts)
		return -1;
	/* as good as for ever */
	if (sec >= INT64_MAX / 4 / NSEC_PER_SEC)
		return INT64_MAX / 4;
	return sec * NSEC_PER_SEC + part * (NSEC_PER_SEC / parts);
}

void wait_store(enum wait_form form, int64_t ns, int64_t at_least,
		uint64_t v[2])
{
	if (ns < at_least)
		ns = at_least;
	switch (form) {
	case WAIT_MSEC:
		ns = (ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
		v[0] = (uint64_t)(ns < INT_MAX ? ns : INT_MAX);
		break;
	case WAIT_TIMEVAL:
		ns += 999;
		v[0] = (uint64_t)(ns / NSEC_PER_SEC);
		v[1] = (uint64_t)(ns % NSEC_PER_SEC / 1000);
		break;
	case WAIT_TIMESPEC:
		v[0] = (uint64_t)(ns / NSEC_PER_SEC);
		v[1] = (uint64_t)(ns % NSEC_PER_SEC);
	}
}

static int64_t load_from(pid_t pid, uint64_t addr, enum wait_form form)
{
	uint64_t v[2];

	if (!addr || tracee_read(pid, addr, v, sizeof(v)) < 0)
		return -1;
	return wait_load(form, v);
}

int64_t wait_limit(pid_t pid, const struct wait_kind *k, const uint64_t arg[6])
{
	uint64_t x = arg[k->limit], v[2] = { x, 0 };

	return k->form == WAIT_MSEC ? wait_load(k->form, v)
				    : load_from(pid, x, k->form);
}

#define LOWEST_POINTER 65536 /* vm.mmap_min_addr */

static bool is_time(pid_t pid, uint64_t addr)
{
	return addr >= LOWEST_POINTER &&
	       load_from(pid, addr, WAIT_TIMESPEC) >= 0;
}

static bool is_futex_wait(pid_t pid, const uint64_t arg[6])
{
	uint64_t cmd = arg[1] & FUTEX_CMD_MASK;
	uint32_t word;

	return (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET) &&
	       is_time(pid, arg[3]) &&
	       tracee_read(pid, arg[0], &word, sizeof(word)) == 0 &&
	       word == (uint32_t)arg[2];
}

/* These four are all that restart_syscall continues. */
int64_t wait_guess(pid_t pid, const uint64_t arg[6])
{
	if (arg[0] < LOWEST_POINTER)
		return is_sleep_clock(arg[0]) && !arg[1] && is_time(pid, arg[2])
			       ? SYS_clock_nanosleep
		       : !arg[0] && !arg[1] ? SYS_poll
					    : -1;
	if ((!arg[1] || arg[1] >= LOWEST_POINTER) && is_time(pid, arg[0]) &&
	    !is_futex_wait(pid, arg))
		return SYS_nanosleep;
	if (is_futex_wait(pid, arg))
		return SYS_futex;
	return arg[1] < LOWEST_POINTER * 16 ? SYS_poll : -1;
}

int64_t wait_now(void)
{
	return clock_nsec(CLOCK_MONOTONIC);
}
