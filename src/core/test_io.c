/* test_io.c - tests of io.h */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "core/scratch.h"

static void the_number_behind_a_key(void **state)
{
	int64_t n = 7;

	assert_int_equal(io_read_key("/proc/self/status", "Pid", &n), 0);
	assert_int_equal(n, getpid());
}

/*
 * A key is not matched by a word that only begins or ends like it, nor in the
 * middle of a line.
 */
static void no_other_key_is_taken(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 8];
	int64_t n = 7;
	fd_auto fd = -1;

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/keys", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(dprintf(fd, "VmSwapped:\t1\nx VmSwap: 2\nVmSwap 3\n") > 0);
	assert_int_equal(io_read_key(path, "VmSwap", &n), -ENODATA);
	assert_int_equal(n, 7);
	assert_true(dprintf(fd, "VmSwap:   4 kB\n") > 0);
	assert_int_equal(io_read_key(path, "VmSwap", &n), 0);
	assert_int_equal(n, 4);
}

static void a_file_that_is_not_there(void **state)
{
	int64_t n = 7;

	assert_int_equal(io_read_key("/nonexistent/file", "Pid", &n), -ENOENT);
	assert_int_equal(n, 7);
}

/* A folder lets no file take its place. */
static void nothing_is_left_beside(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 16], beside[SCRATCH_MAX + 16];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/taken", dir);
	snprintf(beside, sizeof(beside), "%s/taken.new", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(io_replace_file(path, "text", NULL) < 0);
	assert_int_equal(access(beside, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_behind_a_key),
		cmocka_unit_test(no_other_key_is_taken),
		cmocka_unit_test(a_file_that_is_not_there),
		cmocka_unit_test(nothing_is_left_beside),
	};

	return cmocka_run_group_tests_name("io", tests, NULL, NULL);
}
