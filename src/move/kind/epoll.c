/*
 * epoll.c - epoll sets
 *
 * An entry is a number and a description, as of epoll_ctl(); the number may
 * by now be closed or stand for another description, while the one watched
 * lives on under another number.  Sets are filled when every number is placed:
 * such an entry is added while its number is lent to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/wire/append.h"

/* A one-shot entry that has fired keeps only these bits. */
#define PRIVATE_BITS (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)

struct line {
	int tfd;
	unsigned events;
	uint64_t data, ino;
	unsigned dev; /* the device number in the kernel's own form */
};

static const char *next_line(const char *p, struct line *l)
{
	uint64_t tfd;

	p = fdinfo_field(p, "tfd", 10, &tfd);
	if (!p || sscanf(p,
			 " %d events: %x data: %" SCNx64 " pos:%*d ino:%" SCNx64
			 " sdev:%x",
			 &l->tfd, &l->events, &l->data, &l->ino, &l->dev) != 5)
		return NULL;
	return p;
}

/* Entries of the same number before this one, as kcmp() counts them. */
static unsigned count_same(const Fds__Epoll *m, int tfd)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->n_entry; i++)
		n += m->entry[i]->number == (uint32_t)tfd;
	return n;
}

static int compare_number(const void *key, const void *e)
{
	int number = *(const int *)key;
	const struct fdscan_number *x = e;

	return (number > x->number) - (number < x->number);
}

static bool is_socket(const struct fdscan_number *num, const struct line *l)
{
	return S_ISSOCK(num->st.st_mode) && num->st.st_ino == l->ino &&
	       num->st.st_dev == makedev(l->dev >> 20, l->dev & 0xfffff);
}

/* The index of the file that the entry watches; -ENOENT if none of ours. */
static ssize_t find_watched(struct fdscan *sc, int efd, const struct line *l,
			    unsigned toff)
{
	const struct fdscan_number *num =
		bsearch(&l->tfd, sc->number, sc->nr_number, sizeof(*sc->number),
			compare_number);
	pid_t pid = sc->s->pid;

	/* a socket has only one description; asking the kernel takes long */
	if (num && (is_socket(num, l) ||
		    fdinfo_watches(pid, efd, l->tfd, toff, l->tfd) == 1))
		return (ssize_t)num->file;
	for (size_t i = 0; i < sc->nr_file; i++) {
		if (sc->file[i].st.st_ino == l->ino &&
		    fdinfo_watches(pid, efd, l->tfd, toff,
				   sc->file[i].number) == 1)
			return (ssize_t)i;
	}
	return -ENOENT;
}

static void append_entry(Fds__Epoll *m, const struct line *l, size_t file)
{
	Fds__EpollEntry *e = append_new(&fds__epoll_entry__descriptor);

	e->number = (uint32_t)l->tfd;
	e->file = (uint32_t)file;
	e->events = l->events;
	e->data = l->data;
	m->entry[m->n_entry++] = e;
}

static int epoll_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			 struct error *err)
{
	const char *p = f->info.text;
	size_t cap = 0;
	struct line l;
	Fds__Epoll *m;
	ssize_t file;

	f->msg->epoll = m = append_new(&fds__epoll__descriptor);
	/* A running process may change the set at any time. */
	while (sc->content && (p = next_line(p, &l))) {
		file = find_watched(sc, f->number, &l, count_same(m, l.tfd));
		if (file < 0)
			return error_set(err, -ENOTSUP,
					 "fd %d: epoll set watches what was "
					 "number %d, which is open in another "
					 "process only",
					 f->number, l.tfd);
		array_room(m->entry, m->n_entry, &cap);
		append_entry(m, &l, (size_t)file);
	}
	return 0;
}

static int epoll_check(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__Epoll *m = set->file[i]->epoll;

	for (size_t k = 0; k < m->n_entry; k++) {
		if (m->entry[k]->number >= FD_NUMBER_MAX ||
		    m->entry[k]->file >= set->n_file)
			return fdkind_bad(err, "epoll entry out of range");
	}
	return 0;
}

