/*
 * test_arguments.c - arguments are accepted exactly if the kernel accepts them
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/host/arguments.h"

/* Does a program start with these arguments? */
static bool runs(char *const *argv)
{
	const struct rlimit much = { RLIM_INFINITY, RLIM_INFINITY };
	char *const env[] = { NULL };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_STACK, &much);
		execve("/bin/true", argv, env);
		_exit(errno == E2BIG ? 7 : 8);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(!WEXITSTATUS(status) || WEXITSTATUS(status) == 7);
	return !WEXITSTATUS(status);
}

static bool are_taken(char **argv, size_t n)
{
	struct arguments sum = { .bytes = 0 };
	struct error err = ERROR_INIT;
	int r = arguments_add(&sum, argv, n, &err);

	assert_true(!r || (r == -E2BIG && *err.text));
	return !r;
}

static void one_argument_has_32_pages(void **state)
{
	static char text[ARGUMENT_MAX + 1];
	char *argv[] = { text, NULL };

	memset(text, 'x', ARGUMENT_MAX);
	assert_false(are_taken(argv, 1));
	assert_false(runs(argv));
	text[ARGUMENT_MAX - 1] = 0;
	assert_true(are_taken(argv, 1));
	assert_true(runs(argv));
}

/*
 * What is refused could not run; whether what is accepted runs, the kernel
 * tells.
 */
static void many_short_ones_count_their_pointers(void **state)
{
	enum { MANY = 1 << 20 };
	char **argv = calloc(MANY + 1, sizeof(*argv));

	assert_non_null(argv);
	for (int i = 0; i < MANY; i++)
		argv[i] = (char *)"";
	assert_false(are_taken(argv, MANY));
	assert_false(runs(argv));
	argv[MANY / 2] = NULL;
	assert_true(are_taken(argv, MANY / 2));
	assert_true(runs(argv));
	free(argv);
}

static void the_sum_is_of_all_lists(void **state)
{
	static char text[ARGUMENT_MAX - 64];
	struct arguments sum = { .bytes = 0 };
	char *argv[] = { text };
	struct error err;
	int n = 0;

	memset(text, 'x', sizeof(text) - 1);
	while (!arguments_add(&sum, argv, 1, &err) && n < 100)
		n++;
	assert_int_equal(n, ARGUMENTS_MAX / ARGUMENT_MAX);
	assert_non_null(strstr(err.text, "more than 6 MiB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_argument_has_32_pages),
		cmocka_unit_test(many_short_ones_count_their_pointers),
		cmocka_unit_test(the_sum_is_of_all_lists),
	};

	return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
