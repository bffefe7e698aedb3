/*
 * test_wait.c - which callers' looks at descriptors become waits
 *
 * As in test_preload.c the library's files are linked in.  The waits are
 * counted, and end what MPI_Recv() waits for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pmi/preload/fake_mpi.h"
#include "pmi/preload/fake_ucp.h"
#include "pmi/preload/idle.h"

enum { MANY = 100000 };

unsigned ucp_worker_progress(void *worker);

static struct {
	int set, event;
	int waits, looks;
	int long_looks; /* looks that wait */
	int in_vain;	/* waits that end before what is waited for has come */
	int error;	/* of the next long look */
	bool looking;	/* ppoll() is called by what looks */
	bool done;
} t;

static void waited(void)
{
	t.waits++;
	t.done = t.in_vain-- <= 0;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	int error = t.looking ? t.error : 0;

	assert_int_equal(n, 1);
	assert_int_equal(fds[0].fd, t.set);
	assert_int_equal(timeout->tv_sec, 0);
	errno = error;
	if (error == ENOMEM)
		return -1;
	if (t.looking)
		t.error = 0;
	t.long_looks += t.looking;
	waited();
	return error ? -1 : 0;
}

/* It would gather ranks that answer each other on one core. */
int epoll_pwait2(int fd, struct epoll_event *events, int n,
		 const struct timespec *timeout, const sigset_t *mask)
{
	fail();
	return -1;
}

/* Look at a set in which nothing ever happens; ends a test that spins. */
static void look(void)
{
	struct epoll_event event;

	errno = 0;
	t.looking = true;
	assert_int_equal(epoll_wait(t.set, &event, 1, 0), 0);
	t.looking = false;
	assert_int_equal(errno, 0);
	if (++t.looks == MANY)
		t.done = true;
}

static int set_up(void **state)
{
	struct epoll_event in = { .events = EPOLLIN };

	t.waits = t.looks = t.long_looks = t.in_vain = t.error = 0;
	t.looking = t.done = false;
	t.set = epoll_create1(EPOLL_CLOEXEC);
	t.event = eventfd(0, EFD_CLOEXEC);
	idle_enter();
	idle_leave(true); /* what was idle in the test before is over */
	idle_allow(IDLE_SPIN_ONLY);
	fake_mpi_thread_level(0);
	fake_ucp_init(look);
	unsetenv("STINT_SPIN");
	return epoll_ctl(t.set, EPOLL_CTL_ADD, t.event, &in);
}

static int tear_down(void **state)
{
	close(t.event);
	close(t.set);
	return 0;
}

static void receives(int waits)
{
	assert_int_equal(MPI_Init(NULL, NULL), 0);
	assert_int_equal(MPI_Recv(&t.done), 0);
	assert_int_equal(t.waits, waits);
}

static void a_wait_blocks(void **state)
{
	receives(1);
}

static void a_wait_that_goes_on_blocks_where_it_looks(void **state)
{
	t.in_vain = 3;
	receives(4); /* the first of them perhaps after its look */
	assert_true(t.long_looks >= 3);
}

/* Who only looks is told of no signal. */
static void a_signal_ends_it_with_nothing(void **state)
{
	t.in_vain = 1;
	t.error = EINTR;
	receives(2);
	assert_int_equal(t.error, 0);
}

static void where_a_look_cannot_wait_it_looks_and_blocks(void **state)
{
	t.in_vain = 1;
	t.error = ENOMEM;
	receives(2);
	assert_int_equal(t.long_looks, 0);
}

/* As Open MPI looks; ppoll() here asks for one descriptor, the set. */
static void poll_at_the_set(void)
{
	struct pollfd pfd = { .fd = t.set, .events = POLLIN };

	t.looking = true;
	assert_int_equal(poll(&pfd, 1, 0), 0);
	t.looking = false;
	if (++t.looks == MANY)
		t.done = true;
}

static void a_poll_waits_where_it_looks(void **state)
{
	fake_ucp_init(poll_at_the_set);
	t.in_vain = 3;
	receives(4);
	assert_true(t.long_looks >= 3);
}

static void not_before_init(void **state)
{
	assert_int_equal(MPI_Recv(&t.done), 0);
	assert_int_equal(t.waits, 0);
}

static void not_with_many_threads(void **state)
{
	fake_mpi_thread_level(3);
	receives(0);
}

static void not_where_it_is_switched_off(void **state)
{
	setenv("STINT_SPIN", "always", 1);
	receives(0);
}

static void not_in_calls_that_ask(void **state)
{
	assert_int_equal(MPI_Init(NULL, NULL), 0);
	while (!t.done)
		MPI_Test();
	assert_int_equal(t.waits, 0);
}

/*
 * Calls that look once each are no wait, however many there are; a call that
 * waits is one.
 */
static void not_in_many_calls_that_look_once(void **state)
{
	const void *request = NULL;
	const bool done = true;

	assert_int_equal(MPI_Init(NULL, NULL), 0);
	for (int i = 0; i < MANY / 4; i++)
		assert_int_equal(MPI_Win_flush_all(&done), 0);
	for (int i = 0; i < MANY / 4; i++)
		assert_int_equal(MPI_Ibsend(&t, 0, NULL, 0, 0, NULL, &request),
				 0);
	assert_ptr_equal(request, &t);
	assert_int_equal(t.waits, 0);
	assert_int_equal(t.looks, MANY / 4 * 2);
	assert_int_equal(MPI_Win_flush_all(&t.done), 0);
	assert_int_equal(t.waits, 1);
}

/* The program's own loop, perhaps over a UCX worker of its own. */
static void not_where_the_program_looks(void **state)
{
	struct pollfd pfd = { .events = POLLIN };

	assert_int_equal(MPI_Init(NULL, NULL), 0);
	while (!t.done)
		ucp_worker_progress(NULL);
	pfd.fd = t.event;
	for (int i = 0; i < MANY; i++)
		assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(t.waits, 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(not_before_init),
		TEST(a_wait_blocks),
		TEST(a_wait_that_goes_on_blocks_where_it_looks),
		TEST(a_signal_ends_it_with_nothing),
		TEST(where_a_look_cannot_wait_it_looks_and_blocks),
		TEST(a_poll_waits_where_it_looks),
		TEST(not_with_many_threads),
		TEST(not_where_it_is_switched_off),
		TEST(not_in_calls_that_ask),
		TEST(not_where_the_program_looks),
		TEST(not_in_many_calls_that_look_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
