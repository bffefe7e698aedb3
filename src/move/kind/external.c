/*
 * external.c - descriptors whose other end the keeper holds
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/kind/pipe.h"
#include "move/sock/capture.h"
#include "move/sock/make.h"
#include "move/wire/append.h"

static const struct move_external *find_external(const struct fds_source *s,
						 const struct stat *st)
{
	for (size_t i = 0; i < s->nr_ext; i++) {
		if (s->ext[i].dev == st->st_dev && s->ext[i].ino == st->st_ino)
			return &s->ext[i];
	}
	return NULL;
}

/*
 * Has an earlier description of the same external already taken its unread
 * bytes?
 */
static bool is_taken(const struct fdscan *sc, const struct fdscan_file *f,
		     const char *name)
{
	for (size_t i = 0; i < sc->nr_file; i++) {
		const Fds__File *m = sc->file[i].msg;

		if (&sc->file[i] != f &&
		    m->kind_case == FDS__FILE__KIND_EXTERNAL &&
		    m->external->n_unread && !strcmp(m->external->name, name))
			return true;
	}
	return false;
}

static bool external_is(const struct fdscan *sc, const struct fdscan_file *f,
			const char *link)
{
	return find_external(sc->s, &f->st);
}

static int external_capture(struct fdscan *sc, struct fdscan_file *f,
			    char *link, struct error *err)
{
	Fds__External *m = append_new(&fds__external__descriptor);
	int family = 0, r = 0;
	socklen_t n = sizeof(family);

	m->name = xstrdup(find_external(sc->s, &f->st)->name);
	f->msg->external = m;
	if (!sc->content || is_taken(sc, f, m->name))
		return 0;
	if (S_ISFIFO(f->st.st_mode) && (f->info.flags & O_ACCMODE) != O_WRONLY)
		r = fdpipe_peek(f->copy, &m->unread, &m->n_unread, err);
	else if (S_ISSOCK(f->st.st_mode) &&
		 !getsockopt(f->copy, SOL_SOCKET, SO_DOMAIN, &family, &n) &&
		 family == AF_UNIX)
		r = sockq_peek(f->copy, false, &m->unread, &m->n_unread, err);
	return r < 0 ? error_prefix(err, r, "fd %d", f->number) : 0;
}

static int external_check(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__External *m = set->file[i]->external;

	return fdkind_check_messages(m->unread, m->n_unread, UINT32_MAX, err);
}

/* The index of a file before i with the same name, or SIZE_MAX. */
static size_t find_same(const Fds__Set *set, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (set->file[k]->kind_case == FDS__FILE__KIND_EXTERNAL &&
		    !strcmp(set->file[k]->external->name,
			    set->file[i]->external->name))
			return k;
	}
	return SIZE_MAX;
}

/*
 * Write through a new description, which cannot block. If opening one is
 * forbidden (the keeper is another user's), write through far.
 */
static int put_back_pipe(int near, int far, const Fds__External *m,
			 struct error *err)
{
	fd_auto own = fdkit_reopen(near, O_WRONLY | O_NONBLOCK);
	size_t sum = 0;
	int e;

	if (own >= 0)
		far = own;
	else if (far < 0)
		return error_sys(
			err, own,
			"there is no far end through which to put unread bytes back");
	for (size_t i = 0; i < m->n_unread; i++)
		sum += m->unread[i]->data.len;
	if (sum > (size_t)fcntl(far, F_GETPIPE_SZ) &&
	    (e = fdpipe_resize(far, (uint32_t)sum)) < 0)
		return error_sys(err, e, "pipe of %zu bytes", sum);
	return fdpipe_fill(far, m->unread, m->n_unread, err);
}

static int put_back(int near, int far, const Fds__External *m,
		    struct error *err)
{
	struct stat st;
	int r;

	if (!m->n_unread)
		return 0;
	if (fstat(near, &st) < 0)
		return error_sys(err, -errno, "%s", m->name);
	if (!S_ISSOCK(st.st_mode))
		r = put_back_pipe(near, far, m, err);
	else if (far >= 0)
		r = sock_make_fill(far, m->unread, m->n_unread, err);
	else
		r = error_set(
			err, -EPROTO,
			"there is no far end through which to put bytes back");
	return r < 0 ? error_prefix(err, r, "%s", m->name) : 0;
}

static int external_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__External *m = r->set->file[i]->external;
	size_t same = find_same(r->set, i);
	fd_auto far = -1;
	int fd, e;

	if (same < i) {
		fd = fdkit_reopen(r->at[same], r->set->file[i]->flags);
		if (fd < 0) /* sockets cannot be opened */
			fd = fcntl(r->at[same], F_DUPFD_CLOEXEC, r->base);
		return fd < 0 ? error_sys(err, -errno, "%s", m->name) : fd;
	}
	if (!r->ops->external)
		return error_set(err, -EPROTO, "no external descriptors here");
	fd = r->ops->external(r->ctx, m->name, &far, err);
	if (fd < 0)
		return fd;
	fd = fdkit_lift(r, fd);
	far = fdkit_lift(r, far);
	if (fd < 0)
		return error_sys(err, fd, "%s", m->name);
	e = put_back(fd, far, m, err);
	if (e < 0) {
		close(fd);
		return e;
	}
	return fd;
}

const struct fd_kind fd_kind_external = {
	.message = FDS__FILE__KIND_EXTERNAL,
	.is = external_is,
	.capture = external_capture,
	.size = fdpipe_size,
	.check = external_check,
	.make = external_make,
};
