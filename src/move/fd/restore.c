/*
 * restore.c - making all descriptors of a process again
 */
#include "move/fd/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kinds.h"

#define RETAKES 100 /* tries to get a lock, a millisecond apart */

static int check_path(int root, const Fds__Path *p, struct error *err)
{
	int fd, r = 0;

	if (!p->own && !p->carried)
		r = fdpath_find(root, p, &fd, err);
	if (!r && !p->own && !p->carried)
		close(fd);
	return r;
}

int fds_check_dest(int root, const void *paths, size_t n, char **ret_lack,
		   struct error *err)
{
	Fds__Paths *all = fds__paths__unpack(NULL, n, paths);
	int r = 0;

	if (!all || all->version != 1)
		r = error_set(err, -EPROTO, "list of files: cannot be parsed");
	for (size_t i = 0; !r && i < all->n_kind; i++)
		if (!fdkinds_named(all->kind[i]))
			r = error_set(
				err, -ENOTSUP,
				"the process has a descriptor of a kind that the destination does not know yet: %s",
				all->kind[i]);
	for (size_t i = 0; !r && i < all->n_path; i++) {
		r = check_path(root, all->path[i], err);
		if (r < 0 && ret_lack)
			*ret_lack = xstrdup(all->path[i]->path);
	}
	fds__paths__free_unpacked(all, NULL);
	return r;
}

bool fds_path_stays(int root, const void *paths, size_t n, const char *path)
{
	Fds__Paths *all = fds__paths__unpack(NULL, n, paths);
	struct error err;
	bool stays = false;

	for (size_t i = 0; all && i < all->n_path; i++)
		if (!strcmp(all->path[i]->path, path))
			stays |= check_path(root, all->path[i], &err) == 0;
	fds__paths__free_unpacked(all, NULL);
	return stays;
}

/* ---- the table before ---- */

static int compare_int(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int close_others(const struct fds_restored *r, const int *reserved,
			size_t n, struct error *err)
{
	size_t nr_early = fdearly_rise(r->ops->early, r->base);
	int *keep = xcalloc(n + nr_early + 1, sizeof(*keep)), from = 0, ret = 0;

	if (n)
		memcpy(keep, reserved, n * sizeof(*keep));
	fdearly_numbers(r->ops->early, keep + n);
	n += nr_early;
	qsort(keep, n, sizeof(*keep), compare_int);
	for (size_t i = 0; i < n && !ret; i++) {
		if (keep[i] < 0) /* the descriptor was not moved there */
			continue;
		if (keep[i] < r->base)
			ret = error_set(err, -EINVAL,
					"reserved descriptor %d is below %d",
					keep[i], r->base);
		else if (keep[i] > from &&
			 close_range((unsigned)from, (unsigned)keep[i] - 1, 0))
			ret = error_sys(err, -errno, "close_range");
		from = keep[i] + 1;
	}
	if (!ret && close_range((unsigned)from, UINT_MAX, 0) < 0)
		ret = error_sys(err, -errno, "close_range");
	free(keep);
	return ret;
}

/*
 * Make room at once for all that is open above base (fdkit/restored.h): each
 * file, its copy, and up to two more that make_first() makes for it, such as
 * the ends of a pipe.
 */
static void raise_limit(const struct fds_restored *r, size_t nr_reserved)
{
	fdkit_raise_limit((size_t)r->base + nr_reserved + 4 * r->set->n_file +
			  32);
}

/* ---- making ---- */

static int *fill_minus(size_t n)
{
	int *p = xcalloc(n + 1, sizeof(*p));

	memset(p, 0xff, (n + 1) * sizeof(*p));
	return p;
}

/* The lowest number of each file, by which errors name it. */
static int *first_numbers(const Fds__Set *set)
{
	int *first = fill_minus(set->n_file);

	for (size_t k = set->n_number; k-- > 0;)
		first[set->number[k]->file] = (int)set->number[k]->number;
	return first;
}

static int place_files(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_number; i++) {
		const Fds__Number *n = r->set->number[i];

		if (dup3(r->at[n->file], (int)n->number,
			 n->cloexec ? O_CLOEXEC : 0) < 0)
			return error_sys(err, -errno, "fd %u", n->number);
	}
	for (size_t i = 0; i < r->set->n_file; i++) {
		io_close(&r->at[i]);
		r->at[i] = r->first[i];
	}
	return 0;
}

