/*
 * lent.c - a child that has our memory until it executes a program
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"

/*
 * Where a child runs that shares our memory.  Not so where all memory is watched,
 * which would be told of frames that are never left.
 */
static _Alignas(16) char lent_stack[128 << 10];
#if defined(__SANITIZE_ADDRESS__)
#define LENT 0
#else
#define LENT CLONE_VM
#endif

/* A child with that pid inside, which runs there. */
static pid_t clone_child(pid_t ns_pid, uint64_t flags, uint32_t *gone,
			 void (*run)(void *), void *arg)
{
	pid_t tid[1] = { ns_pid };
	struct clone_args args = {
		.flags = LENT | flags,
		.child_tid = (uintptr_t)gone,
		.exit_signal = SIGCHLD,
		.stack = (uintptr_t)lent_stack,
		.stack_size = sizeof(lent_stack),
		.set_tid = ns_pid ? (uintptr_t)tid : 0,
		.set_tid_size = ns_pid ? 1 : 0,
	};
	register void (*child)(void *) __asm__("r12") = run;
	register void *its __asm__("r13") = arg;
	long pid;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[its], %%rdi\n\t"
			 "call *%[child]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(pid)
			 : "a"((long)SYS_clone3), "D"(&args),
			   "S"(sizeof(args)), [child] "r"(child), [its] "r"(its)
			 : "rcx", "r11", "memory", "cc");
	return (pid_t)pid;
}

/*
 * Only one of the two may use what they share, above all what is the thread's own (errno): the
 * other waits in the kernel, and comes there by nothing of the C library. Init waits
 * for what the kernel does when the child has left our memory.
 */
static uint32_t lent_is_out, lent_may;

static void await_change(uint32_t *word, uint32_t from)
{
	long r;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == from)
		__asm__ volatile("xor %%r10d, %%r10d\n\tsyscall"
				 : "=a"(r)
				 : "a"((long)SYS_futex), "D"(word),
				   "S"((long)FUTEX_WAIT), "d"((long)from)
				 : "rcx", "r10", "r11", "memory", "cc");
}

static void wake(uint32_t *word)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"((long)SYS_futex), "D"(word),
			   "S"((long)FUTEX_WAKE), "d"(1l)
			 : "rcx", "r11", "memory", "cc");
}

void lent_await(void)
{
	await_change(&lent_may, 0);
}

pid_t lent_run(pid_t ns_pid, void (*run)(void *), void *arg)
{
	return clone_child(ns_pid, LENT ? CLONE_VFORK : 0, NULL, run, arg);
}

pid_t lent_begin(pid_t ns_pid, uint64_t namespaces, void (*run)(void *),
		 void *arg)
{
	lent_is_out = 1;
	lent_may = 0;
	return clone_child(ns_pid, CLONE_CHILD_CLEARTID | namespaces,
			   &lent_is_out, run, arg);
}

void lent_finish(void)
{
	__atomic_store_n(&lent_may, 1, __ATOMIC_RELEASE);
	wake(&lent_may);
	await_change(&lent_is_out, 1);
}
