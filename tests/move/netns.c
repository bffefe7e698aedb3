/*
 * netns.c - a descriptor of the process's own network namespace
 *
 * It is that of the host where the process is, or of its capsule.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "check.h"

int main(void)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	CHECK(net >= 0);
	check_ready();
	if (check_sabotaged())
		CHECK(dup3(open("/proc/self/ns/uts", O_RDONLY), net,
			   O_CLOEXEC) == net);
	while (check_running()) {
		struct stat own, its, after;

		/* A move between the two looks changes both. */
		do {
			CHECK(stat("/proc/self/ns/net", &own) == 0);
			CHECK(fstat(net, &its) == 0);
			CHECK(stat("/proc/self/ns/net", &after) == 0);
		} while (own.st_ino != after.st_ino);
		CHECK(own.st_ino == its.st_ino && own.st_dev == its.st_dev);
		CHECK(fcntl(net, F_GETFD) == FD_CLOEXEC);
		check_nap();
	}
	CHECK(setns(net, CLONE_NEWNET) == 0 || errno == EPERM);
	return check_pass();
}
