/*
 * peek.c - what lies where in the process that is traced; see tracee.h
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "move/tracee/tracee.h"

int tracee_read(pid_t pid, uint64_t addr, void *p, size_t n)
{
	struct iovec here = { p, n }, there = { (void *)(uintptr_t)addr, n };
	ssize_t r = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return r < 0 ? -errno : (size_t)r == n ? 0 : -EFAULT;
}

int tracee_write(pid_t pid, uint64_t addr, const void *p, size_t n)
{
	struct iovec here = { (void *)(uintptr_t)p, n };
	struct iovec there = { (void *)(uintptr_t)addr, n };
	ssize_t r = process_vm_writev(pid, &here, 1, &there, 1, 0);

	return r < 0 ? -errno : (size_t)r == n ? 0 : -EFAULT;
}

typedef ssize_t transfer_fn(pid_t pid, const struct iovec *here,
			    unsigned long nr_here, const struct iovec *there,
			    unsigned long nr_there, unsigned long flags);

static int transfer_all(transfer_fn *transfer, pid_t pid,
			const struct iovec *here, const struct iovec *there,
			size_t nr)
{
	for (size_t n; nr; nr -= n, here += n, there += n) {
		size_t bytes = 0;
		ssize_t r;

		n = nr < IOV_MAX ? nr : IOV_MAX;
		for (size_t i = 0; i < n; i++)
			bytes += here[i].iov_len;
		r = transfer(pid, here, n, there, n, 0);
		if (r < 0 || (size_t)r != bytes)
			return r < 0 ? -errno : -EFAULT;
	}
	return 0;
}

int tracee_read_all(pid_t pid, const struct iovec *here,
		    const struct iovec *there, size_t nr)
{
	return transfer_all(process_vm_readv, pid, here, there, nr);
}

int tracee_write_all(pid_t pid, const struct iovec *here,
		     const struct iovec *there, size_t nr)
{
	return transfer_all(process_vm_writev, pid, here, there, nr);
}

int tracee_poke(pid_t tid, uint64_t addr, const void *p, size_t n)
{
	const char *from = p;

	for (size_t i = 0; i < n; i += sizeof(long)) {
		long word;

		memcpy(&word, from + i, sizeof(word));
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)(addr + i),
			   (void *)word) < 0)
			return -errno;
	}
	return 0;
}

static size_t count_signals(pid_t tid, uint32_t flags)
{
	struct __ptrace_peeksiginfo_args args = { .flags = flags, .nr = 32 };
	siginfo_t info[32];
	long n;

	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, info)) > 0)
		args.off += (uint64_t)n;
	return args.off;
}

size_t tracee_count_signals(pid_t tid)
{
	return count_signals(tid, 0) +
	       count_signals(tid, PTRACE_PEEKSIGINFO_SHARED);
}

uint64_t tracee_box_data(const struct tracee *t)
{
	return t->area + STUB_BOX + offsetof(struct stub_box, data);
}

uint64_t tracee_slot(const struct tracee *t, size_t i)
{
	return t->area + STUB_THREADS + i * stub_slot_size(t->xsave_size);
}

size_t tracee_room(const struct tracee *t)
{
	return stub_area_room(t->area_size, t->xsave_size);
}
