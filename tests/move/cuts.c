/*
 * cuts.c - reads of devices that make their bytes
 *
 * Threads read large pieces of /dev/zero, /dev/urandom and the like, by
 * read(), readv(), pread() and getrandom(), and rely on getting all of it, as
 * nothing but a signal, of which there is none, may cut them short.
 *
 *	cuts vfork	the main thread waits for a child at times, as by vfork(), and
 *			cannot be stopped: the others have been for nothing then
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "check.h"

#define SIZE ((size_t)4 << 20)

static int zero, full, urandom;

static ssize_t read_zero(void *p)
{
	return read(zero, p, SIZE);
}

static ssize_t pread_zero(void *p)
{
	return pread(zero, p, SIZE, 77);
}

static ssize_t readv_zero(void *p)
{
	struct iovec iov[2] = { { p, CHECK_PAGE },
				{ (char *)p + CHECK_PAGE, SIZE - CHECK_PAGE } };

	return readv(zero, iov, 2);
}

static ssize_t read_full(void *p)
{
	return read(full, p, SIZE);
}

static ssize_t read_random(void *p)
{
	return read(urandom, p, SIZE);
}

static ssize_t get_random(void *p)
{
	return getrandom(p, SIZE, 0);
}

static ssize_t (*const ways[])(void *) = { read_zero, pread_zero,  readv_zero,
					   read_full, read_random, get_random };
#define WAYS (sizeof(ways) / sizeof(*ways))

static void *use(void *arg)
{
	size_t way = (size_t)(uintptr_t)arg;
	char *p = malloc(SIZE + 1), spoilt = check_sabotaged();

	p[SIZE] = 99;
	while (check_running()) {
		ssize_t n;

		memset(p, 55, SIZE);
		n = ways[way](p);
		CHECK(n == (ssize_t)SIZE, "way %zu gave %zd bytes", way, n);
		p[SIZE - 1] += spoilt;
		for (size_t i = 0; way < 4 && i < SIZE; i += 61)
			CHECK(!p[i], "byte %zu is not zero", i);
		CHECK(p[SIZE] == 99 && !spoilt, "what lies behind");
	}
	free(p);
	return NULL;
}

/*
 * No signal tells of the child's end, as that would cut short reads of a
 * process that is traced.
 */
static void wait_for_child(void)
{
	const struct timespec longer = { .tv_nsec = 180000000 };
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_VFORK, 0, 0, 0, 0);

	if (child == 0) {
		nanosleep(&longer, NULL);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, NULL, __WALL) == child);
}

int main(int argc, char **argv)
{
	pthread_t t[WAYS];

	zero = open("/dev/zero", O_RDONLY);
	full = open("/dev/full", O_RDONLY);
	urandom = open("/dev/urandom", O_RDONLY);
	CHECK(zero >= 0 && full >= 0 && urandom >= 0);
	check_ready();
	for (size_t i = 0; i < WAYS; i++)
		t[i] = check_thread(use, (void *)(uintptr_t)i);
	while (argc > 1 && check_running()) {
		wait_for_child();
		for (int i = 0; i < 400; i++)
			check_nap();
	}
	for (size_t i = 0; i < WAYS; i++)
		check_join(t[i]);
	return check_pass();
}
