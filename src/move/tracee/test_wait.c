/*
 * test_wait.c - time limits of system calls, and the code that makes calls
 * again
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "move/tracee/stub.h"
#include "move/tracee/wait.h"

#define ARG(p) ((uint64_t)(uintptr_t)(p))
#define SEC    1000000000L

static const struct timespec two = { 2, 5 };

static void test_kinds(void **state)
{
	uint64_t rel[6] = { CLOCK_MONOTONIC, 0, ARG(&two) };
	uint64_t cpu[6] = { CLOCK_PROCESS_CPUTIME_ID, 0, ARG(&two) };
	uint64_t abs[6] = { CLOCK_MONOTONIC, TIMER_ABSTIME, ARG(&two) };
	uint64_t wait[6] = { 0, FUTEX_WAIT_PRIVATE, 0, ARG(&two) };
	uint64_t bits[6] = { 0, FUTEX_WAIT_BITSET_PRIVATE, 0, ARG(&two) };
	uint64_t for_ever[6] = { 0, 0, (uint32_t)-1, 0 };
	const struct wait_kind *k = wait_kind(SYS_clock_nanosleep, rel);

	assert_non_null(k);
	assert_int_equal(wait_limit(getpid(), k, rel), 2 * SEC + 5);
	assert_null(wait_kind(SYS_clock_nanosleep, cpu));
	assert_null(wait_kind(SYS_clock_nanosleep, abs));
	assert_non_null(wait_kind(SYS_futex, wait));
	assert_null(wait_kind(SYS_futex, bits));
	assert_null(wait_kind(SYS_read, rel));
	assert_int_equal(
		wait_limit(getpid(), wait_kind(SYS_poll, for_ever), for_ever),
		-1);
	assert_int_equal(
		wait_limit(getpid(), wait_kind(SYS_select, for_ever), for_ever),
		-1);
}

static void check_stored(enum wait_form form, int64_t ns, int64_t least,
			 uint64_t first, uint64_t second)
{
	uint64_t v[2] = { 0 };

	wait_store(form, ns, least, v);
	assert_int_equal(v[0], first);
	assert_int_equal(v[1], second);
	assert_true(wait_load(form, v) >= ns);
}

/* What is left of a limit is rounded up, so that nothing ends early. */
static void test_rounding(void **state)
{
	uint64_t bad[2] = { 1, SEC };

	check_stored(WAIT_TIMESPEC, 3 * SEC + 7, 0, 3, 7);
	check_stored(WAIT_TIMEVAL, 3 * SEC + 7, 0, 3, 1);
	check_stored(WAIT_TIMEVAL, SEC - 1, 0, 1, 0);
	check_stored(WAIT_MSEC, 3 * SEC, 0, 3000, 0);
	check_stored(WAIT_MSEC, 3 * SEC + 1, 0, 3001, 0);
	check_stored(WAIT_TIMESPEC, -5, 0, 0, 0);
	check_stored(WAIT_TIMESPEC, -5, 1, 0, 1);
	check_stored(WAIT_TIMEVAL, -5, 1, 0, 1);
	assert_int_equal(wait_load(WAIT_TIMESPEC, bad), -1);
}

/*
 * The four kinds of calls that restart_syscall continues are told apart by
 * their arguments.
 */
static void test_guess(void **state)
{
	static char fds[64];
	uint32_t word = 9;
	uint64_t sleep[6] = { ARG(&two), 0 };
	uint64_t sleep_rest[6] = { ARG(&two), ARG(&fds) };
	uint64_t clock[6] = { CLOCK_REALTIME, 0, ARG(&two), ARG(&fds) };
	uint64_t futex[6] = { ARG(&word), FUTEX_WAIT_PRIVATE, 9, ARG(&two) };
	uint64_t poll[6] = { ARG(fds), 3, 1000 };
	uint64_t poll_none[6] = { 0, 0, 1000 };

	memset(fds, 0xff, sizeof(fds));
	assert_int_equal(wait_guess(getpid(), sleep), SYS_nanosleep);
	assert_int_equal(wait_guess(getpid(), sleep_rest), SYS_nanosleep);
	assert_int_equal(wait_guess(getpid(), clock), SYS_clock_nanosleep);
	assert_int_equal(wait_guess(getpid(), futex), SYS_futex);
	assert_int_equal(wait_guess(getpid(), poll), SYS_poll);
	assert_int_equal(wait_guess(getpid(), poll_none), SYS_poll);
}

