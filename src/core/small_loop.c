/*
 * small_loop.c - as much of sd-event as clients and keepers use
 *
 * In the place of libsystemd, in the programs of these: that brings seven
 * libraries along, for the journal.  To load them takes a command that asks as
 * long as all else it does, and each fork of a keeper pays for them again.  What
 * is declared in systemd/sd-event.h and is defined here does what sd-event(3)
 * says, and test_small_loop.c holds both to it; a call that neither uses is not
 * here, and the linker says so.
 *
 * One source a turn: of those that are ready, and come before others by their
 * priority, the one that has been for longest.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-event.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"

enum kind { IO, TIMER, DEFER, SIGNAL, CHILD };

struct sd_event_source {
	enum kind kind;
	sd_event *event;
	LIST_ENTRY(sd_event_source) link;
	int enabled;	/* SD_EVENT_... */
	uint64_t ready; /* since this turn; 0: it is not */
	bool floating;	/* nobody has it but the event */
	bool dead;	/* to be freed when its handler is back */
	int64_t priority;
	void *ctx;
	int fd; /* IO, SIGNAL; CHILD: its pidfd */
	uint32_t events, revents;
	uint64_t at; /* TIMER */
	sd_event_io_handler_t on_io;
	sd_event_time_handler_t on_time;
	sd_event_handler_t on_defer;
	sd_event_signal_handler_t on_signal;
	sd_event_child_handler_t on_child;
};

struct sd_event {
	int epoll;
	unsigned refs; /* sources that are not floating have one each */
	uint64_t turn;
	LIST_HEAD(, sd_event_source) sources;
	sd_event_source *current;
	bool exits;
	int code;
};

/* ---- the loop itself */

int sd_event_new(sd_event **ret)
{
	sd_event *e = xcalloc(1, sizeof(*e));

	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll < 0) {
		free(e);
		return -errno;
	}
	e->refs = 1;
	LIST_INIT(&e->sources);
	*ret = e;
	return 0;
}

static void free_source(sd_event_source *s)
{
	LIST_REMOVE(s, link);
	if (s->kind == SIGNAL || s->kind == CHILD)
		io_close(&s->fd);
	free(s);
}

sd_event *sd_event_unref(sd_event *e)
{
	if (!e || --e->refs)
		return NULL;
	while (!LIST_EMPTY(&e->sources))
		free_source(LIST_FIRST(&e->sources));
	close(e->epoll);
	free(e);
	return NULL;
}

int sd_event_exit(sd_event *e, int code)
{
	e->exits = true;
	e->code = code;
	return 0;
}

int sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret)
{
	*ret = (uint64_t)clock_usec(clock);
	return 0;
}

/* ---- sources */

static bool polls(const sd_event_source *s)
{
	return s->kind == IO || s->kind == SIGNAL || s->kind == CHILD;
}

static int watch_fd(sd_event_source *s, int op)
{
	struct epoll_event ev = { .events = s->events, .data.ptr = s };

	return epoll_ctl(s->event->epoll, op, s->fd, &ev) < 0 ? -errno : 0;
}

static int add_source(sd_event *e, sd_event_source **ret,
		      const sd_event_source *what)
{
	sd_event_source *s = xmalloc(sizeof(*s));
	int r = 0;

	*s = *what;
	s->event = e;
	s->floating = !ret;
	if (s->kind == DEFER)
		s->ready = e->turn + 1;
	if (polls(s))
		r = watch_fd(s, EPOLL_CTL_ADD);
	if (r < 0) {
		free(s);
		return r;
	}
	LIST_INSERT_HEAD(&e->sources, s, link);
	if (ret) {
		e->refs++;
		*ret = s;
	}
	return 0;
}

int sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
		    sd_event_io_handler_t fn, void *ctx)
{
	return add_source(e, ret,
			  &(sd_event_source){ .kind = IO,
					      .enabled = SD_EVENT_ON,
					      .fd = fd,
					      .events = events,
					      .on_io = fn,
					      .ctx = ctx });
}

int sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock,
		      uint64_t at, uint64_t accuracy,
		      sd_event_time_handler_t fn, void *ctx)
{
	if (clock != CLOCK_MONOTONIC)
		return -EOPNOTSUPP;
	return add_source(e, ret,
			  &(sd_event_source){ .kind = TIMER,
					      .enabled = SD_EVENT_ONESHOT,
					      .at = at,
					      .on_time = fn,
					      .ctx = ctx });
}

