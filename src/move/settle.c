/*
 * settle.c - continue a system call that the freeze interrupted
 *
 * A stopped thread's rax holds the kernel's private restart codes.  The
 * kernel acts on them only while the registers are as it left them, so
 * whoever writes registers must do what arch_do_signal_or_restart() would.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "move/inject.h"

#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516

/*
 * Calls that answer a plain -EINTR when interrupted, even by a stop that
 * delivers nothing: they are made again.
 */
static bool eintr_by_stop(long nr)
{
	switch (nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
	case SYS_select: /* where the rest cannot be written over the limit */
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmsg:
	case SYS_recvmsg:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
		return true;
	}
	return false;
}

bool settle_interrupted(const struct user_regs_struct *regs)
{
	long nr = (long)regs->orig_rax;

	if (nr < 0)
		return false;
	switch (-(long)regs->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	case ERESTART_RESTARTBLOCK:
		return true;
	case EINTR:
		return eintr_by_stop(nr);
	}
	return false;
}

int64_t settle_syscall(const struct user_regs_struct *regs,
		       struct user_regs_struct *cont)
{
	bool by_block = -(long)regs->rax == ERESTART_RESTARTBLOCK;

	*cont = *regs;
	cont->orig_rax = (unsigned long)-1;
	if (!settle_interrupted(regs))
		return -1;
	cont->rip -= 2; /* back onto the syscall instruction */
	cont->rax = by_block ? SYS_restart_syscall : regs->orig_rax;
	return by_block ? (int64_t)regs->orig_rax : -1;
}
