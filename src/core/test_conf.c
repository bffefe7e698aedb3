/* test_conf.c - configuration files and where their errors are */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/conf.h"
#include "core/io.h"
#include "core/scratch.h"

static char path[SCRATCH_MAX + 8];

static int setting(void *ctx, const char *section, const char *name,
		   const char *value, struct error *err)
{
	char *log = ctx;
	size_t n = strlen(log);

	if (!strcmp(name, "bad"))
		return error_set(err, -ERANGE, "bad: not like this");
	snprintf(log + n, 256 - n, "%s.%s=%s|", section, name, value);
	return 0;
}

static int read_bytes(const char *text, size_t n, char *log, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_full(fd, text, n), 0);
	close(fd);
	*log = 0;
	return conf_read(path, setting, log, err);
}

static int read_text(const char *text, char *log, struct error *err)
{
	return read_bytes(text, strlen(text), log, err);
}

static void good(void **state)
{
	struct error err;
	char log[256];

	assert_int_equal(
		read_text("; hello\n[a]\nx = 1\n\n[b]\ny = p q\n", log, &err),
		0);
	assert_string_equal(log, "a.x=1|b.y=p q|");
}

static void wrong_lines(void **state)
{
	struct error err;
	char log[256], want[128];

	assert_int_equal(read_text("[a]\nx = 1\nbad = 2\ny = 3\n", log, &err),
			 -ERANGE);
	snprintf(want, sizeof(want), "%s:3: bad: not like this", path);
	assert_string_equal(err.text, want);
	assert_string_equal(log, "a.x=1|");

	assert_int_equal(read_text("[a]\nnonsense\nbad = 1\n", log, &err),
			 -EINVAL);
	snprintf(want, sizeof(want), "%s:2: ", path);
	assert_memory_equal(err.text, want, strlen(want));
	assert_int_equal(conf_read("/nonexistent/x", setting, log, &err),
			 -ENOENT);
}

static void an_indented_line_is_a_setting_of_its_own(void **state)
{
	struct error err;
	char log[256], want[128];

	assert_int_equal(read_text("[a]\n  x = 1\n\ty = 2\n  ; z\n", log, &err),
			 0);
	assert_string_equal(log, "a.x=1|a.y=2|");
	assert_int_equal(read_text("[a]\nx = 1\n  2\n", log, &err), -EINVAL);
	snprintf(want, sizeof(want), "%s:3: ", path);
	assert_memory_equal(err.text, want, strlen(want));
}

static void what_does_not_fit_a_line_is_told(void **state)
{
	static const char zero[] = "[a]\nx = 2\0 3\n";
	struct error err;
	char log[256], want[128], text[512];

	assert_int_equal(read_bytes(zero, sizeof(zero) - 1, log, &err),
			 -EINVAL);
	snprintf(want, sizeof(want), "%s:2: a byte of 0", path);
	assert_memory_equal(err.text, want, strlen(want));
	assert_string_equal(log, "");

	/* inih would see the settings x and y */
	snprintf(text, sizeof(text), "[a]\nx = %0190d      y=3\nz = 1\n", 0);
	assert_int_equal(read_text(text, log, &err), -E2BIG);
	snprintf(want, sizeof(want), "%s:2: this line has more than ", path);
	assert_memory_equal(err.text, want, strlen(want));
	assert_string_equal(log, "");
	snprintf(text, sizeof(text), "[a]\nx = %0190d\nz = 1", 0);
	assert_int_equal(read_text(text, log, &err), 0);
	assert_non_null(strstr(log, "|a.z=1|"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(an_indented_line_is_a_setting_of_its_own),
		cmocka_unit_test(what_does_not_fit_a_line_is_told),
	};
	char dir[SCRATCH_MAX];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/conf", dir);
	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
