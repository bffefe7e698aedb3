/*
 * path.c - files, directories and devices that a path leads to
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"

static Fds__Path *clone_path(const Fds__Path *p, const struct stat *st)
{
	Fds__Path *c = fdpath_clone(p);

	c->size = (uint64_t)st->st_size;
	c->mtime = st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec;
	return c;
}

/*
 * Files of /proc about the process itself: they exist together with the
 * process, not before. At the destination another pid may belong to another
 * process; a capsule's first process is the same everywhere.
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

/*
 * Capture a file that the destination has open already, whatever the file is
 * called by now.
 */
static int capture_early(struct fdscan *sc, struct fdscan_file *f)
{
	Fds__Path *p = clone_path(fdearly_find(sc->s, f), &f->st);

	p->writable = (f->info.flags & O_ACCMODE) != O_RDONLY;
	p->pos = f->info.pos;
	f->msg->path = p;
	f->early = true;
	return 0;
}

/* /proc/PID/net/dev and the like are reported as deleted, but never are. */
static void drop_tail(char *link, const struct stat *st)
{
	static const char tail[] = " (deleted)";
	size_t n = strlen(link), m = strlen(tail);

	if (st->st_nlink && n > m && !strcmp(link + n - m, tail) &&
	    !strncmp(link, "/proc/", 6))
		link[n - m] = '\0';
}

static bool path_is(const struct fdscan *sc, const struct fdscan_file *f,
		    const char *link)
{
	return link ? link[0] == '/' : sc->content && fdearly_find(sc->s, f);
}

static int path_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			struct error *err)
{
	bool writable = (f->info.flags & O_ACCMODE) != O_RDONLY;
	const Fds__Path *known = NULL;
	Fds__Path *p;
	char what[32];
	int r;

	if (!link)
		return capture_early(sc, f);
	drop_tail(link, &f->st);
	if (sc->content && f->st.st_nlink)
		known = fdtold_find(sc->s, link, &f->st);
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
	f->msg->path = p;
	r = check_process(sc, f, p, err);
	if (r < 0)
		return r;
	/* A directory's offset would mean another entry at the destination. */
	if (p->carried && S_ISDIR(p->mode) && p->pos)
		return error_set(
			err, sc->content ? -EAGAIN : -ENOTSUP,
			"fd %d: directory %s, which moves along, is being read",
			f->number, p->path);
	return 0;
}

static void path_tell(struct fds_source *s, const struct fdscan *sc, size_t i)
{
	if (!sc->file[i].early)
		fdtold_path(s, sc->set->file[i]->path);
}

static int path_check(const Fds__Set *set, size_t i, struct error *err)
{
	return set->file[i]->path->path[0] == '/'
		       ? 0
		       : fdkind_bad(err, "relative path");
}

/*
 * Is it a file of /proc about threads or descriptors? It can only be opened
 * when these have been made.
 */
static bool is_late(const Fds__File *f)
{
	int n = 0;

	return f->kind_case == FDS__FILE__KIND_PATH && f->path->own &&
	       sscanf(f->path->path, "/proc/%*d/%n", &n) == 0 && n &&
	       (!strncmp(f->path->path + n, "task/", 5) ||
		!strncmp(f->path->path + n, "fdinfo/", 7));
}

/* Returns fd, or an error after closing it. */
static int set_pos(int fd, const Fds__File *f, struct error *err)
{
	int r;

	if (!f->path->pos || (f->flags & O_PATH) ||
	    lseek(fd, (off_t)f->path->pos, SEEK_SET) >= 0)
		return fd;
	r = -errno;
	close(fd);
	return error_sys(err, r, "%s: cannot seek", f->path->path);
}

static int open_path(const Fds__File *f, struct error *err)
{
	fd_auto found = -1;
	fd_auto root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd, r;

	if (root < 0)
		return error_sys(err, -errno, "/");
	r = fdpath_find(root, f->path, &found, err);
	if (r < 0)
		return r;
	fd = fdkit_reopen(found, f->flags);
	return fd < 0 ? error_sys(err, fd, "%s", f->path->path)
		      : set_pos(fd, f, err);
}

/* Until path_late() a late file has something else in its place. */
static int path_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__File *f = r->set->file[i];
	int fd = fdearly_take(r->ops->early, (uint32_t)r->first[i], f);

	if (fd >= 0)
		return set_pos(fd, f, err);
	if (!is_late(f))
		return open_path(f, err);
	r->nr_late++;
	fd = open("/", O_PATH | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "/") : fd;
}

static int path_late(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (size_t i = 0; i < r->set->n_number && e >= 0; i++) {
		const Fds__Number *n = r->set->number[i];
		const Fds__File *f = r->set->file[n->file];
		int first = r->at[n->file];
		fd_auto fd = -1;

		if (!is_late(f))
			continue;
		if (first == (int)n->number) /* the others are copies of it */
			e = fd = open_path(f, err);
		if (e >= 0 && dup3(fd >= 0 ? fd : first, (int)n->number,
				   n->cloexec ? O_CLOEXEC : 0) < 0)
			e = error_sys(err, -errno, "fd %u", n->number);
	}
	return e < 0 ? e : 0;
}

const struct fd_kind fd_kind_path = {
	.message = FDS__FILE__KIND_PATH,
	.is = path_is,
	.capture = path_capture,
	.tell = path_tell,
	.check = path_check,
	.make = path_make,
	.late = path_late,
	.opened = true,
};