int sd_event_add_time_relative(sd_event *e, sd_event_source **ret,
			       clockid_t clock, uint64_t after,
			       uint64_t accuracy, sd_event_time_handler_t fn,
			       void *ctx)
{
	uint64_t now = (uint64_t)clock_usec(clock);

	return sd_event_add_time(e, ret, clock,
				 after < UINT64_MAX - now ? now + after
							  : UINT64_MAX,
				 accuracy, fn, ctx);
}

int sd_event_add_defer(sd_event *e, sd_event_source **ret,
		       sd_event_handler_t fn, void *ctx)
{
	return add_source(e, ret,
			  &(sd_event_source){ .kind = DEFER,
					      .enabled = SD_EVENT_ONESHOT,
					      .on_defer = fn,
					      .ctx = ctx });
}

/* Blocked by the caller. */
int sd_event_add_signal(sd_event *e, sd_event_source **ret, int sig,
			sd_event_signal_handler_t fn, void *ctx)
{
	sigset_t set;
	int fd, r;

	sigemptyset(&set);
	sigaddset(&set, sig);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = add_source(e, ret,
		       &(sd_event_source){ .kind = SIGNAL,
					   .enabled = SD_EVENT_ON,
					   .fd = fd,
					   .events = EPOLLIN,
					   .on_signal = fn,
					   .ctx = ctx });
	if (r < 0)
		close(fd);
	return r;
}

/* Its end alone; no SIGCHLD is needed, nor taken. */
int sd_event_add_child(sd_event *e, sd_event_source **ret, pid_t pid,
		       int options, sd_event_child_handler_t fn, void *ctx)
{
	int fd, r;

	if (options != WEXITED)
		return -EOPNOTSUPP;
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return -errno;
	r = add_source(e, ret,
		       &(sd_event_source){ .kind = CHILD,
					   .enabled = SD_EVENT_ONESHOT,
					   .fd = fd,
					   .events = EPOLLIN,
					   .on_child = fn,
					   .ctx = ctx });
	if (r < 0)
		close(fd);
	return r;
}

int sd_event_source_set_priority(sd_event_source *s, int64_t priority)
{
	s->priority = priority;
	return 0;
}

/* It is not ready by the time that was set before. */
int sd_event_source_set_time_relative(sd_event_source *s, uint64_t after)
{
	uint64_t now = (uint64_t)clock_usec(CLOCK_MONOTONIC);

	if (s->kind != TIMER)
		return -EDOM;
	s->at = after < UINT64_MAX - now ? now + after : UINT64_MAX;
	s->ready = 0;
	return 0;
}

int sd_event_source_set_enabled(sd_event_source *s, int enabled)
{
	int r = 0;

	if (polls(s) &&
	    (enabled == SD_EVENT_OFF) != (s->enabled == SD_EVENT_OFF))
		r = watch_fd(s, enabled == SD_EVENT_OFF ? EPOLL_CTL_DEL
							: EPOLL_CTL_ADD);
	if (r < 0)
		return r;
	if (s->kind == DEFER && s->enabled == SD_EVENT_OFF)
		s->ready = s->event->turn + 1;
	s->enabled = enabled;
	if (enabled == SD_EVENT_OFF)
		s->ready = 0;
	return 0;
}

/* Each has one reference. */
sd_event_source *sd_event_source_unref(sd_event_source *s)
{
	return sd_event_source_disable_unref(s);
}

sd_event_source *sd_event_source_disable_unref(sd_event_source *s)
{
	sd_event *e;

	if (!s)
		return NULL;
	e = s->event;
	(void)!sd_event_source_set_enabled(s, SD_EVENT_OFF);
	s->dead = true;
	if (e->current != s)
		free_source(s);
	sd_event_unref(e);
	return NULL;
}

int sd_event_source_set_io_events(sd_event_source *s, uint32_t events)
{
	if (s->events == events)
		return 0;
	s->events = events;
	s->ready = 0; /* by what it waited for before */
	return s->enabled == SD_EVENT_OFF ? 0 : watch_fd(s, EPOLL_CTL_MOD);
}

sd_event *sd_event_source_get_event(sd_event_source *s)
{
	return s->event;
}

/* ---- turns */

static bool is_ready(const sd_event_source *s)
{
	return s->enabled != SD_EVENT_OFF && s->ready;
}

