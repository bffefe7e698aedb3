/*
 * settle.c - continue a system call that the freeze interrupted
 *
 * A stopped thread's rax holds the kernel's private restart codes.  The
 * kernel acts on them only while the registers are as it left them, so
 * whoever writes registers must do what arch_do_signal_or_restart() would, or
 * put back what lets it.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "move/tracee/tracee.h"

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

int settle_code(const struct user_regs_struct *regs)
{
	long nr = (long)regs->orig_rax, code = -(long)regs->rax;

	if (nr < 0)
		return 0;
	switch (code) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	case ERESTART_RESTARTBLOCK:
		return (int)code;
	case EINTR:
		return eintr_by_stop(nr) ? ERESTARTNOHAND : 0;
	}
	return 0;
}

int64_t settle_syscall(const struct user_regs_struct *regs,
		       struct user_regs_struct *cont)
{
	int code = settle_code(regs);
	bool by_block = code == ERESTART_RESTARTBLOCK;

	*cont = *regs;
	cont->orig_rax = (unsigned long)-1;
	if (!code)
		return -1;
	cont->rip -= 2; /* back onto the syscall instruction */
	cont->rax = by_block ? SYS_restart_syscall : regs->orig_rax;
	return by_block ? (int64_t)regs->orig_rax : -1;
}

void settle_give_back(struct user_regs_struct *regs, int code)
{
	if (!code)
		return;
	regs->rip += 2;
	regs->orig_rax = regs->rax;
	regs->rax = (unsigned long)-(long)code;
}
