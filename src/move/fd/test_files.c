/*
 * test_files.c - open files, deleted ones and their locks: those that move, and
 * those that do not
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/test_fork.h"
#include "move/fd/test_move.h"

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { .make = make, .verify = verify };

	fdt_both(&c);
}

/* ---- files ---- */

static void files_make(void)
{
	fdt_put(open(fdt_at("a"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
		10);
	CHECK(write(10, "0123456789", 10) == 10);
	CHECK(lseek(10, 4, SEEK_SET) == 4);
	CHECK(dup3(10, 11, O_CLOEXEC) == 11);
	fdt_put(open(fdt_at("a"), O_WRONLY | O_APPEND), 12);
	fdt_put(open("/dev/null", O_WRONLY), 13);
	fdt_put(open("/dev/urandom", O_RDONLY | O_NONBLOCK), 14);
	fdt_put(open(fdt_at("."), O_RDONLY | O_DIRECTORY), 15);
	fdt_put(open(fdt_at("a"), O_PATH), 16);
	fdt_put(open("/proc/version", O_RDONLY), 0);
}

static void files_verify(void)
{
	char c;

	CHECK(fcntl(1, F_GETFD) < 0 && errno == EBADF);
	CHECK(!(fcntl(10, F_GETFD) & FD_CLOEXEC));
	CHECK(fcntl(11, F_GETFD) & FD_CLOEXEC);
	CHECK(read(11, &c, 1) == 1 && c == '4');
	/* 10 shares the description, so its offset moved as well. */
	CHECK(lseek(10, 0, SEEK_CUR) == 5);
	CHECK(write(12, "X", 1) == 1);
	CHECK(lseek(10, 0, SEEK_END) == 11);
	CHECK(fcntl(12, F_GETFL) & O_APPEND);
	CHECK(write(13, &c, 1) == 1);
	CHECK(read(14, &c, 1) == 1 && (fcntl(14, F_GETFL) & O_NONBLOCK));
	CHECK(openat(15, "a", O_RDONLY) >= 0);
	CHECK(fcntl(16, F_GETFL) & O_PATH);
	CHECK(read(0, &c, 1) == 1 && c == 'L');
}

static void files(void **state)
{
	both(files_make, files_verify);
}

/* ---- deleted files ---- */

static void deleted_make(void)
{
	char path[] = "/proc/self/fd/10";

	fdt_put(open(fdt_at("r"), O_RDWR | O_CREAT, 0640), 10);
	CHECK(write(10, "content", 7) == 7);
	CHECK(ftruncate(10, 5ll << 20) == 0);
	CHECK(pwrite(10, "end", 3, 4 << 20) == 3 && lseek(10, 3, 0) == 3);
	fdt_put(dup(10), 11);
	fdt_put(open(path, O_WRONLY | O_APPEND), 12);
	CHECK(unlink(fdt_at("r")) == 0);
	fdt_put(open(path, O_RDONLY), 13);
	fdt_put(open(fdt_at(""), O_RDWR | O_TMPFILE, 0600), 14);
	CHECK(write(14, "never named", 11) == 11);
	fdt_put(open(fdt_at("r"), O_RDONLY | O_CREAT, 0600), 15);
	CHECK(rename(fdt_at("r"), fdt_at("s")) == 0);
	close(open(fdt_at("r"), O_RDWR | O_CREAT, 0600));
	CHECK(rename(fdt_at("r"), fdt_at("s")) == 0); /* 15 was replaced */
	CHECK(flock(10, LOCK_EX) == 0);
}

static void deleted_verify(void)
{
	struct stat st, other;
	char text[16];

	CHECK(fstat(10, &st) == 0 && st.st_size == 5 << 20 && !st.st_nlink);
	CHECK((st.st_mode & 07777) == 0640);
	CHECK(read(11, text, 4) == 4 && !memcmp(text, "tent", 4));
	CHECK(lseek(10, 0, SEEK_CUR) == 7 && lseek(13, 0, SEEK_CUR) == 0);
	CHECK(write(12, "more", 4) == 4);
	CHECK(pread(13, text, 4, 5 << 20) == 4 && !memcmp(text, "more", 4));
	CHECK(pread(13, text, 4, 4 << 20) == 4 && !memcmp(text, "end", 4));
	CHECK(write(13, "x", 1) < 0 && flock(13, LOCK_EX | LOCK_NB) < 0);
	CHECK(pread(14, text, 16, 0) == 11 && !memcmp(text, "never named", 11));
	CHECK(fstat(15, &other) == 0 && !other.st_size && !other.st_nlink);
	CHECK(other.st_ino != st.st_ino);
}

static void deleted(void **state)
{
	both(deleted_make, deleted_verify);
}

/* ---- locks ---- */

static void locks_make(void)
{
	struct flock fl = { .l_type = F_WRLCK, .l_start = 3, .l_len = 4 };

	fdt_put(open(fdt_at("l"), O_RDWR | O_CREAT, 0600), 10);
	CHECK(flock(10, LOCK_EX) == 0);
	fdt_put(open(fdt_at("m"), O_RDWR | O_CREAT, 0600), 11);
	CHECK(fcntl(11, F_OFD_SETLK, &fl) == 0);
	CHECK(fcntl(11, F_SETOWN, getppid()) == 0);
	CHECK(fcntl(11, F_SETSIG, SIGUSR1) == 0);
	fdt_put(open(fdt_at("h"), O_RDWR | O_CREAT, 0600), 12);
	CHECK(flock(12, LOCK_SH) == 0);
}

static void locks_verify(void)
{
	struct flock fl = { .l_type = F_WRLCK };
	int fd = open(fdt_at("l"), O_RDWR);

	CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0);
	fd = open(fdt_at("m"), O_RDWR);
	CHECK(fd >= 0 && fcntl(fd, F_OFD_GETLK, &fl) == 0);
	CHECK(fl.l_type == F_WRLCK && fl.l_start == 3 && fl.l_len == 4);
	CHECK(fcntl(11, F_GETSIG) == SIGUSR1 && fcntl(11, F_GETOWN) > 0);
	fd = open(fdt_at("h"), O_RDWR);
	CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0);
	CHECK(flock(fd, LOCK_SH | LOCK_NB) == 0);
}

static void locks(void **state)
{
	both(locks_make, locks_verify);
}

/*
 * A move waits for a lock that cannot move, in case it is held for a moment
 * only.
 */
static void passing_lock(void **state)
{
	struct flock on = { .l_type = F_WRLCK }, off = { .l_type = F_UNLCK };
	int fd = open(fdt_at("p"), O_RDWR | O_CREAT, 0600), ready[2];
	struct error err = ERROR_INIT;
	struct move_external none[1];
	char byte;
	pid_t pid, holder;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	holder = fork_to_end_with(); /* has the file open as well */
	if (holder == 0) {
		pause();
		_exit(0);
	}
	pid = fork_to_end_with();
	if (pid == 0) {
		dup2(fd, 0);
		dup2(ready[1], 1);
		close_range(2, ~0u, 0);
		for (;;) {
			fcntl(0, F_SETLK, &on);
			(void)!write(1, "x", 1);
			close(1);
			poll(NULL, 0, 20);
			fcntl(0, F_SETLK, &off);
			poll(NULL, 0, 20);
		}
	}
	close(fd);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (fds_check(pid, none, 0, NULL, &err) < 0)
		fail_msg("%s", err.text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(locks),
		cmocka_unit_test(passing_lock),
		cmocka_unit_test(deleted),
	};

	fdt_scratch();
	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
