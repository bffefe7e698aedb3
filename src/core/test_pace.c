/* test_pace.c - a rate that several processes keep together */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/channel.h"
#include "core/clock.h"
#include "core/pace.h"
#include "core/scratch.h"
#include "core/xalloc.h"

#define MB (1 << 20)

static void takes_add_up_whoever_takes(void **state)
{
	char dir[64];
	char *path;
	struct pace *a, *b;
	struct error err;
	usec_t now = 100 * USEC_PER_SEC, till = 0;

	scratch_dir(dir, "/tmp");
	path = pace_path(dir);
	assert_int_equal(pace_open(path, &a, &err), 0);
	assert_int_equal(pace_open(path, &b, &err), 0);
	assert_int_equal(pace_rate(b), 0);
	assert_int_equal(pace_take(a, PACE_OUT, MB, now), now);
	pace_set(a, 10 * MB);
	assert_int_equal(pace_rate(b), 10 * MB);
	for (int i = 0; i < 10; i++) {
		till = pace_take(a, PACE_OUT, MB, now);
		till = pace_take(b, PACE_OUT, MB, now);
	}
	/* 20 MB take 2 s, less what may be saved up. */
	assert_in_range(till, now + 19 * USEC_PER_SEC / 10,
			now + 2 * USEC_PER_SEC);
	/* The other direction, and a later time, are free. */
	assert_int_equal(pace_take(b, PACE_IN, 1000, now), now);
	assert_int_equal(pace_take(b, PACE_OUT, 1000, now + 60 * USEC_PER_SEC),
			 now + 60 * USEC_PER_SEC);
	/*
	 * A new rate holds for those that wait, too, and none of them is
	 * forgotten.
	 */
	pace_set(b, 0);
	assert_int_equal(pace_take(a, PACE_OUT, MB, now), now);
	pace_close(a);
	pace_close(b);
	free(path);
}

static void nothing_stops_anybody_for_good(void **state)
{
	struct pace *p = pace_own(1);
	usec_t now = 5000 * USEC_PER_SEC;

	assert_in_range(pace_take(p, PACE_OUT, MB, now), now,
			now + 2 * USEC_PER_SEC);
	/* As by the clock of another boot. */
	pace_set(p, 100 * MB);
	assert_in_range(pace_take(p, PACE_OUT, 1000, 10 * USEC_PER_SEC), 1,
			12 * USEC_PER_SEC);
	pace_close(p);
}

/*
 * Whatever the pieces are, and whichever end is slow, the bytes arrive
 * unchanged.
 */
static void send_through(uint64_t out, uint64_t there, uint64_t in)
{
	enum { SIZE = 600001 };
	uint8_t *data = xmalloc(SIZE), *got = xcalloc(1, SIZE);
	struct iovec iov[] = { { data, 100 }, { data + 100, SIZE - 100 } };
	struct pace *o = pace_own(out), *t = pace_own(there), *i = pace_own(in);
	struct channel *a, *b;
	usec_t began = clock_usec(CLOCK_MONOTONIC), least;
	uint64_t rate = out < there ? out : there;
	int sv[2], status;
	pid_t pid;

	for (int k = 0; k < SIZE; k++)
		data[k] = (uint8_t)(k * 7 + k / 251);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	a = channel_from_fd(sv[0]);
	b = channel_from_fd(sv[1]);
	channel_pace(a, o, t);
	channel_pace(b, i, NULL);
	assert_int_equal(channel_rate(a), rate);
	pid = fork();
	if (!pid)
		_exit(channel_writev(a, iov, 2) ? 1 : 0);
	assert_int_equal(channel_read(b, got, SIZE), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_memory_equal(got, data, SIZE);
	/* It is never sooner than at the slowest rate. */
	rate = in < rate ? in : rate;
	least = (usec_t)(SIZE * USEC_PER_SEC / rate) - 60 * USEC_PER_MSEC;
	assert_true(clock_usec(CLOCK_MONOTONIC) - began >= least);
	channel_close(a);
	channel_close(b);
	pace_close(o);
	pace_close(t);
	pace_close(i);
	free(data);
	free(got);
}

static void a_channel_keeps_the_slowest_rate(void **state)
{
	send_through(4 * MB, 40 * MB, 40 * MB);
	send_through(40 * MB, 4 * MB, 40 * MB);
	send_through(40 * MB, 40 * MB, 4 * MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_add_up_whoever_takes),
		cmocka_unit_test(nothing_stops_anybody_for_good),
		cmocka_unit_test(a_channel_keeps_the_slowest_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
