/*
 * scan.c - one look at the descriptors of the process that moves
 */
#include "move/fd/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/kind/kinds.h"
#include "move/wire/append.h"

/* ---- numbers ---- */

static bool is_passed(const struct fds_source *s, int number)
{
	for (size_t i = 0; i < s->nr_passed; i++) {
		if (s->passed[i] == number)
			return true;
	}
	return false;
}

static int list_numbers(struct fdscan *sc, struct error *err)
{
	int *list, r;
	size_t n;

	r = fdinfo_list(sc->s->proc, &list, &n, err);
	if (r < 0)
		return r;
	if (sc->s->soon)
		fdkept_numbers(sc->s, list, n);
	sc->number = xcalloc(n + 1, sizeof(*sc->number));
	for (size_t i = 0; i < n; i++) {
		if (!sc->content && is_passed(sc->s, list[i]))
			continue;
		sc->number[sc->nr_number++] = (struct fdscan_number){
			.number = list[i],
			.copy = -1,
		};
	}
	free(list);
	return 0;
}

static int take_copies(struct fdscan *sc, struct error *err)
{
	for (size_t i = 0; i < sc->nr_number; i++) {
		struct fdscan_number *num = &sc->number[i];

		num->copy = (int)syscall(SYS_pidfd_getfd, sc->s->pidfd,
					 num->number, 0);
		if (num->copy < 0)
			return error_sys(err, -errno, "fd %d: pidfd_getfd",
					 num->number);
		if (fstat(num->copy, &num->st) < 0)
			return error_sys(err, -errno, "fd %d: fstat",
					 num->number);
	}
	return 0;
}

static bool has_passed(const struct fdscan *sc, const struct fdscan_number *num,
		       int r)
{
	if (num->number == sc->gone)
		return true; /* even if another file has that number by now */
	if (num->copy < 0)
		return r == -EBADF;
	return fdinfo_compare(sc->s->pid, num->number, sc->engine, num->copy);
}

/*
 * After the error r, note which numbers have been closed or have become another
 * file since they were listed; true if there is any.
 */
static bool note_passed(struct fdscan *sc, int r)
{
	struct fds_source *s = sc->s;
	size_t before = s->nr_passed;

	for (size_t i = 0; i < sc->nr_number; i++) {
		const struct fdscan_number *num = &sc->number[i];

		if (has_passed(sc, num, r)) {
			array_room(s->passed, s->nr_passed, &s->cap_passed);
			s->passed[s->nr_passed++] = num->number;
		}
		/*
		 * The look ended here: the numbers after this one have no
		 * copies.
		 */
		if (num->copy < 0)
			break;
	}
	return s->nr_passed > before;
}

static int note_gone(struct fdscan *sc, int number, int r)
{
	if (r == -ENOENT)
		sc->gone = number;
	return r;
}

/* ---- files ---- */

static int add_number(struct fdscan *sc, struct fdscan_number *num,
		      struct error *err)
{
	struct fdscan_file *f = &sc->file[num->file];
	struct fdinfo info;
	int r = fdkept_read(sc->s, num->number, &info, err);

	if (r < 0)
		return note_gone(sc, num->number, r);
	num->cloexec = info.cloexec;
	if (f->info.text) {
		free(info.text);
		return 0;
	}
	f->info = info;
	f->number = num->number;
	f->copy = num->copy;
	f->st = num->st;
	return 0;
}

static int add_files(struct fdscan *sc, struct error *err)
{
	int r = 0;

	sc->file = xcalloc(sc->nr_file + 1, sizeof(*sc->file));
	for (size_t i = 0; i < sc->nr_number && !r; i++)
		r = add_number(sc, &sc->number[i], err);
	return r;
}

/* ---- messages ---- */

static int describe_file(struct fdscan *sc, struct fdscan_file *f,
			 struct error *err)
{
	const struct fd_kind *k = fdkinds_of(sc, f, NULL);
	char buf[PATH_MAX + 32], *link = NULL;
	int r;

