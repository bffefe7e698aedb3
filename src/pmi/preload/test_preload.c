/*
 * test_preload.c - reads of PMI_FD progress UCX until there is something to
 * read
 *
 * preload.c is linked in, where its functions come before the library's, as
 * they do when it is preloaded.  PMI_FD is set for it by meson.build.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "pmi/preload/fake_ucp.h"

enum { ENOUGH = 10 }; /* calls, then the other side answers */

int ucp_worker_create(void *context, const void *params, void **ret);
void ucp_worker_destroy(void *worker);

static struct {
	int near, far; /* PMI_FD and its peer */
	void *worker;
	volatile sig_atomic_t signals;
	int wanted; /* signals before the calls count */
	int calls;
} t;

static void on_alarm(int signo)
{
	t.signals++;
}

/* The other side answers once it has been progressed often enough. */
static void progress(void)
{
	if (t.signals >= t.wanted && ++t.calls == ENOUGH)
		assert_int_equal(send(t.far, "x", 1, 0), 1);
}

static int set_up(void **state)
{
	int sv[2];

	t.near = (int)strtol(getenv("PMI_FD"), NULL, 10);
	t.calls = t.signals = t.wanted = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0 ||
	    dup2(sv[0], t.near) < 0)
		return -1;
	close(sv[0]);
	t.far = sv[1];
	fake_ucp_init(progress);
	return ucp_worker_create(NULL, NULL, &t.worker);
}

static int tear_down(void **state)
{
	ucp_worker_destroy(t.worker);
	close(t.near);
	close(t.far);
	return 0;
}

static void reads_progress(void **state)
{
	char c;

	assert_int_equal(read(t.near, &c, 1), 1);
	assert_int_equal(t.calls, ENOUGH);
}

static void signals_do_not_end_it(void **state)
{
	struct sigaction sa = { .sa_handler = on_alarm,
				.sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	char c;

	t.wanted = 3;
	assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	/*
	 * A call that blocks in read() is interrupted for ever: then meson ends
	 * the test.
	 */
	assert_int_equal(read(t.near, &c, 1), 1);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_true(t.calls >= ENOUGH);
}

static void an_end_is_told(void **state)
{
	char c;

	assert_int_equal(shutdown(t.far, SHUT_WR), 0);
	assert_int_equal(read(t.near, &c, 1), 0);
}

static void others_are_left_alone(void **state)
{
	int p[2];
	char c;

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "y", 1), 1);
	assert_int_equal(read(p[0], &c, 1), 1);
	assert_int_equal(t.calls, 0);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_progress, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(signals_do_not_end_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_end_is_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(others_are_left_alone, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