static const struct fd_kind *kind_of(const struct fds_restored *r, size_t i)
{
	return fdkinds_find(r->set->file[i]->kind_case);
}

static int make_file(struct fds_restored *r, size_t i, struct error *err)
{
	int fd = kind_of(r, i)->make(r, i, err);

	if (fd < 0)
		return fd;
	fd = fdkit_lift(r, fd);
	if (fd < 0)
		return error_sys(err, fd, "cannot place");
	r->at[i] = fd;
	return 0;
}

static int make_files(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (size_t i = 0; i < r->set->n_file && !e; i++) {
		if (r->at[i] >= 0) /* the other end of a pair */
			continue;
		e = make_file(r, i, err);
		if (e < 0)
			error_prefix(err, e, "fd %d", r->first[i]);
	}
	return e;
}

/*
 * Set the flags that open() and the like did not set. O_ASYNC is set with the
 * owner.
 */
static int set_flags(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const struct fd_kind *k = kind_of(r, i);
		unsigned settable =
			O_APPEND | O_NONBLOCK | O_NOATIME | k->flags;

		if (!k->opened &&
		    fcntl(r->at[i], F_SETFL,
			  (int)(r->set->file[i]->flags & settable)) < 0)
			return error_sys(err, -errno, "F_SETFL");
	}
	return 0;
}

static int make_all(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (const struct fd_kind *const *k = fd_kinds; *k && !e; k++)
		if ((*k)->make_first)
			e = (*k)->make_first(r, err);
	if (!e)
		e = make_files(r, err);
	for (const struct fd_kind *const *k = fd_kinds; *k && !e; k++)
		if ((*k)->make_last)
			e = (*k)->make_last(r, err);
	for (const struct fd_kind *const *k = fd_kinds; *k; k++)
		if ((*k)->drop)
			(*k)->drop(r);
	return e < 0 ? e : set_flags(r, err);
}

static int fill_placed(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (const struct fd_kind *const *k = fd_kinds; *k && !e; k++)
		if ((*k)->placed)
			e = (*k)->placed(r, err);
	return e;
}

static struct flock range_of(const Fds__Lock *l)
{
	return (struct flock){
		.l_type = l->write ? F_WRLCK : F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = l->start,
		.l_len = l->len,
	};
}

static int take_lock(int fd, const Fds__Lock *l)
{
	struct flock fl = range_of(l);
	int r;

	/* The landing process L takes these itself, see fds_locks(). */
	if (l->posix)
		return 0;
	if (l->ofd)
		r = fcntl(fd, F_OFD_SETLK, &fl);
	else
		r = flock(fd, (l->write ? LOCK_EX : LOCK_SH) | LOCK_NB);
	return r < 0 ? -errno : 0;
}

/*
 * A shared lock can be held beside the source's: so it is taken before READY,
 * and if it cannot be had nothing has happened.
 */
static int take_shared(const struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const Fds__File *f = r->set->file[i];

		for (size_t k = 0; k < f->n_lock; k++) {
			int e = f->lock[k]->write
					? 0
					: take_lock(r->at[i], f->lock[k]);

			if (e < 0)
				return error_sys(err, e, "fd %d: lock",
						 r->at[i]);
		}
	}
	return 0;
}

size_t fds_restored_locks(const Fds__Set *set, struct fds_lock **ret)
{
	struct fds_lock *all = NULL;
	int *first = first_numbers(set);
	size_t nr = 0;

	for (size_t i = 0; i < set->n_file; i++) {
		const Fds__File *f = set->file[i];

		for (size_t k = 0; k < f->n_lock; k++) {
			if (!f->lock[k]->posix)
				continue;
			all = xreallocarray(all, nr + 1, sizeof(*all));
			all[nr++] = (struct fds_lock){ first[i],
						       range_of(f->lock[k]),
						       f->lock[k]->handed };
		}
	}
	free(first);
	*ret = all;
	return nr;
}