static void test_snippets(void **state)
{
	unsigned char page[STUB_PAGE];
	size_t first, at = 1, n = 0;

	stub_fill_code(page, 1 << 20);
	first = stub_snippet(page, 3, 0x1234, 0x5678);
	assert_int_equal(first, STUB_SNIPPETS);
	assert_int_equal(stub_snippet(page, 3, 0x1234, 0x5678), first);
	assert_int_not_equal(stub_snippet(page, 3, 0x1235, 0x5678), first);
	assert_int_not_equal(stub_snippet(page, 2, 0x1234, 0x5678), first);
	while (at)
		at = stub_snippet(page, 1, ++n, 0);
	assert_int_equal(n, (STUB_PAGE - STUB_SNIPPETS) / STUB_SNIPPET - 2);
	assert_int_equal(stub_snippet(page, 3, 0x1234, 0x5678), first);
	assert_true(stub_is_snippet(0x10000, 0x10000 + first));
	assert_false(stub_is_snippet(0x10000, 0x10000 + first + 2));
	assert_false(stub_is_snippet(0, first));
}

/* Make getpid() by a snippet that was told to restore one argument. */
static long run_snippet(void *page, int i, uint64_t value, uint64_t ret_arg[6])
{
	long (*call)(uint64_t *) = NULL;
	/* have it return to the code behind it, which stores the arguments */
	static const unsigned char tail[] = {
		0x48, 0x89, 0x3b,	/* mov %rdi, (%rbx) */
		0x48, 0x89, 0x73, 0x08, /* mov %rsi, 8(%rbx) */
		0x48, 0x89, 0x53, 0x10, /* mov %rdx, 16(%rbx) */
		0x4c, 0x89, 0x53, 0x18, /* mov %r10, 24(%rbx) */
		0x4c, 0x89, 0x43, 0x20, /* mov %r8, 32(%rbx) */
		0x4c, 0x89, 0x4b, 0x28, /* mov %r9, 40(%rbx) */
		0x5b, 0xc3,		/* pop %rbx; ret */
	};
	static const unsigned char head[] = {
		0x53,			      /* push %rbx */
		0x48, 0x89,	  0xfb,	      /* mov %rdi, %rbx */
		0xb8, SYS_getpid, 0,	0, 0, /* mov $SYS_getpid, %eax */
		0xff, 0x63,	  0x30,	      /* jmp *48(%rbx) */
	};
	uint64_t arg[7] = { 0 };
	size_t off = stub_snippet(page, i, value, ARG(page) + 64);
	long r;

	memcpy(page, head, sizeof(head));
	memcpy((char *)page + 64, tail, sizeof(tail));
	arg[6] = ARG(page) + off;
	memcpy(&call, &page, sizeof(call));
	r = call(arg);
	memcpy(ret_arg, arg, 6 * sizeof(*arg));
	return r;
}

static void test_snippet_runs(void **state)
{
	void *page = mmap(NULL, STUB_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t arg[6];

	if (page == MAP_FAILED) { /* cmocka's skip() is a failure in TAP */
		print_message("# not tested: a hardened kernel\n");
		return;
	}
	stub_fill_code(page, 1 << 20);
	for (int i = 0; i < 6; i++) {
		uint64_t value = UINT64_C(0xfedcba9876543210) + (uint64_t)i;

		assert_int_equal(run_snippet(page, i, value, arg), getpid());
		assert_int_equal(arg[i], value);
		assert_int_not_equal(arg[(i + 1) % 6], value);
	}
	munmap(page, STUB_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_snippets),
		cmocka_unit_test(test_snippet_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
