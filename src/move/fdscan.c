/*
 * fdscan.c - one look at the descriptors of the process that moves
 */
#include "move/fdsrc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

Fds__Message *fdmsg_append(Fds__Message ***list, size_t *n, const void *p,
			   size_t len)
{
	Fds__Message *m = xmalloc(sizeof(*m));

	fds__message__init(m);
	fdmsg_bytes(&m->data, p, len);
	*list = xreallocarray(*list, *n + 1, sizeof(**list));
	(*list)[(*n)++] = m;
	return m;
}

void fdmsg_bytes(ProtobufCBinaryData *ret, const void *p, size_t n)
{
	ret->len = n;
	ret->data = n ? xmalloc(n) : NULL;
	if (n)
		memcpy(ret->data, p, n);
}

/* ---- which numbers are one description ---- */

struct sort_arg {
	pid_t pid;
	bool failed;
};

static int compare_file(const void *a, const void *b, void *arg)
{
	const struct fdscan_number *x = a, *y = b;
	struct sort_arg *sort = arg;
	int r = fdproc_compare(sort->pid, x->number, y->number);

	if (r == INT_MIN)
		sort->failed = true;
	return r ? r : x->number - y->number;
}

static int compare_number(const void *a, const void *b)
{
	const struct fdscan_number *x = a, *y = b;

	return x->number - y->number;
}

/*
 * kcmp() gives an order, so sorting by it brings equal ones together.  A
 * descriptor that goes away meanwhile spoils the order.
 */
static int group(struct fdscan *sc, struct error *err)
{
	struct sort_arg sort = { .pid = sc->s->pid };
	size_t n = sc->nr_number;

	if (!n)
		return 0;
	qsort_r(sc->number, n, sizeof(*sc->number), compare_file, &sort);
	for (size_t i = 0; i < n; i++) {
		if (i && fdproc_compare(sc->s->pid, sc->number[i - 1].number,
					sc->number[i].number) != 0)
			sc->nr_file++;
		sc->number[i].file = sc->nr_file;
	}
	sc->nr_file++;
	qsort(sc->number, n, sizeof(*sc->number), compare_number);
	if (sort.failed)
		return error_set(err, -EAGAIN, "kcmp failed");
	return 0;
}

/* ---- copies ---- */

static int take_copy(struct fdscan *sc, struct fdscan_number *num,
		     struct error *err)
{
	struct fdscan_file *f = &sc->file[num->file];
	struct fdproc_info info;
	int r = fdproc_info(sc->s->proc, num->number, &info, err);

	if (r < 0)
		return r;
	num->cloexec = info.cloexec;
	if (f->copy >= 0) {
		free(info.text);
		return 0;
	}
	f->info = info;
	f->number = num->number;
	f->copy = (int)syscall(SYS_pidfd_getfd, sc->s->pidfd, num->number, 0);
	if (f->copy < 0)
		return error_sys(err, -errno, "fd %d: pidfd_getfd",
				 num->number);
	if (fstat(f->copy, &f->st) < 0)
		return error_sys(err, -errno, "fd %d: fstat", num->number);
	return 0;
}

