/*
 * external.c - capture of descriptors whose other end the keeper holds
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/sock/capture.h"

/* Has an earlier description of the same external taken what is unread? */
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

int fdext_end(struct fdscan *sc, struct fdscan_file *f,
	      const struct move_external *ext, struct error *err)
{
	Fds__External *m = xmalloc(sizeof(*m));
	int family = 0, r = 0;
	socklen_t n = sizeof(family);

	fds__external__init(m);
	m->name = xstrdup(ext->name);
	f->msg->external = m;
	f->msg->kind_case = FDS__FILE__KIND_EXTERNAL;
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
