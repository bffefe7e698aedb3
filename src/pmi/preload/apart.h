/*
 * apart.h - waiting for messages without being drawn to the sender's core
 *
 * A socket wakes who waits for it as the partner of a sender that is about to sleep, which may
 * have the sender's core.  Two ranks that answer each other then stay on one core, as long as
 * anybody runs on the other one, and take twice as long.  An epoll set that is polled itself
 * tells of the same, and says nothing of partners.
 */
#ifndef PMI_PRELOAD_APART_H
#define PMI_PRELOAD_APART_H

#include <poll.h>
#include <time.h>

/*
 * As ppoll(), but `revents` may not be told, and the answer be 1 for several.  A single
 * descriptor is polled as it is: MPICH's is a set already.
 */
int apart_poll(struct pollfd *fds, nfds_t n, const struct timespec *bound);

#endif
