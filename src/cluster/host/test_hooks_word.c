/*
 * test_hooks_word.c - what an agent tells its keepers of the host's hooks, and
 * when that is valid
 */
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

#include "cluster/host/hooks_word.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];

/* Write n bytes at that place of the file. */
static void put(int fd, const char *text, size_t n, off_t at)
{
	assert_int_equal(pwrite(fd, text, n, at), n);
}

static void is_said(int fd, const struct net_hooks *word)
{
	usec_t before = clock_usec(CLOCK_MONOTONIC), when;
	struct net_hooks got;

	assert_int_equal(hooks_write(fd, word), 0);
	assert_true(hooks_read(dir, &got, &when));
	assert_true(when >= before && when <= clock_usec(CLOCK_MONOTONIC));
	assert_int_equal(got.uplink, word->uplink);
	assert_int_equal(got.found, word->found);
	assert_string_equal(got.text, word->text);
}

static void what_is_written_is_read(void **state)
{
	struct net_hooks word = { 7, 1, "nftables has the table a b" };
	struct net_hooks got = { .uplink = 42 };
	usec_t when = 42;
	int fd;

	scratch_dir(dir, "/tmp");
	assert_false(hooks_read(dir, &got, &when)); /* no file */
	fd = hooks_open(dir, NULL);
	assert_true(fd >= 0);
	assert_false(hooks_read(dir, &got, &when)); /* no word */
	assert_int_equal(got.uplink, 42);
	assert_int_equal(when, 42);
	is_said(fd, &word);
	word = (struct net_hooks){ 7, 0, "" };
	is_said(fd, &word);
	memset(word.text, 'x', sizeof(word.text) - 1);
	word.found = -1;
	is_said(fd, &word);
	close(fd);
}

/* The last digit of the time at the end of the line. */
static char last_digit(void)
{
	char *path = hooks_path(dir), *text, digit;

	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text), 256);
	digit = text[254];
	free(text);
	free(path);
	return digit;
}

/* Half a word, an old one, one from another boot, and nonsense. */
static void what_is_not_whole_and_fresh_is_not(void **state)
{
	const struct net_hooks word = { 3, 0, "" };
	struct net_hooks got;
	usec_t when;
	char line[257];
	int fd;

	scratch_dir(dir, "/tmp");
	fd = hooks_open(dir, NULL);
	assert_int_equal(hooks_write(fd, &word), 0);
	put(fd, last_digit() == '1' ? "2" : "1", 1, 254); /* another time */
	assert_false(hooks_read(dir, &got, &when));
	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "%-232s %22s\n",
			 i ? "9223372036854775807 3 0 " : "1 3 0 ",
			 i ? "9223372036854775807" : "1");
		put(fd, line, 256, 0);
		assert_false(hooks_read(dir, &got, &when));
	}
	memset(line, 'x', 256);
	put(fd, line, 256, 0);
	assert_false(hooks_read(dir, &got, &when));
	assert_int_equal(hooks_write(fd, &word), 0);
	assert_true(hooks_read(dir, &got, &when));
	put(fd, "more", 4, 256);
	assert_false(hooks_read(dir, &got, &when));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_not_whole_and_fresh_is_not),
	};

	return cmocka_run_group_tests_name("hooks_word", tests, NULL, NULL);
}
