/* test_wait.c - timers and epoll sets after a move, and hostile sets */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/fd/restore.h"
#include "move/fd/test_move.h"

#define MSEC 1000000L

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { .make = make, .verify = verify };

	fdt_both(&c);
}

/* ---- timers ---- */

static void arm(int fd, int flags, long sec, long nsec, long interval)
{
	const struct itimerspec spec = { .it_value = { sec, nsec },
					 .it_interval = { 0, interval } };

	CHECK(timerfd_settime(fd, flags, &spec, NULL) == 0);
}

static void sleep_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * MSEC };

	nanosleep(&ts, NULL);
}

static void timers_make(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fdt_put(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), 10);
	arm(10, 0, 0, 5 * MSEC, 5 * MSEC); /* expires, unread */
	fdt_put(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), 11);
	arm(11, 0, 0, 1, 0); /* has expired for good, and was not read */
	fdt_put(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK), 12);
	arm(12, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, now.tv_sec + 100,
	    0, 0);
	fdt_put(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC), 13);
	arm(13, 0, 1000, 0, 0);
	fdt_put(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK),
		14); /* disarmed */
	sleep_ms(30);
}

static void timers_verify(void)
{
	struct pollfd p = { .fd = 10, .events = POLLIN };
	struct itimerspec spec;
	uint64_t v;

	CHECK(read(10, &v, 8) == 8 && v >= 5 && v < 100000);
	/* It goes on to expire: twice more. */
	CHECK(poll(&p, 1, 5000) == 1 && read(10, &v, 8) == 8);
	CHECK(poll(&p, 1, 5000) == 1 && read(10, &v, 8) == 8);
	CHECK(read(11, &v, 8) == 8 && v == 1);
	CHECK(read(11, &v, 8) < 0 && errno == EAGAIN);
	CHECK(timerfd_gettime(12, &spec) == 0);
	CHECK(spec.it_value.tv_sec > 90 && spec.it_value.tv_sec <= 100);
	CHECK(timerfd_gettime(13, &spec) == 0);
	CHECK(spec.it_value.tv_sec > 990 && spec.it_value.tv_sec <= 1000);
	CHECK(timerfd_gettime(14, &spec) == 0);
	CHECK(spec.it_value.tv_sec == 0 && spec.it_value.tv_nsec == 0);
	CHECK(read(14, &v, 8) < 0 && errno == EAGAIN);
}

static void timers(void **state)
{
	both(timers_make, timers_verify);
}

/* ---- epoll ---- */

static void add(int efd, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	CHECK(epoll_ctl(efd, EPOLL_CTL_ADD, fd, &ev) == 0);
}

/* The data of the next event of efd, or ~0. */
static uint64_t next(int efd)
{
	struct epoll_event ev;

	return epoll_wait(efd, &ev, 1, 0) == 1 ? ev.data.u64 : ~0ull;
}

static void nested_make(void)
{
	fdt_put(epoll_create1(EPOLL_CLOEXEC), 20);
	fdt_put(epoll_create1(0), 21);
	fdt_put(eventfd(0, EFD_NONBLOCK), 22);
	fdt_put(eventfd(1, EFD_NONBLOCK), 23);
	add(20, 21, EPOLLIN, 0x1111222233334444);
	add(21, 22, EPOLLIN, 22);
	add(21, 23, EPOLLIN | EPOLLONESHOT, 0xfedcba9876543210);
}

static void nested_verify(void)
{
	uint64_t one = 1;

	CHECK(next(20) == 0x1111222233334444);
	CHECK(next(21) == 0xfedcba9876543210);
	CHECK(next(21) == ~0ull); /* one shot */
	CHECK(write(22, &one, 8) == 8 && next(21) == 22);
	CHECK(next(20) == 0x1111222233334444);
}

static void nested(void **state)
{
	both(nested_make, nested_verify);
}

