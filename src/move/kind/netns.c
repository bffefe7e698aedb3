/*
 * netns.c - descriptors of the process's own network namespace
 *
 * The process that makes descriptors at the destination is in it already, because
 * sockets are made there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

static bool netns_is(const struct fdscan *sc, const struct fdscan_file *f,
		     const char *link)
{
	return link && !strncmp(link, "net:[", 5);
}

static int netns_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			 struct error *err)
{
	struct stat own;

	if (fstatat(sc->s->proc, "ns/net", &own, 0) < 0)
		return error_sys(err, -errno, "network namespace");
	if (own.st_dev != f->st.st_dev || own.st_ino != f->st.st_ino)
		return error_set(
			err, -ENOTSUP,
			"fd %d: a network namespace that the process is not in",
			f->number);
	f->msg->netns = append_new(&fds__netns__descriptor);
	return 0;
}

static int netns_make(struct fds_restored *r, size_t i, struct error *err)
{
	fd_auto own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd = own < 0 ? -errno : fdkit_reopen(own, r->set->file[i]->flags);

	return fd < 0 ? error_sys(err, fd, "network namespace") : fd;
}

const struct fd_kind fd_kind_netns = {
	.message = FDS__FILE__KIND_NETNS,
	.is = netns_is,
	.capture = netns_capture,
	.make = netns_make,
	.opened = true,
};
