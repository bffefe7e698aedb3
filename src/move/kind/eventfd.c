/*
 * eventfd.c - counters of eventfd()
 */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

static int eventfd_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			   struct error *err)
{
	uint64_t count, semaphore = 0;
	Fds__Eventfd *m;

	if (!fdinfo_field(f->info.text, "eventfd-count", 16, &count))
		return fdkind_odd(f, err);
	/*
	 * Kernels before 6.5 do not say whether it is a semaphore; a plain
	 * counter is by far likelier.
	 */
	fdinfo_field(f->info.text, "eventfd-semaphore", 10, &semaphore);
	f->msg->eventfd = m = append_new(&fds__eventfd__descriptor);
	m->count = count;
	m->semaphore = semaphore;
	return 0;
}

static int eventfd_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__Eventfd *m = r->set->file[i]->eventfd;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK |
				    (m->semaphore ? EFD_SEMAPHORE : 0));

	if (fd < 0)
		return error_sys(err, -errno, "eventfd");
	if (m->count && write(fd, &m->count, sizeof(m->count)) < 0) {
		int e = -errno;

		close(fd);
		return error_sys(err, e, "eventfd");
	}
	return fd;
}

const struct fd_kind fd_kind_eventfd = {
	.message = FDS__FILE__KIND_EVENTFD,
	.link = "anon_inode:[eventfd]",
	.capture = eventfd_capture,
	.make = eventfd_make,
};
