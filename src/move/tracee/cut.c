/*
 * cut.c - calls that a stop has cut short, and that can be made again whole
 *
 * Reading a device that makes its bytes (/dev/zero, /dev/full, random ones) ends
 * early once anything is to interrupt the thread, be it only SIGSTOP, a freezer
 * or a tracer, and answers with what there was by then: a program that takes
 * such a device's reads for whole ones is wrong by what we do.  But no offset
 * has moved and nothing has been taken from anybody, so the call can be made
 * again from its beginning, which is what the kernel does with one that has
 * not delivered anything yet.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "move/tracee/tracee.h"

#define MEM_MAJOR  1
#define COUNT_MOST 0x7ffff000u /* MAX_RW_COUNT: as much is never asked for */
#define IOV_MOST   64

static bool makes_bytes(pid_t pid, uint64_t fd)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, (int)fd);
	if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode) ||
	    major(st.st_rdev) != MEM_MAJOR)
		return false;
	switch (minor(st.st_rdev)) {
	case 5: /* zero */
	case 7: /* full */
	case 8: /* random */
	case 9: /* urandom */
		return true;
	}
	return false;
}

/* How many bytes a vector asks for; 0: too many pieces to look at. */
static uint64_t sum(pid_t pid, uint64_t at, uint64_t n)
{
	struct iovec iov[IOV_MOST];
	uint64_t all = 0;

	if (n > IOV_MOST || tracee_read(pid, at, iov, n * sizeof(*iov)) < 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		all += iov[i].iov_len;
	return all;
}

bool cut_by_stop(pid_t pid, const struct user_regs_struct *regs)
{
	uint64_t asked, got = regs->rax;

	switch ((long)regs->orig_rax) {
	case SYS_getrandom:
		asked = regs->rsi;
		break;
	case SYS_read:
	case SYS_pread64:
		asked = regs->rdx;
		break;
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
		asked = sum(pid, regs->rsi, regs->rdx);
		break;
	default:
		return false;
	}
	if (asked > COUNT_MOST)
		asked = COUNT_MOST;
	return got && got < asked &&
	       (regs->orig_rax == SYS_getrandom || makes_bytes(pid, regs->rdi));
}