int fds_locks(const void *blob, size_t n, struct fds_lock **ret, size_t *ret_n,
	      struct error *err)
{
	Fds__Set *set;
	int r = fdvalid_unpack(blob, n, &set, err);

	if (r < 0)
		return r;
	*ret_n = fds_restored_locks(set, ret);
	fds__set__free_unpacked(set, NULL);
	return 0;
}

struct flock fds_lock_first(const struct fds_lock *k)
{
	struct flock fl = k->range;

	fl.l_len = 1;
	return fl;
}

bool fds_lock_rest(const struct fds_lock *k, struct flock *ret)
{
	*ret = k->range;
	if (ret->l_len == 1 || ret->l_start == INT64_MAX)
		return false;
	ret->l_start++;
	/* A length of 0 means to the end of the file, wherever that is. */
	if (ret->l_len)
		ret->l_len--;
	return true;
}

int fds_unpack(const void *blob, size_t n, struct fds_restored **ret,
	       struct error *err)
{
	struct fds_restored *r;
	Fds__Set *set;
	int e = fdvalid_unpack(blob, n, &set, err);

	if (e < 0)
		return e;
	*ret = r = xcalloc(1, sizeof(*r));
	r->set = set;
	r->base = fdvalid_base(set);
	r->at = fill_minus(set->n_file);
	r->first = first_numbers(set);
	return 0;
}

int fds_first_free(const struct fds_restored *r)
{
	return r->base;
}

static const struct fds_restore_ops no_ops;

int fds_restore(struct fds_restored *r, const struct fds_restore_ops *ops,
		void *ctx, const int *reserved, size_t nr_reserved,
		struct error *err)
{
	int e;

	r->ops = ops ? ops : &no_ops;
	r->ctx = ctx;
	e = close_others(r, reserved, nr_reserved, err);
	if (e < 0)
		return e;
	raise_limit(r, nr_reserved);
	e = make_all(r, err);
	if (!e)
		e = place_files(r, err);
	if (!e)
		e = fill_placed(r, err);
	return e < 0 ? e : take_shared(r, err);
}

bool fds_is_late(const struct fds_restored *r)
{
	return r->nr_late;
}

int fds_restore_late(struct fds_restored *r, struct error *err)
{
	int e = 0;

	for (const struct fd_kind *const *k = fd_kinds; *k && !e; k++)
		if ((*k)->late)
			e = (*k)->late(r, err);
	return e;
}

/* ---- coming alive ---- */

/* A lock that the source released may take a while to become free here. */
static int retake(int fd, const Fds__Lock *l)
{
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	int e;

	for (int i = 0; (e = take_lock(fd, l)) && i < RETAKES; i++)
		nanosleep(&pause, NULL);
	return e;
}

/* *err gets the text of the first error. */
static int activate_file(const struct fds_restored *r, size_t i, int before,
			 struct error *err)
{
	const Fds__File *f = r->set->file[i];
	int ret = before, e = fdowner_set(r->at[i], f);

	if (e < 0 && !ret)
		ret = error_sys(err, e, "fd %d: F_SETOWN", r->at[i]);
	for (size_t k = 0; k < f->n_lock; k++) {
		e = f->lock[k]->write ? retake(r->at[i], f->lock[k]) : 0;
		if (e < 0 && !ret)
			ret = error_sys(err, e,
					"fd %d: its lock was lost to another "
					"process",
					r->at[i]);
	}
	return ret;
}

bool fds_dormant(const struct fds_restored *r)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const Fds__File *f = r->set->file[i];

		if (f->owner || f->n_lock || kind_of(r, i)->activate)
			return true;
	}
	return false;
}

int fds_activate(struct fds_restored *r, struct error *err)
{
	int ret = 0;

	for (const struct fd_kind *const *k = fd_kinds; *k; k++) {
		int e = (*k)->activate ? (*k)->activate(r, ret ? NULL : err)
				       : 0;

		ret = ret ? ret : e;
	}
	for (size_t i = 0; i < r->set->n_file; i++)
		ret = activate_file(r, i, ret, err);
	return ret;
}

void fds_restored_destroy(struct fds_restored *r)
{
	if (!r)
		return;
	fds__set__free_unpacked(r->set, NULL);
	free(r->at);
	free(r->first);
	free(r);
}
