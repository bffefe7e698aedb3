/*
 * epoll_make.c - filling epoll sets again
 *
 * Runs when every number is placed.  An entry whose number by now means
 * something else, or nothing, is added while its number is lent to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "move/kind/make.h"

/* A one-shot entry that has fired keeps only these bits. */
#define PRIVATE_BITS (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)

static const Fds__Number *find_number(const Fds__Set *set, uint32_t number)
{
	for (size_t i = 0; i < set->n_number; i++) {
		if (set->number[i]->number == number)
			return set->number[i];
	}
	return NULL;
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
static int add(int efd, const Fds__EpollEntry *e)
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

/* Lend the number to the file that was watched under it. */
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
		ret = add(efd, e);
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
		return add(efd, e);
	return add_lent(r, efd, e);
}

static int fill(struct fds_restored *r, int efd, const Fds__Epoll *m)
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

int fdmkepoll_fill(struct fds_restored *r, struct error *err)
{
	for (size_t i = 0; i < r->set->n_file; i++) {
		const Fds__File *f = r->set->file[i];
		int ret;

		if (f->kind_case != FDS__FILE__KIND_EPOLL)
			continue;
		ret = fill(r, r->at[i], f->epoll);
		if (ret < 0)
			return error_sys(err, ret, "fd %d: epoll entry",
					 r->at[i]);
	}
	return 0;
}
