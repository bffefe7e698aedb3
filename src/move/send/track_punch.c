/*
 * track_punch.c - holes that the process punches in its shared memory
 *
 * MADV_REMOVE takes pages out of a shared object but leaves the marks of their write
 * protection in all page tables.  So no scan shows the hole, and a page that is read
 * there afterwards looks as if it had always been zero.  Not even the object's
 * st_blocks shows it.  So shared memory is watched by a userfaultfd of its own, with
 * which the kernel reports what is about to be given back (UFFD_FEATURE_EVENT_REMOVE).
 * Private memory is not watched so, because the process would wait for the engine at
 * each MADV_DONTNEED.
 *
 * Whoever punches a hole waits in the kernel until the event is read, so a thread does
 * nothing else than read events.  What is noted is never forgotten, because the hole is
 * made some time after its event, and nobody knows how long after.  Each pass, the last
 * one too, looks at all pages noted: one that is not zero has been written since, which
 * the scan shows; of one that is zero the destination is told (PUNCH).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/send/track_in.h"

#define BATCH 4096 /* ranges per frame */

/* Ranges of offsets that were given back, of each object. */
struct punched {
	struct punched_object {
		uint64_t dev, ino;
		struct sent *pages;
	} * object;
	size_t nr, cap;
	bool lost; /* some may be missing: look at every page */
};

struct punch_watch {
	pid_t pid;
	int uffd, stop;
	pthread_t thread;
	struct punched known; /* used by the thread that owns the watch */
	pthread_mutex_t lock;
	/* new notes of the events' thread, under the lock */
	struct punched news;
};

static struct sent *pages_of(struct punched *p, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->object[i].dev == dev && p->object[i].ino == ino)
			return p->object[i].pages;
	array_room(p->object, p->nr, &p->cap);
	p->object[p->nr++] = (struct punched_object){ dev, ino, sent_create() };
	return p->object[p->nr - 1].pages;
}

static void punched_clear(struct punched *p)
{
	for (size_t i = 0; i < p->nr; i++)
		sent_destroy(p->object[i].pages);
	free(p->object);
	*p = (struct punched){ 0 };
}

/* ---- the thread ---- */

static void note(struct punched *p, const struct vma_list *maps, uint64_t start,
		 uint64_t end)
{
	while (start < end) {
		const struct vma *v = vma_find(maps, start);
		uint64_t to;

		if (!v || v->kind != VMA_SHARED_ANON) {
			p->lost = true;
			return;
		}
		to = v->end < end ? v->end : end;
		sent_add(pages_of(p, v->dev, v->ino),
			 start - v->start + v->offset,
			 to - v->start + v->offset);
		start = to;
	}
}

/*
 * The thread that gives memory back stands still until the event is read, so look
 * before that at what is mapped there.  The event is read and noted under the lock, so
 * no pass sees the hole before its note.
 */
static void take_event(struct punch_watch *w)
{
	struct vma_list maps = { 0 };
	struct uffd_msg msg;
	bool known = proc_read_maps(w->pid, &maps, NULL) == 0;

	pthread_mutex_lock(&w->lock);
	if (read(w->uffd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg) &&
	    msg.event == UFFD_EVENT_REMOVE) {
		w->news.lost |= !known;
		note(&w->news, &maps, msg.arg.remove.start, msg.arg.remove.end);
	}
	pthread_mutex_unlock(&w->lock);
	vma_list_clear(&maps);
}

static void *watch(void *arg)
{
	struct punch_watch *w = arg;
	struct pollfd p[] = { { .fd = w->stop, .events = POLLIN },
			      { .fd = w->uffd, .events = POLLIN } };

	/* the end of the watch or of the process makes the descriptor fail */
	while (poll(p, 2, -1) >= 0 || errno == EINTR) {
		if (p[0].revents || p[1].revents & (POLLERR | POLLNVAL))
			break;
		if (p[1].revents & POLLIN)
			take_event(w);
	}
	return NULL;
}

/* ---- for the engine ---- */

/* The thread blocks all signals: they are for threads that have handlers. */
static int start_thread(struct punch_watch *w)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

struct punch_watch *punch_watch_create(pid_t pid, int uffd)
{
	struct punch_watch *w = xcalloc(1, sizeof(*w));

	w->pid = pid;
	w->uffd = uffd;
	w->stop = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&w->lock, NULL);
	if (w->stop >= 0 && start_thread(w) == 0)
		return w;
	io_close(&w->stop);
	punch_watch_destroy(w);
	return NULL;
}