static int take_copies(struct fdscan *sc, struct error *err)
{
	int r;

	sc->file = xcalloc(sc->nr_file + 1, sizeof(*sc->file));
	for (size_t i = 0; i < sc->nr_file; i++)
		sc->file[i].copy = -1;
	for (size_t i = 0; i < sc->nr_number; i++) {
		r = take_copy(sc, &sc->number[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- messages ---- */

static const struct move_external *external_of(const struct fds_source *s,
					       const struct stat *st)
{
	for (size_t i = 0; i < s->nr_ext; i++) {
		if (s->ext[i].dev == st->st_dev && s->ext[i].ino == st->st_ino)
			return &s->ext[i];
	}
	return NULL;
}

static int describe(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	const struct move_external *ext = external_of(sc->s, &f->st);
	char link[PATH_MAX + 32];
	int r;

	if (ext)
		return fdext_end(sc, f, ext, err);
	if (S_ISSOCK(f->st.st_mode))
		return sockcap_socket(sc, f, err);
	r = fdproc_link(sc->s->proc, f->number, link, sizeof(link), err);
	if (r < 0)
		return r;
	if (S_ISFIFO(f->st.st_mode) && !(f->info.flags & O_PATH))
		return fdpipe_end(sc, f, err);
	if (!strncmp(link, "/memfd:", 7) ||
	    (S_ISREG(f->st.st_mode) && !f->st.st_nlink && link[0] == '/' &&
	     !(f->info.flags & O_PATH)))
		return fdcontent_file(sc, f, link, err);
	if (link[0] == '/')
		return fdkind_path(sc, f, link, err);
	if (!strcmp(link, "anon_inode:[eventpoll]"))
		return fdepoll_set(sc, f, err);
	return fdkind_anon(sc, f, link, err);
}

static void init_set(struct fdscan *sc)
{
	Fds__Set *set = sc->set = xmalloc(sizeof(*set));

	fds__set__init(set);
	set->version = 1;
	set->pid = (uint32_t)sc->s->ns_pid;
	set->number = xcalloc(sc->nr_number + 1, sizeof(*set->number));
	for (size_t i = 0; i < sc->nr_number; i++) {
		Fds__Number *n = xmalloc(sizeof(*n));

		fds__number__init(n);
		n->number = (uint32_t)sc->number[i].number;
		n->file = (uint32_t)sc->number[i].file;
		n->cloexec = sc->number[i].cloexec;
		set->number[set->n_number++] = n;
	}
	set->file = xcalloc(sc->nr_file + 1, sizeof(*set->file));
	for (size_t i = 0; i < sc->nr_file; i++) {
		Fds__File *f = xmalloc(sizeof(*f));

		fds__file__init(f);
		f->flags = sc->file[i].info.flags;
		sc->file[i].msg = f;
		set->file[set->n_file++] = f;
	}
}

static int describe_all(struct fdscan *sc, struct error *err)
{
	int r = 0;

	init_set(sc);
	/* In the order of numbers, so that errors name the first. */
	for (size_t i = 0; i < sc->nr_number && !r; i++) {
		struct fdscan_file *f = &sc->file[sc->number[i].file];

		if (f->number != sc->number[i].number)
			continue;
		r = describe(sc, f, err);
		if (!r)
			r = fdlock_all(sc, f, err);
		if (!r && sc->content)
			r = fdkind_owner(sc, f, err);
	}
	if (!r)
		r = fdpipe_finish(sc, err);
	if (!r)
		r = sockcap_finish(sc, err);
	return r;
}

int fdscan_run(struct fds_source *s, bool content, struct fdscan **ret,
	       struct error *err)
{
	struct fdscan *sc = xcalloc(1, sizeof(*sc));
	int *list = NULL, r;

	sc->s = s;
	sc->content = content;
	r = fdproc_list(s->proc, &list, &sc->nr_number, err);
	if (r < 0)
		goto fail;
	sc->number = xcalloc(sc->nr_number + 1, sizeof(*sc->number));
	for (size_t i = 0; i < sc->nr_number; i++)
		sc->number[i].number = list[i];
	r = group(sc, err);
	if (!r)
		r = take_copies(sc, err);
	if (!r)
		r = describe_all(sc, err);
	if (r < 0)
		goto fail;
	free(list);
	*ret = sc;
	return 0;
fail:
	free(list);
	fdscan_destroy(sc);
	return r;
}

void fdscan_destroy(struct fdscan *sc)
{
	if (!sc)
		return;
	for (size_t i = 0; sc->file && i < sc->nr_file; i++) {
		io_close(&sc->file[i].copy);
		free(sc->file[i].info.text);
	}
	if (sc->set)
		fds__set__free_unpacked(sc->set, NULL);
	free(sc->file);
	free(sc->number);
	free(sc);
}
