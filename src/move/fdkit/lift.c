/* lift.c - descriptors out of the way of others; see restored.h */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "move/fdkit/restored.h"

/* The flags of F_GETFL that open() takes. */
#define OPEN_FLAGS                                                           \
	(O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_SYNC | \
	 O_DSYNC | O_PATH | O_DIRECTORY)

int fdkit_lift(struct fds_restored *r, int fd)
{
	int up;

	if (fd < 0 || fd >= r->base)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, r->base);
	if (up < 0)
		up = -errno;
	close(fd);
	return up;
}

int fdkit_reopen(int fd, unsigned flags)
{
	char path[40];
	int got;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	got = open(path, (int)(flags & OPEN_FLAGS) | O_CLOEXEC | O_NOCTTY);
	return got < 0 ? -errno : got;
}

int fdkit_check_limit(size_t room, struct error *err)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_max >= room)
		return 0;
	return error_set(err, -EMFILE,
			 "its descriptors go up to %zu, and the hard limit of "
			 "open files (RLIMIT_NOFILE) is %llu there",
			 room - 1, (unsigned long long)lim.rlim_max);
}

void fdkit_raise_limit(size_t want)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= want)
		return;
	lim.rlim_cur = want < lim.rlim_max ? want : lim.rlim_max;
	/*
	 * If this fails, the error is told of the descriptor that does not fit.
	 */
	(void)setrlimit(RLIMIT_NOFILE, &lim);
}
