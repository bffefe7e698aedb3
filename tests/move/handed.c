/*
 * handed.c - many exclusive locks by fcntl(F_SETLK), which are handed over
 *
 *	handed [N]
 *
 * Of one byte, two, many, the last one to the end of the file, with a gap
 * behind each; 200 are the most that move, and 0 compare with none.  A second description of the file
 * asks whose they are: to it they are another's.
 */
#include <fcntl.h>

#include "check.h"

#define STEP 100 /* distance from one lock to the next */

static int fd, other, nr = 200;

static struct flock range_of(int i)
{
	static const off_t len[] = { 1, 2, STEP - 1, 17 };

	return (struct flock){ .l_type = F_WRLCK,
			       .l_start = (off_t)i * STEP,
			       .l_len = i == nr - 1 ? 0 : len[i % 4] };
}

static void check_lock(int i)
{
	struct flock want = range_of(i), got = want;

	CHECK(fcntl(other, F_OFD_GETLK, &got) == 0);
	CHECK(got.l_type == F_WRLCK && got.l_start == want.l_start &&
		      got.l_len == want.l_len,
	      "lock %d: type %d from %lld for %lld", i, got.l_type,
	      (long long)got.l_start, (long long)got.l_len);
	CHECK(got.l_pid == getpid(), "lock %d is of %d", i, got.l_pid);
	if (!want.l_len)
		return;
	got = (struct flock){ .l_type = F_WRLCK,
			      .l_start = want.l_start + want.l_len,
			      .l_len = STEP - want.l_len };
	CHECK(fcntl(other, F_OFD_GETLK, &got) == 0 && got.l_type == F_UNLCK,
	      "behind lock %d", i);
}

int main(int argc, char **argv)
{
	struct flock fl;

	if (argc > 1)
		nr = atoi(argv[1]);
	fd = open(check_path("handed"), O_RDWR | O_CREAT, 0600);
	other = open(check_path("handed"), O_RDWR);
	CHECK(fd >= 0 && other >= 0);
	for (int i = 0; i < nr; i++) {
		fl = range_of(i);
		CHECK(fcntl(fd, F_SETLK, &fl) == 0);
	}
	check_ready();
	for (int i = 0; check_running(); i++) {
		if (nr)
			check_lock(i % nr);
		check_nap();
	}
	if (check_sabotaged()) {
		fl = range_of(nr / 2);
		fl.l_type = F_UNLCK;
		CHECK(fcntl(fd, F_SETLK, &fl) == 0);
	}
	for (int i = 0; i < nr; i++)
		check_lock(i);
	return check_pass();
}
