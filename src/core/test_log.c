/* test_log.c - a log file is bounded, and what is repeated is counted */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "core/log.h"
#include "core/scratch.h"

enum { MOST = 4096 };

static char dir[SCRATCH_MAX];

static char *path_of(const char *name)
{
	static char ring[4][80];
	static unsigned at;
	char *path = ring[at++ % 4];

	snprintf(path, sizeof(ring[0]), "%s/%s", dir, name);
	return path;
}

static off_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(path_of(name), &st), 0);
	return st.st_size;
}

/* In a child: cmocka's own words go to stderr. */
static void in_child(void (*what)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static char *text_of(const char *name)
{
	char *text;

	assert_true(io_read_file(AT_FDCWD, path_of(name), 1 << 20, &text) >= 0);
	return text;
}

static void say_much(void)
{
	if (log_to(path_of("much"), MOST, NULL) < 0)
		_exit(1);
	for (int i = 0; i < 1000; i++)
		log_info("line %d of many that nobody reads", i);
}

static void bounded(void **state)
{
	char *text, *old;

	(void)state;
	in_child(say_much);
	assert_true(size_of("much") <= MOST + 100);
	assert_true(size_of("much.old") <= MOST + 100);
	assert_true(size_of("much.old") >= MOST);
	/* The last lines are there, and none of them is missing. */
	text = text_of("much");
	old = text_of("much.old");
	assert_non_null(strstr(text, "line 999 of"));
	assert_int_equal(strtol(strstr(text, "line ") + 5, NULL, 10),
			 strtol(strrchr(old, ':') + 7, NULL, 10) + 1);
	free(old);
	free(text);
}

/*
 * As keepers write: their stderr is the agent's log, which the agent cuts
 * meanwhile.
 */
static void say_with_child(void)
{
	int fd;

	if (log_to(path_of("shared"), MOST, NULL) < 0)
		_exit(1);
	fd = dup(STDERR_FILENO);
	for (int i = 0; i < 1000; i++) {
		if (!fork()) {
			log_info("from a child");
			_exit(0);
		}
		wait(NULL);
		log_info("line %d", i);
	}
	if (write(fd, "keeper\n", 7) != 7)
		_exit(1);
}

static void shared(void **state)
{
	char *text;

	(void)state;
	in_child(say_with_child);
	assert_true(size_of("shared") <= MOST + 100);
	text = text_of("shared");
	assert_string_equal(strrchr(text, 'k'), "keeper\n");
	/* The file was cut, and has no holes. */
	assert_int_equal(strlen(text), size_of("shared"));
	free(text);
}

static void say_again(void)
{
	if (log_to(path_of("again"), MOST, NULL) < 0)
		_exit(1);
	log_count_repeats();
	for (int i = 0; i < 500; i++)
		log_info("host h1 is away");
	log_info("host h1 is back");
	log_info("host h1 is away");
}

static void repeated(void **state)
{
	char *text;

	(void)state;
	in_child(say_again);
	text = text_of("again");
	assert_string_equal(text, "stint: host h1 is away\n"
				  "stint: the line before came 499 more times\n"
				  "stint: host h1 is back\n"
				  "stint: host h1 is away\n");
	free(text);
}

/* Held lines come with what is worse than they are, at the release, or when they are many. */
static void say_held(void)
{
	if (log_to(path_of("held"), 1 << 20, NULL) < 0)
		_exit(1);
	log_hold();
	log_info("first");
	if (size_of("held") != 0)
		_exit(2);
	log_warnx("second");
	if (size_of("held") != (off_t)strlen("stint: first\nstint: second\n"))
		_exit(3);
	for (int i = 0; i < 2000; i++)
		log_info("line %04d", i);
	if (size_of("held") < 4096)
		_exit(4);
	log_release();
	log_info("last");
}

static void hold(void **state)
{
	char *text, *at;

	(void)state;
	in_child(say_held);
	text = text_of("held");
	at = text + strlen("stint: first\nstint: second\n");
	for (int i = 0; i < 2000; i++, at += strlen("stint: line 0000\n"))
		assert_int_equal(strtol(at + strlen("stint: line "), NULL, 10),
				 i);
	assert_string_equal(at, "stint: last\n");
	free(text);
}

static void no_link(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(symlink("/dev/null", path_of("link")), 0);
	assert_true(log_to(path_of("link"), MOST, &err) < 0);
	assert_non_null(strstr(err.text, "link"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded),  cmocka_unit_test(shared),
		cmocka_unit_test(repeated), cmocka_unit_test(hold),
		cmocka_unit_test(no_link),
	};

	unsetenv("JOURNAL_STREAM");
	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
