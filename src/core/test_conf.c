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

static int read_text(const char *text, char *log, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_full(fd, text, strlen(text)), 0);
	close(fd);
	*log = 0;
	return conf_read(path, setting, log, err);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(wrong_lines),
	};
	char dir[SCRATCH_MAX];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/conf", dir);
	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
