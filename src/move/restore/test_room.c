/* test_room.c - a process that lands exceeds what the host allows its users */
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/proc/proc.h"
#include "move/restore/restore.h"

int __wrap_landing_call(struct landing *l, const char *what, long nr,
			uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			uint64_t e, uint64_t f, struct error *err);
int __wrap_landing_flush(struct landing *l, struct error *err);

/* This process is the one that lands, so its calls are made at once. */
int __wrap_landing_call(struct landing *l, const char *what, long nr,
			uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			uint64_t e, uint64_t f, struct error *err)
{
	return syscall(nr, a, b, c, d, e, f) == -1
		       ? error_sys(err, -errno, "%s", what)
		       : 0;
}

int __wrap_landing_flush(struct landing *l, struct error *err)
{
	return 0;
}

static void limit(int resource, rlim_t n)
{
	struct rlimit both = { n, n };

	if (setrlimit(resource, &both) < 0)
		_exit(2);
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct cap[2] = { 0 };

	if (syscall(SYS_capset, &head, cap) < 0)
		_exit(2);
}

/* Run it in a process of its own, whose limits are lowered for good. */
static void alone(void (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define MUST(condition)                                                       \
	do {                                                                  \
		if (!(condition)) {                                           \
			print_message("# %d: %s: %s\n", __LINE__, #condition, \
				      err.text);                              \
			_exit(1);                                             \
		}                                                             \
	} while (0)

static int check_room(uint64_t queued, uint64_t locked, struct error *err)
{
	struct landing l = { .pid = getpid() };

	return restore_check_room(&l, queued, locked, err);
}

static uint64_t locked_now(void)
{
	struct proc_status st = { 0 };

	return proc_read_status(getpid(), &st, NULL) == 0 ? st.locked
							  : UINT64_MAX;
}

static void memory(void)
{
	struct error err = ERROR_INIT;

	drop_privileges();
	limit(RLIMIT_MEMLOCK, 65536);
	MUST(check_room(0, 0, &err) == 0);
	MUST(check_room(0, 65536, &err) == 0);
	MUST(locked_now() == 0); /* and nothing is left of it */
	MUST(check_room(0, 65536, &err) == 0);
	MUST(check_room(0, 65536 + 4096, &err) == -ENOTSUP);
	MUST(!strcmp(
		err.text,
		"68 KiB of the process are locked (mlock), and the destination lets it lock 64 KiB (RLIMIT_MEMLOCK; more takes CAP_IPC_LOCK)"));
}

static void no_memory(void)
{
	struct error err = ERROR_INIT;

	drop_privileges();
	limit(RLIMIT_MEMLOCK, 0);
	MUST(check_room(0, 0, &err) == 0);
	MUST(check_room(0, 4096, &err) == -ENOTSUP);
	MUST(strstr(err.text, "lets it lock 0 KiB"));
}

/* A peer may tell any number. */
static void much_memory(void)
{
	struct error err = ERROR_INIT;

	MUST(check_room(0, UINT64_MAX - 4095, &err) < 0);
	MUST(check_room(0, 1, &err) == 0);
}

/* Asks mlock() itself, whatever privilege this test has. */
static void privileged(void)
{
	struct error err = ERROR_INIT;
	void *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool may;

	limit(RLIMIT_MEMLOCK, 4096);
	may = mlock(at, 1 << 20) == 0;
	MUST(munlock(at, 1 << 20) == 0);
	MUST((check_room(0, 1 << 20, &err) == 0) == may);
}

static void signals(void)
{
	struct error err = ERROR_INIT;
	struct proc_status st;
	rlim_t enough;

	MUST(proc_read_status(getpid(), &st, &err) == 0);
	drop_privileges();
	/* other processes of this user may have signals that wait, too */
	enough = st.queued + 10000;
	limit(RLIMIT_SIGPENDING, enough);
	MUST(check_room(0, 0, &err) == 0);
	MUST(check_room(1000, 0, &err) == 0);
	MUST(check_room(enough + 1, 0, &err) == -ENOTSUP);
	MUST(strstr(err.text, "(RLIMIT_SIGPENDING), of which "));
	MUST(check_room(UINT64_MAX, 0, &err) == -ENOTSUP);
	limit(RLIMIT_SIGPENDING, 0);
	MUST(check_room(0, 0, &err) == 0);
	MUST(check_room(1, 0, &err) == -ENOTSUP);
}

/* Signals that wait already count. */
static void taken_signals(void)
{
	struct error err = ERROR_INIT;
	struct proc_status st;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	for (int i = 0; i < 300; i++)
		MUST(sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0);
	MUST(proc_read_status(getpid(), &st, &err) == 0 && st.queued >= 300);
	drop_privileges();
	limit(RLIMIT_SIGPENDING, st.queued + 150);
	MUST(check_room(50, 0, &err) == 0);
	MUST(check_room(250, 0, &err) == -ENOTSUP);
}

static void test_memory(void **state)
{
	alone(memory);
	alone(no_memory);
	alone(much_memory);
	alone(privileged);
}

static void test_signals(void **state)
{
	alone(signals);
	alone(taken_signals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
