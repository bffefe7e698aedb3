/*
 * path.c - capture of files
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"

/* ---- files ---- */

/* The file of that name that was looked at before the freeze, or NULL. */
static const Fds__Path *known_path(const struct fdscan *sc,
				   const struct fdscan_file *f,
				   const char *path)
{
	const Fds__Paths *all = sc->s->told;

	for (size_t i = 0; all && i < all->n_path; i++) {
		const Fds__Path *p = all->path[i];

		if (p->ino == f->st.st_ino && f->st.st_nlink &&
		    p->mode == f->st.st_mode && !strcmp(p->path, path))
			return p;
	}
	return NULL;
}

static Fds__Path *clone_path(const Fds__Path *p, const struct stat *st)
{
	Fds__Path *c = fdpath_clone(p);

	c->size = (uint64_t)st->st_size;
	c->mtime = st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec;
	return c;
}

/*
 * Of the process itself: it is there with the process, not before.  At the
 * destination another one's pid may belong to another process; a capsule's
 * first process is everywhere the same.
 */
static int check_process(const struct fdscan *sc, const struct fdscan_file *f,
			 Fds__Path *p, struct error *err)
{
	pid_t pid = sc->s->ns_pid;
	int of;

	if (!p->synthetic || sscanf(p->path, "/proc/%d", &of) != 1)
		return 0;
	p->own = of == pid;
	return p->own || (of == 1 && pid != sc->s->pid)
		       ? 0
		       : error_set(err, -ENOTSUP,
				   "fd %d: %s, which tells of another process",
				   f->number, p->path);
}

/* What the destination has open, whatever it is called by now. */
int fdkind_early(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__Path *p = clone_path(fdearly_find(sc->s, f), &f->st);

	p->writable = (f->info.flags & O_ACCMODE) != O_RDONLY;
	p->pos = f->info.pos;
	f->msg->kind_case = FDS__FILE__KIND_PATH;
	f->msg->path = p;
	f->early = true;
	return 0;
}

/* /proc/PID/net/dev and its like are said to be deleted, and never are. */
static void drop_tail(char *link, const struct stat *st)
{
	static const char tail[] = " (deleted)";
	size_t n = strlen(link), m = strlen(tail);

	if (st->st_nlink && n > m && !strcmp(link + n - m, tail) &&
	    !strncmp(link, "/proc/", 6))
		link[n - m] = '\0';
}

int fdkind_path(struct fdscan *sc, struct fdscan_file *f, char *link,
		struct error *err)
{
	bool writable = (f->info.flags & O_ACCMODE) != O_RDONLY;
	const Fds__Path *known = NULL;
	Fds__Path *p;
	char what[32];
	int r;

	drop_tail(link, &f->st);
	if (sc->content)
		known = known_path(sc, f, link);
	snprintf(what, sizeof(what), "fd %d", f->number);
	if (known) {
		p = clone_path(known, &f->st);
		p->writable = writable;
	} else {
		r = fdpath_capture(sc->s->root, f->copy, link, writable, what,
				   &p, err);
		if (r < 0)
			return r;
	}
	p->pos = f->info.pos;
	p->carried = tree_holds(sc->s->trees, f->st.st_dev);
	f->msg->kind_case = FDS__FILE__KIND_PATH;
	f->msg->path = p;
	r = check_process(sc, f, p, err);
	if (r < 0)
		return r;
	/* Its place in the list is a number that is another one there. */
	if (p->carried && S_ISDIR(p->mode) && p->pos)
		return error_set(
			err, sc->content ? -EAGAIN : -ENOTSUP,
			"fd %d: directory %s, which moves along, is being read",
			f->number, p->path);
	return 0;
}

int fdkind_cwd(struct fdscan *sc, struct error *err)
{
	fd_auto fd = openat(sc->s->proc, "cwd", O_PATH | O_CLOEXEC);
	char link[PATH_MAX] = "";
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 ||
	    readlinkat(sc->s->proc, "cwd", link, sizeof(link) - 1) < 0)
		return error_sys(err, -errno, "working directory");
	if (tree_holds(sc->s->trees, st.st_dev))
		return 0; /* comes along, if it is there */
	r = fdpath_capture(sc->s->root, fd, link, false, "working directory",
			   &sc->set->cwd, err);
	if (r == 0 && sc->set->cwd->synthetic) {
		fds__path__free_unpacked(sc->set->cwd, NULL);
		sc->set->cwd = NULL;
	}
	return r;
}

/* ---- what any description may have ---- */

int fdkind_owner(struct fdscan *sc, struct fdscan_file *f, struct error *err)
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
	/* which tells its owner, who has no other use for being one */
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
		r = fdproc_ns_pid(ex.pid, &pid, err);
		if (r < 0)
			return r;
	}
	o = f->msg->owner = xmalloc(sizeof(*o));
	fds__owner__init(o);
	o->type = ex.type;
	o->pid = pid;
	o->signal = sig;
	return 0;
}
