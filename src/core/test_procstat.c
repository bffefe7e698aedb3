/* test_procstat.c - tests of procstat.h */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/procstat.h"

/* Fields 4 to 51; the name before them is each test's own. */
#define NUMBERS(flags)                                                        \
	" 4 5 6 7 -1 " flags " 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 " \
	"18446744073709551615 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 "  \
	"41 42 43 44 45 46 47 48 49 50 51"

static void each_field(void **state)
{
	struct procstat s;

	assert_int_equal(
		procstat_parse("77 (a) R 1 ) b) S" NUMBERS("9") " 0\n", &s), 0);
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.pgrp, 5);
	assert_int_equal(s.session, 6);
	assert_int_equal(s.flags, 9);
	assert_int_equal(s.major_faults, 12);
	assert_int_equal(s.user_ticks, 14);
	assert_int_equal(s.system_ticks, 15);
	assert_int_equal(s.start, 22);
	assert_int_equal(s.resident, 24);
	assert_int_equal(s.start_code, 26);
	assert_int_equal(s.end_code, 27);
	assert_int_equal(s.start_stack, 28);
	assert_int_equal(s.cpu, 39);
	assert_int_equal(s.start_data, 45);
	assert_int_equal(s.end_data, 46);
	assert_int_equal(s.start_brk, 47);
	assert_int_equal(s.arg_start, 48);
	assert_int_equal(s.arg_end, 49);
	assert_int_equal(s.env_start, 50);
	assert_int_equal(s.env_end, 51);
}

static void exiting(void **state)
{
	struct procstat s;

	assert_int_equal(procstat_parse("1 (x) R" NUMBERS("4194308"), &s), 0);
	assert_true(procstat_exiting(&s));
	assert_int_equal(procstat_parse("1 (x) R" NUMBERS("4194304"), &s), 0);
	assert_false(procstat_exiting(&s));
}

static void not_a_stat(void **state)
{
	static const char *const bad[] = {
		"",
		"1 (x)",
		"1 (x) S 1 2",
		"1 (x) S a b",
		"1 (x)S" NUMBERS("9"),
		"1 (x) S\t" NUMBERS("9"),
		"1 (x) S" NUMBERS("99999999999999999999"),
		"1 (x) S" NUMBERS("nine"),
		"1 x S" NUMBERS("9"),
	};
	struct procstat s;
	char text[] = "1 (x) S" NUMBERS("9");

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(procstat_parse(bad[i], &s), -EBADMSG);
	assert_int_equal(procstat_parse(text, &s), 0);
	*strrchr(text, ' ') = '\0'; /* without its last field */
	assert_int_equal(procstat_parse(text, &s), -EBADMSG);
}

static void of_processes(void **state)
{
	struct procstat self, again;
	pid_t pid;

	assert_int_equal(procstat_read(0, &self), 0);
	assert_int_equal(self.pgrp, getpgrp());
	assert_int_equal(self.session, getsid(0));
	assert_true(self.start && self.resident && self.start_code &&
		    self.env_end >= self.env_start);
	assert_int_equal(procstat_read(getpid(), &again), 0);
	assert_int_equal(again.start, self.start);

	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(procstat_read(pid, &again), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field),
		cmocka_unit_test(exiting),
		cmocka_unit_test(not_a_stat),
		cmocka_unit_test(of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
