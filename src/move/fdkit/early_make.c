/*
 * early_make.c - files that are open at the destination before the freeze
 *
 * They stand above all numbers that the process has, until fds_restore() takes
 * those that are still what they were; the rest is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bisect.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/fdkit/restored.h"

#define ROOM_LEAST 64
#define ROOM_MOST  (1 << 20)

struct early {
	uint32_t number;
	unsigned flags;
	int fd;
	Fds__Path *path;
};

struct fds_early {
	struct early *v; /* ascending by number */
	size_t nr, cap;
	int above; /* those from this index on are open */
};

static void drop(struct early *e)
{
	io_close(&e->fd);
	if (e->path)
		fds__path__free_unpacked(e->path, NULL);
	e->path = NULL;
}

/* The index of the first file that is not below that number. */
static size_t find_number(const struct fds_early *all, uint32_t number)
{
	size_t at;

	bisect(at, all->nr, all->v[at].number < number);
	return at;
}

/*
 * When a table of descriptors that two processes share grows, the kernel waits
 * until all processors have seen the old table go, which can take 30 ms. So
 * make room beforehand for all that fds_restore() makes.
 */
static void widen_table(struct fds_early *all, int room)
{
	int above = ROOM_LEAST, most, fd;

	while (above < room)
		above *= 2;
	if (above <= all->above)
		return;
	all->above = above;
	most = above + 3 * room + ROOM_LEAST;
	fdkit_raise_limit((unsigned)most + 1);
	fd = open("/", O_PATH | O_CLOEXEC);
	if (fd >= 0 && dup3(fd, most, O_CLOEXEC) >= 0)
		close(most);
	io_close(&fd);
}

static int open_it(const struct fds_early *all, const Fds__Early *m, int *ret,
		   struct error *err)
{
	fd_auto root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd_auto found = -1, fd = -1;
	int r;

	if (!S_ISREG(m->path->mode) && !S_ISDIR(m->path->mode) &&
	    !S_ISCHR(m->path->mode)) /* opening it may wait for somebody */
		return error_set(err, -EPROTO, "%s is not a file to open early",
				 m->path->path);
	if (root < 0)
		return error_sys(err, -errno, "/");
	r = fdpath_find(root, m->path, &found, err);
	if (r < 0)
		return r;
	fd = fdkit_reopen(found, m->flags);
	if (fd < 0)
		return error_sys(err, fd, "%s cannot be opened", m->path->path);
	r = fcntl(fd, F_DUPFD_CLOEXEC, all->above);
	if (r < 0)
		return error_sys(
			err, -errno,
			"no descriptor from %d on (the hard limit of open files there, RLIMIT_NOFILE)",
			all->above);
	*ret = r;
	return 0;
}

static int change_file(struct fds_early *all, Fds__Early *m, struct error *err)
{
	size_t at = find_number(all, m->number);
	bool is = at < all->nr && all->v[at].number == m->number;
	struct early *e = &all->v[at];
	int fd = -1, r;

	if (is)
		drop(e);
	r = m->path ? open_it(all, m, &fd, err) : 0;
	if (r < 0 || !m->path) {
		if (is)
			memmove(e, e + 1, (--all->nr - at) * sizeof(*e));
		return r;
	}
	if (!is) {
		array_room(all->v, all->nr, &all->cap);
		e = &all->v[at];
		memmove(e + 1, e, (all->nr++ - at) * sizeof(*e));
	}
	*e = (struct early){ m->number, m->flags, fd, m->path };
	m->path = NULL;
	return 0;
}

int fds_open_early(struct fds_early **early, const void *paths, size_t n,
		   struct error *err)
{
	Fds__Paths *m = fds__paths__unpack(NULL, n, paths);
	struct error why;
	int ret = 0;

	if (!m || m->version != 1 || m->room > ROOM_MOST) {
		if (m)
			fds__paths__free_unpacked(m, NULL);
		return error_set(err, -EPROTO,
				 "list of files: cannot be parsed");
	}
	if (!*early)
		*early = xcalloc(1, sizeof(**early));
	ret = fdkit_check_limit(m->room, err);
	widen_table(*early, (int)m->room);
	for (size_t i = 0; i < m->n_early; i++) {
		int r = change_file(*early, m->early[i], &why);

		if (r < 0 && !ret)
			*err = why;
		if (r < 0)
			ret = r;
	}
	fds__paths__free_unpacked(m, NULL);
	return ret;
}

/* ---- when the process stands still ---- */

size_t fdearly_rise(struct fds_early *all, int base)
{
	for (size_t i = 0; all && i < all->nr; i++) {
		struct early *e = &all->v[i];
		int up;

		if (e->fd >= base)
			continue;
		up = fcntl(e->fd, F_DUPFD_CLOEXEC, base);
		io_close(&e->fd);
		e->fd = up;
	}
	return all ? all->nr : 0;
}

void fdearly_numbers(const struct fds_early *all, int *ret)
{
	for (size_t i = 0; all && i < all->nr; i++)
		ret[i] = all->v[i].fd;
}

/*
 * Is it still the file that was told? The content of a file that is only read
 * may have changed.
 */
static bool is_same(const struct early *e, const Fds__File *f)
{
	const Fds__Path *a = e->path, *b = f->path;

	return e->fd >= 0 && e->flags == f->flags && a->mode == b->mode &&
	       a->ino == b->ino && a->btime == b->btime && a->rdev == b->rdev &&
	       !b->own && !b->synthetic && !b->carried &&
	       !strcmp(a->path, b->path) && fdpath_is(e->fd, b);
}

int fdearly_take(struct fds_early *all, uint32_t number, const Fds__File *f)
{
	size_t at = all ? find_number(all, number) : 0;
	int fd;

	if (!all || at == all->nr || all->v[at].number != number ||
	    !is_same(&all->v[at], f))
		return -ENOENT;
	fd = all->v[at].fd;
	all->v[at].fd = -1;
	return fd;
}

void fds_early_destroy(struct fds_early *all)
{
	for (size_t i = 0; all && i < all->nr; i++)
		drop(&all->v[i]);
	if (all)
		free(all->v);
	free(all);
}
