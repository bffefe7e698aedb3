/*
 * test_paper.c - what was put is on the disk
 *
 * fsync() is ours here: it tells which file it was called for, and what was in it,
 * and waits where a test says so, as a busy disk does.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/paper.h"
#include "cluster/conn/loop.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/xalloc.h"

#define PATIENCE (100 * USEC_PER_SEC)

static struct {
	pthread_mutex_t lock; /* held: the disk is busy */
	unsigned files, dirs;
	char text[32]; /* of the last file */
	struct stat dir;
} disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

int fsync(int fd)
{
	struct stat st;
	ssize_t n;

	pthread_mutex_lock(&disk.lock);
	if (fstat(fd, &st) < 0)
		abort();
	if (S_ISDIR(st.st_mode)) {
		disk.dir = st;
		disk.dirs++;
	} else {
		n = pread(fd, disk.text, sizeof(disk.text) - 1, 0);
		disk.text[n > 0 ? n : 0] = '\0';
		disk.files++;
	}
	pthread_mutex_unlock(&disk.lock);
	return 0;
}

static char dir[SCRATCH_MAX], *path;
static sd_event *event;
static struct paper *paper;

static int setup(void **state)
{
	scratch_dir(dir, "/tmp");
	path = xasprintf("%s/contract", dir);
	disk.files = disk.dirs = 0;
	if (loop_create(&event, NULL) < 0)
		return -1;
	paper = paper_create(event, "contract", path);
	return 0;
}

static int teardown(void **state)
{
	paper_destroy(paper);
	paper = NULL;
	event = sd_event_unref(event);
	free(path);
	return 0;
}

static void assert_in_file(const char *text)
{
	char *is;

	assert_true(io_read_file(AT_FDCWD, path, 100, &is) >= 0);
	assert_string_equal(is, text);
	free(is);
}

static bool is_synced(const char *text, unsigned dirs)
{
	bool is;

	pthread_mutex_lock(&disk.lock);
	is = disk.dirs == dirs && !strcmp(disk.text, text);
	pthread_mutex_unlock(&disk.lock);
	return is;
}

static void text_and_name_are_synced(void **state)
{
	struct stat st;

	paper_put(paper, "one");
	assert_in_file("one");
	assert_true(sd_event_run(event, PATIENCE) > 0);
	assert_true(is_synced("one", 1));
	assert_int_equal(disk.files, 1);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(disk.dir.st_ino, st.st_ino);
	/* And the next. */
	paper_put(paper, "two");
	assert_true(sd_event_run(event, PATIENCE) > 0);
	assert_true(is_synced("two", 2));
}

/*
 * Nobody waits for the busy disk; once it is free, only the last text is
 * written.
 */
static void a_disk_that_is_busy(void **state)
{
	pthread_mutex_lock(&disk.lock);
	paper_put(paper, "one");
	paper_put(paper, "two");
	paper_put(paper, "three");
	assert_in_file("three");
	assert_int_equal(disk.files, 0);
	pthread_mutex_unlock(&disk.lock);
	assert_true(sd_event_run(event, PATIENCE) > 0);
	assert_true(sd_event_run(event, PATIENCE) > 0);
	assert_true(is_synced("three", 2));
	assert_int_equal(disk.files, 2);
}

static void the_end_waits_for_the_disk(void **state)
{
	paper_put(paper, "one");
	paper_put(paper, "last");
	paper_destroy(paper);
	paper = NULL;
	assert_string_equal(disk.text, "last");
	assert_in_range(disk.dirs, 1, 2);
}

static void what_cannot_be_written_is_not_synced(void **state)
{
	assert_int_equal(mkdir(path, 0700), 0);
	paper_put(paper, "one");
	paper_destroy(paper);
	paper = NULL;
	assert_int_equal(disk.files + disk.dirs, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(text_and_name_are_synced),
		TEST(a_disk_that_is_busy),
		TEST(the_end_waits_for_the_disk),
		TEST(what_cannot_be_written_is_not_synced),
	};

	return cmocka_run_group_tests_name("paper", tests, NULL, NULL);
}
