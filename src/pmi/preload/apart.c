#include "pmi/preload/apart.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool add_all(int set, const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++) {
		struct epoll_event e = { .events = (uint32_t)fds[i].events };

		if (epoll_ctl(set, EPOLL_CTL_ADD, fds[i].fd, &e))
			return false;
	}
	return true;
}

/* Made for one wait: numbers that it remembered might be closed and reused. */
static int set_of(const struct pollfd *fds, nfds_t n)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set < 0 || add_all(set, fds, n))
		return set;
	syscall(SYS_close, set);
	return -1;
}

int apart_poll(struct pollfd *fds, nfds_t n, const struct timespec *bound)
{
	struct pollfd set = { .fd = n > 1 ? set_of(fds, n) : -1,
			      .events = POLLIN };
	int r;

	if (set.fd < 0)
		return ppoll(fds, n, bound, NULL);
	r = ppoll(&set, 1, bound, NULL);
	syscall(SYS_close, set.fd);
	return r;
}
