/*
 * epoll.c - capture of epoll sets
 *
 * An entry is a number and a description, as of epoll_ctl(); the number may
 * by now be closed or stand for another description, while the one watched
 * lives on under another number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/xalloc.h"
#include "move/kind/kind.h"

struct line {
	int tfd;
	unsigned events;
	uint64_t data, ino;
	unsigned dev; /* as the kernel has it */
};

static const char *next_line(const char *p, struct line *l)
{
	uint64_t tfd;

	p = fdproc_field(p, "tfd", 10, &tfd);
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

	/* a socket has one description, and the kernel takes its time to ask */
	if (num && (is_socket(num, l) ||
		    fdproc_watches(pid, efd, l->tfd, toff, l->tfd) == 1))
		return (ssize_t)num->file;
	for (size_t i = 0; i < sc->nr_file; i++) {
		if (sc->file[i].st.st_ino == l->ino &&
		    fdproc_watches(pid, efd, l->tfd, toff,
				   sc->file[i].number) == 1)
			return (ssize_t)i;
	}
	return -ENOENT;
}

static void add_entry(Fds__Epoll *m, const struct line *l, size_t file)
{
	Fds__EpollEntry *e = xmalloc(sizeof(*e));

	fds__epoll_entry__init(e);
	e->number = (uint32_t)l->tfd;
	e->file = (uint32_t)file;
	e->events = l->events;
	e->data = l->data;
	m->entry[m->n_entry++] = e;
}

int fdepoll_set(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	const char *p = f->info.text;
	size_t cap = 0;
	struct line l;
	Fds__Epoll *m;
	ssize_t file;

	f->msg->epoll = m = xmalloc(sizeof(*m));
	fds__epoll__init(m);
	f->msg->kind_case = FDS__FILE__KIND_EPOLL;
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
		add_entry(m, &l, (size_t)file);
	}
	return 0;
}