static int epoll_make(struct fds_restored *r, size_t i, struct error *err)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	return fd < 0 ? error_sys(err, -errno, "epoll set") : fd;
}

static int compare_placed(const void *key, const void *entry)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = (*(Fds__Number *const *)entry)->number;

	return (a > b) - (a < b);
}

/* The set's numbers ascend (fd/valid.c). */
static const Fds__Number *find_number(const Fds__Set *set, uint32_t number)
{
	Fds__Number **found = NULL;

	if (set->n_number)
		found = bsearch(&number, set->number, set->n_number,
				sizeof(*set->number), compare_placed);
	return found ? *found : NULL;
}

static bool is_disarmed(const Fds__EpollEntry *e)
{
	return (e->events & EPOLLONESHOT) && !(e->events & ~PRIVATE_BITS);
}

/*
 * A disarmed entry is added armed while only such are in the set: what it has
 * to report is taken, which disarms it.  Without anything to report it stays
 * armed for errors and hang-up; epoll_ctl() has no way to say less.
 */
static int add_member(int efd, const Fds__EpollEntry *e)
{
	struct epoll_event ev = { .events = e->events, .data.u64 = e->data };
	struct epoll_event got;

	if (is_disarmed(e))
		ev.events |= EPOLLIN | EPOLLOUT;
	if (epoll_ctl(efd, EPOLL_CTL_ADD, (int)e->number, &ev) < 0)
		return -errno;
	if (!is_disarmed(e) || epoll_wait(efd, &got, 1, 0) > 0)
		return 0;
	ev.events = e->events;
	return epoll_ctl(efd, EPOLL_CTL_MOD, (int)e->number, &ev) < 0 ? -errno
								      : 0;
}

/*
 * epoll_ctl() takes a number: put the file that was watched under this one
 * there for the moment.
 */
static int add_lent(struct fds_restored *r, int efd, const Fds__EpollEntry *e)
{
	const Fds__Number *owner = find_number(r->set, e->number);
	int number = (int)e->number, saved = -1, ret;

	if (owner) {
		saved = fcntl(number, F_DUPFD_CLOEXEC, r->base);
		if (saved < 0)
			return -errno;
	} else if (fcntl(number, F_GETFD) >= 0) {
		return -EBUSY; /* the engine's own */
	}
	if (dup3(r->at[e->file], number, O_CLOEXEC) < 0)
		ret = -errno;
	else
		ret = add_member(efd, e);
	if (owner) {
		if (dup3(saved, number, owner->cloexec ? O_CLOEXEC : 0) < 0)
			ret = -errno;
		close(saved);
	} else {
		close(number);
	}
	return ret;
}

static int add_entry(struct fds_restored *r, int efd, const Fds__EpollEntry *e)
{
	const Fds__Number *n = find_number(r->set, e->number);

	if (n && n->file == e->file)
		return add_member(efd, e);
	return add_lent(r, efd, e);
}

static int fill_set(struct fds_restored *r, int efd, const Fds__Epoll *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->n_entry && !ret; i++) {
		if (is_disarmed(m->entry[i]))
			ret = add_entry(r, efd, m->entry[i]);
	}
	for (size_t i = 0; i < m->n_entry && !ret; i++) {
		if (!is_disarmed(m->entry[i]))
			ret = add_entry(r, efd, m->entry[i]);
	}
	return ret;
}

static int epoll_placed(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const Fds__File *f = r->set->file[i];
		int ret;

		if (f->kind_case != FDS__FILE__KIND_EPOLL)
			continue;
		ret = fill_set(r, r->at[i], f->epoll);
		if (ret < 0)
			return error_sys(err, ret, "fd %d: epoll entry",
					 r->at[i]);
	}
	return 0;
}

const struct fd_kind fd_kind_epoll = {
	.message = FDS__FILE__KIND_EPOLL,
	.link = "anon_inode:[eventpoll]",
	.capture = epoll_capture,
	.check = epoll_check,
	.make = epoll_make,
	.placed = epoll_placed,
};
