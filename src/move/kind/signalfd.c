/*
 * signalfd.c - descriptors of signalfd()
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

static int signalfd_capture(struct fdscan *sc, struct fdscan_file *f,
			    char *link, struct error *err)
{
	uint64_t mask;

	if (!fdinfo_field(f->info.text, "sigmask", 16, &mask))
		return fdkind_odd(f, err);
	f->msg->signalfd = append_new(&fds__signalfd__descriptor);
	f->msg->signalfd->mask = mask;
	return 0;
}

static int signalfd_make(struct fds_restored *r, size_t i, struct error *err)
{
	const uint64_t mask = r->set->file[i]->signalfd->mask;
	long fd = syscall(SYS_signalfd4, -1, &mask, sizeof(mask), O_CLOEXEC);

	return fd < 0 ? error_sys(err, -errno, "signalfd") : (int)fd;
}

const struct fd_kind fd_kind_signalfd = {
	.message = FDS__FILE__KIND_SIGNALFD,
	.link = "anon_inode:[signalfd]",
	.capture = signalfd_capture,
	.make = signalfd_make,
};
