/*
 * pidfd.c - pidfds of the process itself
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

static int pidfd_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			 struct error *err)
{
	uint64_t pid;

	if (!fdinfo_field(f->info.text, "Pid", 10, &pid))
		return fdkind_odd(f, err);
	if ((pid_t)pid != sc->s->pid)
		return error_set(err, -ENOTSUP,
				 "fd %d: pidfd of another process", f->number);
	if (f->info.flags & O_EXCL)
		return error_set(err, -ENOTSUP, "fd %d: pidfd of a thread",
				 f->number);
	f->msg->pidfd = append_new(&fds__pidfd__descriptor);
	return 0;
}

static int pidfd_make(struct fds_restored *r, size_t i, struct error *err)
{
	long fd = syscall(SYS_pidfd_open, (pid_t)r->set->pid,
			  r->set->file[i]->flags & O_NONBLOCK);

	return fd < 0 ? error_sys(err, -errno, "pidfd") : (int)fd;
}

const struct fd_kind fd_kind_pidfd = {
	.message = FDS__FILE__KIND_PIDFD,
	.link = "anon_inode:[pidfd]",
	.capture = pidfd_capture,
	.make = pidfd_make,
	.opened = true,
};