	if (!k) {
		link = buf;
		r = fdinfo_link(sc->s->proc, f->number, buf, sizeof(buf), err);
		if (r < 0)
			return note_gone(sc, f->number, r);
		k = fdkinds_of(sc, f, link);
	}
	if (!k)
		return error_set(err, -ENOTSUP, "fd %d: %s cannot move",
				 f->number, link);
	f->msg->kind_case = k->message;
	return k->capture(sc, f, link, err);
}

static void init_set(struct fdscan *sc)
{
	Fds__Set *set = sc->set = append_new(&fds__set__descriptor);

	set->version = 1;
	set->pid = (uint32_t)sc->s->ns_pid;
	set->number = xcalloc(sc->nr_number + 1, sizeof(*set->number));
	for (size_t i = 0; i < sc->nr_number; i++) {
		Fds__Number *n = append_new(&fds__number__descriptor);

		n->number = (uint32_t)sc->number[i].number;
		n->file = (uint32_t)sc->number[i].file;
		n->cloexec = sc->number[i].cloexec;
		set->number[set->n_number++] = n;
	}
	set->file = xcalloc(sc->nr_file + 1, sizeof(*set->file));
	for (size_t i = 0; i < sc->nr_file; i++) {
		Fds__File *f = append_new(&fds__file__descriptor);

		f->flags = sc->file[i].info.flags;
		sc->file[i].msg = f;
		set->file[set->n_file++] = f;
	}
}

static int check_direct(struct fdscan *sc, const struct fdscan_file *f,
			struct error *err)
{
	if (!(f->info.flags & O_DIRECT) ||
	    (f->info.flags & O_ACCMODE) == O_WRONLY ||
	    !(S_ISREG(f->st.st_mode) || S_ISBLK(f->st.st_mode)))
		return 0;
	sc->s->reads_direct = true;
	return sc->s->no_direct
		       ? error_set(
				 err, -EAGAIN,
				 "descriptor %d was opened for direct I/O (O_DIRECT) during the move, and what it reads would be missed; begin again, and the process moves without pre-copy",
				 f->number)
		       : 0;
}

static int describe_all(struct fdscan *sc, struct error *err)
{
	int r = 0;

	init_set(sc);
	/* In the order of numbers, so that errors name the first one. */
	for (size_t i = 0; i < sc->nr_number && !r; i++) {
		struct fdscan_file *f = &sc->file[sc->number[i].file];

		if (f->number != sc->number[i].number)
			continue;
		r = check_direct(sc, f, err);
		if (!r)
			r = describe_file(sc, f, err);
		if (!r)
			r = fdlock_all(sc, f, err);
		if (!r)
			r = fdowner_capture(f, err);
	}
	if (!r && !sc->content)
		r = fdtold_cwd(sc, err);
	for (const struct fd_kind *const *k = fd_kinds; *k && !r; k++)
		if ((*k)->capture_all)
			r = (*k)->capture_all(sc, err);
	return r;
}

static int scan(struct fdscan *sc, struct error *err)
{
	int r = list_numbers(sc, err);

	if (!r)
		r = take_copies(sc, err);
	if (r < 0)
		return r;
	fdgroup_all(sc);
	r = add_files(sc, err);
	return r < 0 ? r : describe_all(sc, err);
}

int fdscan_run(struct fds_source *s, bool content, struct fdscan **ret,
	       struct error *err)
{
	struct fdscan *sc = xcalloc(1, sizeof(*sc));
	int r;

	sc->s = s;
	sc->engine = getpid();
	sc->content = content;
	sc->gone = -1;
	r = scan(sc, err);
	if (!r) {
		*ret = sc;
		return 0;
	}
	if (!content && note_passed(sc, r))
		r = -ESTALE;
	fdscan_destroy(sc);
	return r;
}

void fdscan_destroy(struct fdscan *sc)
{
	if (!sc)
		return;
	for (size_t i = 0; sc->file && i < sc->nr_file; i++)
		free(sc->file[i].info.text);
	for (size_t i = 0; sc->number && i < sc->nr_number; i++)
		io_close(&sc->number[i].copy);
	fds__set__free_unpacked(sc->set, NULL);
	for (size_t i = 0; i < sc->nr_later; i++)
		free(sc->later[i].data);
	free(sc->later);
	free(sc->file);
	free(sc->number);
	free(sc);
}