static void note_timers(sd_event *e)
{
	uint64_t now = (uint64_t)clock_usec(CLOCK_MONOTONIC);
	sd_event_source *s;

	LIST_FOREACH (s, &e->sources, link)
		if (s->kind == TIMER && !s->ready && s->at <= now)
			s->ready = e->turn;
}

/* Until the next timer at most; nothing, if one is ready now. */
static int patience(const sd_event *e, uint64_t timeout)
{
	uint64_t now = (uint64_t)clock_usec(CLOCK_MONOTONIC), left = timeout;
	const sd_event_source *s;

	LIST_FOREACH (s, &e->sources, link) {
		if (is_ready(s))
			return 0;
		if (s->kind != TIMER || s->enabled == SD_EVENT_OFF ||
		    s->at == UINT64_MAX)
			continue;
		if (s->at <= now)
			return 0;
		if (s->at - now < left)
			left = s->at - now;
	}
	if (left == UINT64_MAX)
		return -1;
	left = left / USEC_PER_MSEC + (left % USEC_PER_MSEC != 0);
	return left < 1000000 ? (int)left : 1000000;
}

static int look_around(sd_event *e, uint64_t timeout)
{
	struct epoll_event got[16];
	int n = epoll_wait(e->epoll, got, 16, patience(e, timeout));

	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n; i++) {
		sd_event_source *s = got[i].data.ptr;

		s->revents = got[i].events;
		if (!s->ready)
			s->ready = e->turn;
	}
	note_timers(e);
	return 0;
}

static bool comes_before(const sd_event_source *a, const sd_event_source *b)
{
	return a->priority != b->priority ? a->priority < b->priority
					  : a->ready < b->ready;
}

static sd_event_source *next_of_all(sd_event *e)
{
	sd_event_source *s, *found = NULL;

	LIST_FOREACH (s, &e->sources, link)
		if (is_ready(s) && (!found || comes_before(s, found)))
			found = s;
	return found;
}

static int call_signal(sd_event_source *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != sizeof(info))
		return 0; /* it was taken meanwhile */
	return s->on_signal(s, &info, s->ctx);
}

/* Its number stays its own until the handler is back. */
static int call_child(sd_event_source *s)
{
	siginfo_t info = { 0 };
	int r;

	if (waitid(P_PIDFD, s->fd, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return -errno;
	r = s->on_child(s, &info, s->ctx);
	(void)!waitid(P_PID, info.si_pid, &info, WEXITED | WNOHANG);
	return r;
}

static int call(sd_event_source *s)
{
	switch (s->kind) {
	case IO:
		return s->on_io(s, s->fd, s->revents, s->ctx);
	case TIMER:
		return s->on_time(s, s->at, s->ctx);
	case DEFER:
		return s->on_defer(s, s->ctx);
	case SIGNAL:
		return call_signal(s);
	case CHILD:
		return call_child(s);
	}
	return -EINVAL;
}

static void dispatch(sd_event *e, sd_event_source *s)
{
	int r;

	if (s->enabled == SD_EVENT_ONESHOT)
		(void)!sd_event_source_set_enabled(s, SD_EVENT_OFF);
	s->ready = s->kind == DEFER && s->enabled ? e->turn + 1 : 0;
	e->current = s;
	e->refs++;
	r = call(s);
	e->current = NULL;
	if (s->dead)
		free_source(s);
	else if (r < 0)
		(void)!sd_event_source_set_enabled(s, SD_EVENT_OFF);
	sd_event_unref(e);
}

/* Some turns are for nothing, such as one that a signal has broken. */
int sd_event_run(sd_event *e, uint64_t timeout)
{
	uint64_t now = (uint64_t)clock_usec(CLOCK_MONOTONIC), end;
	sd_event_source *s = NULL;
	int r = 0;

	if (e->exits || e->current)
		return e->exits ? -ESTALE : -EBUSY;
	end = timeout < UINT64_MAX - now ? now + timeout : UINT64_MAX;
	do {
		e->turn++;
		r = look_around(e, end == UINT64_MAX ? end
				   : end > now	     ? end - now
						     : 0);
		s = r < 0 ? NULL : next_of_all(e);
		now = (uint64_t)clock_usec(CLOCK_MONOTONIC);
	} while (r >= 0 && !s && now < end);
	if (!s)
		return r;
	dispatch(e, s);
	return 1;
}

int sd_event_loop(sd_event *e)
{
	int r = 0;

	while (!e->exits && r >= 0)
		r = sd_event_run(e, UINT64_MAX);
	return e->exits ? e->code : r;
}