/* Entries whose number belongs to something else now, or to nothing. */
static void replaced_make(void)
{
	fdt_put(epoll_create1(0), 20);
	fdt_put(eventfd(0, EFD_NONBLOCK), 25);
	fdt_put(eventfd(0, EFD_NONBLOCK), 26);
	fdt_put(eventfd(0, EFD_NONBLOCK), 27);
	add(20, 25, EPOLLIN, 1);
	CHECK(dup2(25, 30) == 30);
	CHECK(dup2(26, 25) == 25); /* 25 is what 26 is */
	add(20, 25, EPOLLIN, 2);
	CHECK(dup2(25, 29) == 29);
	CHECK(dup2(27, 25) == 25); /* and now what 27 is */
	add(20, 29, EPOLLIN, 3);
	CHECK(dup2(29, 31) == 31);
	close(29); /* only 31 and 26 are left of that file */
}

static void replaced_verify(void)
{
	uint64_t one = 1, v;

	CHECK(next(20) == ~0ull);
	CHECK(write(30, &one, 8) == 8 && next(20) == 1);
	CHECK(read(30, &v, 8) == 8 && next(20) == ~0ull);
	CHECK(write(27, &one, 8) == 8 && next(20) == ~0ull);
	CHECK(write(31, &one, 8) == 8);
	v = next(20);
	CHECK((v == 2 && next(20) == 3) || (v == 3 && next(20) == 2));
	CHECK(fcntl(29, F_GETFD) < 0);
}

static void replaced(void **state)
{
	both(replaced_make, replaced_verify);
}

static void shots_make(void)
{
	int s[2];

	fdt_put(epoll_create1(0), 20);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	fdt_put(s[0], 21);
	fdt_put(s[1], 22);
	fdt_put(eventfd(1, EFD_NONBLOCK), 23);
	fdt_put(eventfd(0, EFD_NONBLOCK), 24);
	CHECK(write(22, "x", 1) == 1);
	add(20, 21, EPOLLIN | EPOLLONESHOT, 21);
	CHECK(next(20) == 21); /* disarmed, although still readable */
	add(20, 23, EPOLLIN | EPOLLET, 23);
	add(20, 24, EPOLLIN | EPOLLET, 24);
}

static void shots_verify(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 5 };
	uint64_t one = 1;

	CHECK(next(20) == 23 && next(20) == ~0ull);
	CHECK(write(24, &one, 8) == 8 && next(20) == 24);
	CHECK(next(20) == ~0ull);
	CHECK(epoll_ctl(20, EPOLL_CTL_MOD, 21, &ev) == 0 && next(20) == 5);
}

static void shots(void **state)
{
	both(shots_make, shots_verify);
}

/* ---- hostile sets ---- */

static void all_make(void)
{
	const struct sockaddr sa = { .sa_family = AF_INET };
	int p[2];

	timers_make();
	nested_make();
	CHECK(pipe(p) == 0 && write(p[1], "abc", 3) == 3);
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, p) == 0);
	CHECK(write(p[1], "abc", 3) == 3);
	fdt_put(socket(AF_INET, SOCK_STREAM, 0), 30);
	CHECK(bind(30, &sa, sizeof(sa)) == 0 && listen(30, 5) == 0);
	fdt_put(socket(AF_INET, SOCK_DGRAM, 0), 31);
	CHECK(bind(31, &sa, sizeof(sa)) == 0);
	fdt_put(open("/dev/null", O_RDWR), 32);
}

static void nothing(void)
{
}

/*
 * Whatever is changed, the result is an error or a set of descriptors, never a
 * crash.
 */
static void hostile(void **state)
{
	const struct fdt_case c = { all_make, nothing, .net = true };
	unsigned char *blob, *bad;
	char report[1024];
	Fds__Set *set;
	size_t n, accepted = 0;
	int status;

	fdt_capture(&c, &blob, &n);
	bad = malloc(n);
	assert_non_null(bad);
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		memcpy(bad, blob, n);
		for (long k = random() % 4; k >= 0; k--)
			bad[random() % n] = (unsigned char)random();
		if (fdvalid_unpack(bad, random() % 8 ? n : random() % n, &set,
				   NULL) < 0)
			continue;
		fds__set__free_unpacked(set, NULL);
		if (accepted++ >= 150)
			continue;
		status = fdt_restore(&c, bad, n, report, sizeof(report));
		assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGALRM);
	}
	assert_true(accepted > 0);
	free(bad);
	free(blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers),   cmocka_unit_test(nested),
		cmocka_unit_test(replaced), cmocka_unit_test(shots),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests_name("fdwait", tests, NULL, NULL);
}
