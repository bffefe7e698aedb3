/*
 * cuts.c - reads of devices that make their bytes
 *
 * Threads read large pieces of /dev/zero, /dev/urandom and the like, by
 * read(), readv(), pread() and getrandom(), and rely on getting all of it, as
 * nothing but a signal, of which there is none, may cut them short.
 */
#include <fcntl.h>
#include <sys/random.h>
#include <sys/uio.h>

#include "check.h"

#define SIZE ((size_t)4 << 20)

static int zero, urandom;

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
	struct iovec iov[2] = { { p, SIZE / 4 },
				{ (char *)p + SIZE / 4, SIZE - SIZE / 4 } };

	return readv(zero, iov, 2);
}

static ssize_t read_random(void *p)
{
	return read(urandom, p, SIZE);
}

static ssize_t get_random(void *p)
{
	return getrandom(p, SIZE, 0);
}

static ssize_t (*const ways[])(void *) = { read_zero, pread_zero, readv_zero,
					   read_random, get_random };
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
		for (size_t i = 0; way < 3 && i < SIZE; i++)
			CHECK(!p[i], "byte %zu is not zero", i);
		CHECK(p[SIZE] == 99 && !spoilt, "what lies behind");
	}
	free(p);
	return NULL;
}

int main(void)
{
	pthread_t t[WAYS];

	zero = open("/dev/zero", O_RDONLY);
	urandom = open("/dev/urandom", O_RDONLY);
	CHECK(zero >= 0 && urandom >= 0);
	check_ready();
	for (size_t i = 0; i < WAYS; i++)
		t[i] = check_thread(use, (void *)(uintptr_t)i);
	for (size_t i = 0; i < WAYS; i++)
		check_join(t[i]);
	return check_pass();
}
