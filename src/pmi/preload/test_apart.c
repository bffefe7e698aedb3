/* test_apart.c - what a wait through a set of its own tells, and leaves behind */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmi/preload/apart.h"

static const struct timespec bound = { .tv_nsec = 1000000 };
static struct pollfd two[2];
/* The last wait polled another descriptor than was asked for. */
static bool by_set;

/* The first one before the C library's. */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec t = *timeout;

	by_set = n == 1 && fds != two;
	return (int)syscall(SYS_ppoll, fds, n, &t, mask, (size_t)8);
}

static int set_up(void **state)
{
	for (int i = 0; i < 2; i++)
		two[i] = (struct pollfd){ .fd = eventfd(0, EFD_CLOEXEC),
					  .events = POLLIN };
	return two[0].fd < 0 || two[1].fd < 0;
}

static int tear_down(void **state)
{
	close(two[0].fd);
	close(two[1].fd);
	return 0;
}

static void a_set_of_its_own_tells_of_each_and_is_gone(void **state)
{
	assert_int_equal(apart_poll(two, 2, &bound), 0);
	assert_true(by_set);
	assert_int_equal(fcntl(two[1].fd + 1, F_GETFD), -1);
	assert_int_equal(eventfd_write(two[1].fd, 1), 0);
	assert_int_equal(apart_poll(two, 2, &bound), 1);
	assert_true(by_set);
	assert_int_equal(fcntl(two[1].fd + 1, F_GETFD), -1);
}

static void a_single_one_is_polled_as_it_is(void **state)
{
	assert_int_equal(apart_poll(two, 1, &bound), 0);
	assert_false(by_set);
	assert_int_equal(eventfd_write(two[0].fd, 1), 0);
	assert_int_equal(apart_poll(two, 1, &bound), 1);
}

/* poll() tells of a closed descriptor, and a set does not take it. */
static void what_no_set_takes_is_polled_as_it_is(void **state)
{
	close(two[1].fd);
	assert_int_equal(apart_poll(two, 2, &bound), 1);
	assert_false(by_set);
	assert_int_equal(two[1].revents, POLLNVAL);
	/* and no set took its place */
	assert_int_equal(fcntl(two[1].fd, F_GETFD), -1);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_set_of_its_own_tells_of_each_and_is_gone),
		TEST(a_single_one_is_polled_as_it_is),
		TEST(what_no_set_takes_is_polled_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
