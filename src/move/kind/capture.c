/*
 * capture.c - capture of files and small anonymous inodes
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/fdkit/path.h"
#include "move/kind/kind.h"
#include "move/proc/clocks.h"
#include "move/tracee/wait.h"

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

/* ---- anonymous inodes ---- */

static int odd(struct fdscan_file *f, struct error *err)
{
	return error_set(err, -EPROTO, "fd %d: odd fdinfo", f->number);
}

static int cap_eventfd(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err)
{
	uint64_t count, semaphore = 0;
	Fds__Eventfd *m;

	if (!fdproc_field(f->info.text, "eventfd-count", 16, &count))
		return odd(f, err);
	/* Kernels before 6.5 do not tell; a plain one is by far likelier. */
	fdproc_field(f->info.text, "eventfd-semaphore", 10, &semaphore);
	f->msg->eventfd = m = xmalloc(sizeof(*m));
	fds__eventfd__init(m);
	m->count = count;
	m->semaphore = semaphore;
	f->msg->kind_case = FDS__FILE__KIND_EVENTFD;
	return 0;
}

/*
 * A periodic timer that has expired stands still until it is read, and then
 * shows no remaining time; timerfd_gettime() counts what has passed and sets
 * it going.  It may expire again before fdinfo is read.
 */
static int read_timer(struct fdscan *sc, struct fdscan_file *f, Fds__Timerfd *m,
		      struct error *err)
{
	long long sec, nsec, isec, insec;
	struct itimerspec spec;
	uint64_t v;
	const char *p;
	int r;

	if (timerfd_gettime(f->copy, &spec) < 0)
		return error_sys(err, -errno, "fd %d: timerfd", f->number);
	free(f->info.text);
	f->info.text = NULL;
	r = fdproc_info(sc->s->proc, f->number, &f->info, err);
	if (r < 0)
		return r;
	if (!fdproc_field(f->info.text, "clockid", 10, &v))
		return odd(f, err);
	m->clock = (int32_t)v;
	if (!fdproc_field(f->info.text, "ticks", 10, &m->ticks))
		return odd(f, err);
	if (!fdproc_field(f->info.text, "settime flags", 8, &v))
		return odd(f, err);
	m->flags = (int32_t)v;
	p = fdproc_field(f->info.text, "it_value", 10, &v);
	if (!p || sscanf(p, " (%lld, %lld) it_interval: (%lld, %lld)", &sec,
			 &nsec, &isec, &insec) != 4)
		return odd(f, err);
	m->value = sec * NSEC_PER_SEC + nsec;
	m->interval = isec * NSEC_PER_SEC + insec;
	return 0;
}

/* The wall clock can be set, so that an instant on it must stay one. */
static void make_absolute(Fds__Timerfd *m)
{
	if (!(m->flags & TFD_TIMER_ABSTIME) || !m->value ||
	    (m->clock != CLOCK_REALTIME && m->clock != CLOCK_REALTIME_ALARM))
		return;
	m->value += clock_nsec(CLOCK_REALTIME);
	m->absolute = true;
}

static int cap_timerfd(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err)
{
	Fds__Timerfd *m;
	int tries = 0, r = 0;

	f->msg->timerfd = m = xmalloc(sizeof(*m));
	fds__timerfd__init(m);
	f->msg->kind_case = FDS__FILE__KIND_TIMERFD;
	do {
		if (sc->content)
			r = read_timer(sc, f, m, err);
	} while (!r && m->interval && !m->value && ++tries < 5);
	/* One of a few ns never shows: at 1 ns to go it is no different. */
	if (m->interval && !m->value)
		m->value = 1;
	make_absolute(m);
	if (m->value && !m->absolute)
		m->until = wait_now() + clocks_shift(sc->s->pid) + m->value;
	return r;
}

static int cap_signalfd(struct fdscan *sc, struct fdscan_file *f,
			struct error *err)
{
	uint64_t mask;

	if (!fdproc_field(f->info.text, "sigmask", 16, &mask))
		return odd(f, err);
	f->msg->signalfd = xmalloc(sizeof(*f->msg->signalfd));
	fds__signalfd__init(f->msg->signalfd);
	f->msg->signalfd->mask = mask;
	f->msg->kind_case = FDS__FILE__KIND_SIGNALFD;
	return 0;
}

static int cap_pidfd(struct fdscan *sc, struct fdscan_file *f,
		     struct error *err)
{
	uint64_t pid;

	if (!fdproc_field(f->info.text, "Pid", 10, &pid))
		return odd(f, err);
	if ((pid_t)pid != sc->s->pid)
		return error_set(err, -ENOTSUP,
				 "fd %d: pidfd of another process", f->number);
	if (f->info.flags & O_EXCL)
		return error_set(err, -ENOTSUP, "fd %d: pidfd of a thread",
				 f->number);
	f->msg->pidfd = xmalloc(sizeof(*f->msg->pidfd));
	fds__pidfd__init(f->msg->pidfd);
	f->msg->kind_case = FDS__FILE__KIND_PIDFD;
	return 0;
}

static const struct {
	const char *link;
	int (*capture)(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err);
	const char *refusal; /* where capture is NULL */
} anon_kinds[] = {
	{ "anon_inode:[eventfd]", cap_eventfd, NULL },
	{ "anon_inode:[timerfd]", cap_timerfd, NULL },
	{ "anon_inode:[signalfd]", cap_signalfd, NULL },
	{ "anon_inode:[pidfd]", cap_pidfd, NULL },
	{ "anon_inode:[io_uring]", NULL, "io_uring instance" },
	{ "anon_inode:inotify", NULL, "inotify instance" },
	{ "anon_inode:[fanotify]", NULL, "fanotify group" },
	{ "anon_inode:[userfaultfd]", NULL, "userfaultfd" },
	{ "anon_inode:[perf_event]", NULL, "performance counter" },
};

int fdkind_anon(struct fdscan *sc, struct fdscan_file *f, const char *link,
		struct error *err)
{
	for (size_t i = 0; i < sizeof(anon_kinds) / sizeof(*anon_kinds); i++) {
		if (strcmp(link, anon_kinds[i].link))
			continue;
		if (anon_kinds[i].capture)
			return anon_kinds[i].capture(sc, f, err);
		return error_set(err, -ENOTSUP, "fd %d: %s", f->number,
				 anon_kinds[i].refusal);
	}
	return error_set(err, -ENOTSUP, "fd %d: %s cannot move", f->number,
			 link);
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