void punch_watch_destroy(struct punch_watch *w)
{
	if (!w)
		return;
	if (w->stop >= 0) {
		eventfd_write(w->stop, 1);
		pthread_join(w->thread, NULL);
	}
	io_close(&w->stop);
	/* lets a process go on that waits for its event to be read */
	io_close(&w->uffd);
	punched_clear(&w->known);
	punched_clear(&w->news);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* ---- a pass ---- */

/* What a pass over one mapping needs. */
struct punching {
	struct track *t;
	const struct vma *v;
	int fd; /* of the object, or -1 if it cannot be opened */
	struct frame_range hole[BATCH];
	size_t nr;
};

static int flush(struct punching *p, struct error *err)
{
	struct iovec iov = { p->hole, p->nr * sizeof(*p->hole) };
	int r = p->nr ? frame_send(p->t->ch, FRAME_PUNCH, &iov, 1, err) : 0;

	p->nr = 0;
	return r;
}

static int add_hole(struct punching *p, uint64_t start, uint64_t end,
		    struct error *err)
{
	struct frame_range *last = p->nr ? &p->hole[p->nr - 1] : NULL;

	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	p->hole[p->nr++] = (struct frame_range){ start, end };
	return p->nr == BATCH ? flush(p, err) : 0;
}

/* Reading a hole makes a page of it, so ask first (SEEK_DATA) where the holes are. */
static uint64_t hole_end(const struct punching *p, uint64_t at, uint64_t end)
{
	off_t begin = (off_t)p->v->offset - (off_t)p->v->start;
	off_t data = p->fd < 0 ? (off_t)at + begin
			       : lseek(p->fd, (off_t)at + begin, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? end : at;
	return (uint64_t)(data - begin) < end ? (uint64_t)(data - begin) : end;
}

/* A run of offsets of the object that were given back. */
static int look_at_range(void *arg, uint64_t from, uint64_t to,
			 struct error *err)
{
	struct punching *p = arg;
	uint64_t at = from - p->v->offset + p->v->start;
	uint64_t end = to - p->v->offset + p->v->start;
	int r = 0;

	while (at < end && !r) {
		uint64_t next = hole_end(p, at, end);

		if (next == at) {
			next = at + FRAME_PAGE;
			if (!page_sender_is_zero(p->t->p->pages, at)) {
				at = next;
				continue;
			}
		}
		r = add_hole(p, at, next, err);
		at = next;
	}
	return r;
}

/* Only root may open an object that has neither a name nor a descriptor. */
static int open_object(pid_t pid, const struct vma *v)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)v->start, (unsigned long long)v->end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int add_known(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	sent_add(arg, start, end);
	return 0;
}

/* Take the notes over at once, so that no process waits while they are looked at. */
static void take_news(struct punch_watch *w)
{
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->news.nr; i++) {
		struct punched_object *o = &w->news.object[i];
		struct sent *to = pages_of(&w->known, o->dev, o->ino);

		(void)!sent_each(o->pages, 0, INT64_MAX, add_known, to, NULL);
	}
	w->known.lost |= w->news.lost;
	punched_clear(&w->news);
	pthread_mutex_unlock(&w->lock);
}

static int send_mapping(struct punching *p, struct error *err)
{
	struct punched *known = &p->t->punches->known;
	const struct vma *v = p->v;
	uint64_t first = v->offset, last = v->offset + (v->end - v->start);
	struct sent *pages = pages_of(known, v->dev, v->ino);
	fd_auto fd = -1;
	int r;

	if (!known->lost && !sent_any(pages, first, last))
		return 0;
	p->fd = fd = open_object(p->t->p->pid, v);
	p->nr = 0;
	r = known->lost ? look_at_range(p, first, last, err)
			: sent_each(pages, first, last, look_at_range, p, err);
	return r < 0 ? r : flush(p, err);
}

int track_punches(struct track *t, struct error *err)
{
	struct punching *p;
	int r = 0;

	if (!t->punches)
		return 0;
	take_news(t->punches);
	p = xcalloc(1, sizeof(*p));
	p->t = t;
	for (size_t i = 0; i < t->maps.nr && !r; i++) {
		p->v = &t->maps.v[i];
		if (p->v->kind == VMA_SHARED_ANON && vma_carries_pages(p->v))
			r = send_mapping(p, err);
	}
	free(p);
	return r;
}

int track_punch_whole(struct track *t, uint64_t start, uint64_t end,
		      struct error *err)
{
	struct frame_range range = { start, end };
	struct iovec iov = { &range, sizeof(range) };
	int r = page_sender_flush(t->p->pages, err);

	return r < 0 ? r : frame_send(t->ch, FRAME_PUNCH, &iov, 1, err);
}
