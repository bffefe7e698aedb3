/*
 * timerfd.c - timers of timerfd_create()
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/kind/kind.h"
#include "move/proc/clocks.h"
#include "move/tracee/wait.h"
#include "move/wire/append.h"

#ifndef TFD_IOC_SET_TICKS
#define TFD_IOC_SET_TICKS _IOW('T', 0, uint64_t)
#endif

/*
 * A periodic timer that has expired stands still until it is read, and then
 * shows no remaining time; timerfd_gettime() counts the expirations and sets it
 * going. It may expire again before fdinfo is read.
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
	r = fdinfo_read(sc->s->proc, f->number, &f->info, err);
	if (r < 0)
		return r;
	if (!fdinfo_field(f->info.text, "clockid", 10, &v))
		return fdkind_odd(f, err);
	m->clock = (int32_t)v;
	if (!fdinfo_field(f->info.text, "ticks", 10, &m->ticks))
		return fdkind_odd(f, err);
	if (!fdinfo_field(f->info.text, "settime flags", 8, &v))
		return fdkind_odd(f, err);
	m->flags = (int32_t)v;
	p = fdinfo_field(f->info.text, "it_value", 10, &v);
	if (!p || sscanf(p, " (%lld, %lld) it_interval: (%lld, %lld)", &sec,
			 &nsec, &isec, &insec) != 4)
		return fdkind_odd(f, err);
	m->value = sec * NSEC_PER_SEC + nsec;
	m->interval = isec * NSEC_PER_SEC + insec;
	return 0;
}

/* The wall clock can be set, so an instant on it must stay that instant. */
static void make_absolute(Fds__Timerfd *m)
{
	if (!(m->flags & TFD_TIMER_ABSTIME) || !m->value ||
	    (m->clock != CLOCK_REALTIME && m->clock != CLOCK_REALTIME_ALARM))
		return;
	m->value += clock_nsec(CLOCK_REALTIME);
	m->absolute = true;
}

static int timerfd_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			   struct error *err)
{
	Fds__Timerfd *m;
	int tries = 0, r = 0;

	f->msg->timerfd = m = append_new(&fds__timerfd__descriptor);
	do {
		if (sc->content)
			r = read_timer(sc, f, m, err);
	} while (!r && m->interval && !m->value && ++tries < 5);
	/*
	 * A timer with a few ns left never shows that; with 1 ms left it makes
	 * no difference.
	 */
	if (m->interval && !m->value)
		m->value = 1;
	make_absolute(m);
	if (m->value && !m->absolute)
		m->until = wait_now() + clocks_shift(sc->s->pid) + m->value;
	return r;
}

static int timerfd_check(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__Timerfd *t = set->file[i]->timerfd;

	return t->value < 0 || t->interval < 0 || t->until < 0 ||
			       (t->flags &
				~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
		       ? fdkind_bad(err, "timer out of range")
		       : 0;
}

/*
 * How often the timer has expired, and when it will next. now: on the process's
 * CLOCK_MONOTONIC, including the time that the move has taken so far.
 */
static void advance_timer(const Fds__Timerfd *m, int64_t now, uint64_t *ticks,
			  int64_t *value)
{
	int64_t late = now - m->until;

	*ticks = m->ticks;
	*value = m->value;
	if (m->absolute || !m->value || !m->until)
		return;
	*value = -late;
	if (late < 0)
		return;
	*ticks += 1;
	*value = 0;
	if (m->interval) {
		*ticks += (uint64_t)(late / m->interval);
		*value = m->interval - late % m->interval;
	}
}

static int set_timer(int fd, const Fds__Timerfd *m, int64_t clock_shift)
{
	int flags = m->absolute ? m->flags : 0;
	struct itimerspec spec;
	uint64_t ticks;
	int64_t value;

	advance_timer(m, wait_now() + clock_shift, &ticks, &value);
	spec = (struct itimerspec){
		.it_value = { value / NSEC_PER_SEC, value % NSEC_PER_SEC },
		.it_interval = { m->interval / NSEC_PER_SEC,
				 m->interval % NSEC_PER_SEC },
	};
	if (timerfd_settime(fd, flags, &spec, NULL) < 0)
		return -errno;
	if (ticks && ioctl(fd, TFD_IOC_SET_TICKS, &ticks) < 0)
		return -errno;
	return 0;
}

static int timerfd_make(struct fds_restored *r, size_t i, struct error *err)
{
	const Fds__Timerfd *m = r->set->file[i]->timerfd;
	int fd = timerfd_create(m->clock, TFD_CLOEXEC | TFD_NONBLOCK), e;

	if (fd < 0)
		return error_sys(err, -errno, "timerfd");
	e = set_timer(fd, m, r->ops->clock_shift);
	if (e < 0) {
		close(fd);
		return error_sys(err, e, "timerfd");
	}
	return fd;
}

const struct fd_kind fd_kind_timerfd = {
	.message = FDS__FILE__KIND_TIMERFD,
	.link = "anon_inode:[timerfd]",
	.capture = timerfd_capture,
	.check = timerfd_check,
	.make = timerfd_make,
};
