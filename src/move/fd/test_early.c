/*
 * test_early.c - files that are open at the destination before the freeze,
 * and what becomes of them until it
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "move/fd/test_move.h"

static char dir[SCRATCH_MAX];

static const char *at(const char *name)
{
	static char path[2][128];
	static int i;

	i = !i; /* two at a time can be used */
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

/* A file of that content, its name, at that number. */
static void put(const char *name, int flags, int number)
{
	fdt_put(open(at(name), O_RDWR | O_CREAT | O_TRUNC, 0600), 400);
	CHECK(write(400, name, strlen(name)) == (ssize_t)strlen(name));
	close(400);
	fdt_put(open(at(name), flags), number);
}

static bool holds(int fd, const char *text)
{
	char buf[64];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	return n == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

static bool is_one(int a, int b)
{
	off_t was = lseek(a, 0, SEEK_CUR);
	bool one = lseek(b, was + 7, SEEK_SET) == was + 7 &&
		   lseek(a, 0, SEEK_CUR) == was + 7;

	return one && lseek(a, was, SEEK_SET) == was;
}

static void make(void)
{
	put("still", O_RDWR, 10);
	put("moved", O_RDWR, 11);
	put("renamed", O_RDWR, 12);
	put("replaced", O_RDWR, 13);
	put("closed", O_RDWR, 14);
	put("reopened", O_RDWR, 15);
	put("other", O_RDWR, 16);
	put("deleted", O_RDWR, 17);
	put("cut", O_RDONLY, 18);
	put("dup", O_RDWR, 19);
	put("single", O_RDWR, 20);
	fdt_put(dup(20), 21);
	put("flags", O_RDWR, 22);
	put("cloexec", O_RDWR | O_CLOEXEC, 23);
	put("swap1", O_RDWR, 24);
	put("swap2", O_RDWR, 25);
	put("lowest", O_RDWR, 26);
	fdt_put(dup(26), 27);
	put("above", O_RDONLY, 28);
	fdt_put(open(dir, O_RDONLY | O_DIRECTORY), 29);
}

static void change(void)
{
	CHECK(lseek(11, 3, SEEK_SET) == 3);
	/* only by the descriptor that is open early can it still be had */
	CHECK(rename(at("renamed"), at("elsewhere")) == 0);
	put("new", O_RDWR, 30);
	CHECK(rename(at("replaced"), at("kept")) == 0);
	put("replaced", O_RDONLY, 31);
	close(14);
	close(15);
	fdt_put(open(at("reopened"), O_RDONLY), 15);
	close(16);
	put("another", O_RDWR, 16);
	CHECK(unlink(at("deleted")) == 0);
	CHECK(truncate(at("cut"), 1) == 0);
	fdt_put(dup(19), 32);
	close(21); /* no duplicate any more, but another description */
	fdt_put(open(at("single"), O_RDWR), 21);
	CHECK(fcntl(22, F_SETFL, O_APPEND) == 0);
	CHECK(fcntl(23, F_SETFD, 0) == 0);
	fdt_put(dup(24), 40);
	fdt_put(dup(25), 24);
	fdt_put(dup(40), 25);
	close(40);
	close(26); /* the file goes by its other number */
	/* above what the destination has open by now */
	fdt_put(open(at("above"), O_RDONLY), 450);
	fdt_put(dup(28), 451);
}

static void verify(void)
{
	struct stat st;

	CHECK(holds(10, "still") && lseek(10, 0, SEEK_CUR) == 0);
	CHECK(holds(11, "moved") && lseek(11, 0, SEEK_CUR) == 3);
	CHECK(holds(12, "renamed") && pwrite(12, "R", 1, 0) == 1);
	CHECK(holds(30, "new"));
	CHECK(holds(13, "replaced") && holds(31, "replaced"));
	CHECK(pwrite(13, "R", 1, 0) == 1 && holds(31, "replaced"));
	CHECK(pwrite(13, "r", 1, 0) == 1);
	CHECK(fcntl(14, F_GETFD) < 0 && errno == EBADF);
	CHECK(holds(15, "reopened") && write(15, "x", 1) < 0);
	CHECK(holds(16, "another"));
	CHECK(holds(17, "deleted") && fstat(17, &st) == 0 && !st.st_nlink);
	CHECK(fstat(18, &st) == 0 && st.st_size == 1 && holds(18, "c"));
	CHECK(is_one(19, 32) && !is_one(20, 21));
	CHECK(fcntl(22, F_GETFL) & O_APPEND);
	CHECK(fcntl(23, F_GETFD) == 0);
	CHECK(holds(24, "swap2") && holds(25, "swap1"));
	CHECK(fcntl(26, F_GETFD) < 0 && holds(27, "lowest"));
	CHECK(is_one(28, 451) && !is_one(28, 450) && holds(450, "above"));
	CHECK(openat(29, "still", O_RDONLY) == 0); /* as the lowest free */
	for (int i = 512; i < 600; i++)		   /* where it was open early */
		CHECK(fcntl(i, F_GETFD) < 0);
	CHECK(rename(at("elsewhere"), at("renamed")) == 0);
}

static void changes(void **state)
{
	const struct fdt_case c = { .make = make,
				    .change = change,
				    .verify = verify };

	fdt_move(&c);
}

static void given_up(void **state)
{
	const struct fdt_case c = { .make = make,
				    .change = change,
				    .verify = verify };

	fdt_abort(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes),
		cmocka_unit_test(given_up),
	};

	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
