/*
 * test_signals.c - really all signals are blocked or reset, also those of the C
 * library, in children and in their programs
 */
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "core/signals.h"

#define OWN ((UINT64_C(1) << 31) | (UINT64_C(1) << 32)) /* 32 and 33 */

extern char **environ;

/* A line of /proc/PID/status, as a mask. */
static uint64_t status_mask(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 16);
}

static uint64_t own_mask(const char *name)
{
	char *text;
	uint64_t mask;

	assert_true(io_read_file(-100, "/proc/self/status", 65536, &text) > 0);
	mask = status_mask(text, name);
	free(text);
	return mask;
}

static void test_block(void **state)
{
	uint64_t old;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &old, sizeof(old));
	signals_block_all();
	assert_int_equal(own_mask("SigBlk:") & OWN, OWN);
	assert_true(own_mask("SigBlk:") >> (SIGTERM - 1) & 1);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

static void test_reset(void **state)
{
	const uint64_t ignore[4] = { 1 };

	for (int sig = 32; sig <= 33; sig++)
		assert_int_equal(
			syscall(SYS_rt_sigaction, sig, ignore, NULL, 8), 0);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGRTMAX, SIG_IGN); /* the last there is */
	assert_int_equal(own_mask("SigIgn:") & OWN, OWN);
	signals_reset_all();
	assert_int_equal(own_mask("SigIgn:"), 0);
	assert_int_equal(own_mask("SigCgt:"), 0);
}

/* posix_spawn() itself leaves them ignored in the child. */
static void test_spawn(void **state)
{
	char *argv[] = { (char *)"cat", (char *)"/proc/self/status", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char text[8192] = "";
	size_t n = 0;
	ssize_t k;
	sigset_t all;
	pid_t pid;
	int out[2];

	assert_int_equal(pipe(out), 0);
	signals_fill(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	assert_int_equal(
		posix_spawnp(&pid, argv[0], &files, &attr, argv, environ), 0);
	close(out[1]);
	while ((k = read(out[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)k;
	close(out[0]);
	waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	assert_int_equal(status_mask(text, "SigIgn:"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_spawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
