/*
 * owner.c - the owner of a descriptor: who is sent a signal when there is
 * something to read
 */
#include <errno.h>
#include <fcntl.h>

#include "core/xalloc.h"
#include "move/fd/restore.h"
#include "move/fd/scan.h"
#include "move/wire/append.h"

int fdowner_capture(struct fdscan_file *f, struct error *err)
{
	struct f_owner_ex ex;
	Fds__Owner *o;
	pid_t pid;
	int r, sig;

	if (f->info.flags & O_PATH)
		return 0;
	sig = fcntl(f->copy, F_GETSIG);
	if (fcntl(f->copy, F_GETOWN_EX, &ex) < 0 || sig < 0 ||
	    (!ex.pid && !sig))
		return 0;
	/* directories have an owner only for being watched (F_NOTIFY) */
	if (S_ISDIR(f->st.st_mode))
		return error_set(err, -ENOTSUP,
				 "fd %d: watched directory (F_NOTIFY)",
				 f->number);
	pid = 0;
	if (ex.pid) {
		if (ex.type == F_OWNER_PGRP)
			return error_set(err, -ENOTSUP,
					 "fd %d: signals go to a group",
					 f->number);
		r = fdinfo_ns_pid(ex.pid, &pid, err);
		if (r < 0)
			return r;
	}
	o = f->msg->owner = append_new(&fds__owner__descriptor);
	o->type = ex.type;
	o->pid = pid;
	o->signal = sig;
	return 0;
}

int fdowner_set(int fd, const Fds__File *f)
{
	struct f_owner_ex ex;

	if (f->owner) {
		ex.type = f->owner->type;
		ex.pid = f->owner->pid;
		if (ex.pid && fcntl(fd, F_SETOWN_EX, &ex) < 0)
			return -errno;
		if (f->owner->signal &&
		    fcntl(fd, F_SETSIG, f->owner->signal) < 0)
			return -errno;
	}
	if ((f->flags & O_ASYNC) &&
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) < 0)
		return -errno;
	return 0;
}
