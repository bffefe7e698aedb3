/*
 * closing.c - drain hosts in time for the closures of the calendar
 *
 * A host that an administrator has drained is left as it is.  When a closure is over,
 * the hosts that the calendar has drained are opened again, also if the controller did
 * not run at that instant.
 *
 * Hosts are looked at when that is to change, and when the file has: a controller with a
 * calendar sleeps as long as one without.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/hosts/calendar.h"
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/xalloc.h"

#define WHO	   "calendar"
/* Of a file that cannot be watched. */
#define LOOK_AGAIN (20 * USEC_PER_SEC)
/* How long before a closure a host is drained. */
#define LEAD	   (15 * 60 * USEC_PER_SEC)

struct ctl_closings {
	struct calendar calendar;
	struct timespec changed; /* the time of the file that was read */
	usec_t next; /* when hosts are to be looked at, since 1970 */
	/* Two clocks, as ctl_now() goes on when the time is set back, and forward with it. */
	sd_event_source *timer, *clock;
	/* The file, and what takes its place in its directory. */
	sd_event_source *file, *dir;
	bool unwatched; /* at least one of them */
};

static void audit(struct ctl *ctl, const char *what, const char *target,
		  const char *reason)
{
	ctl_audit_of(ctl, WHO,
		     &(struct ctl_audited){ .what = what,
					    .target = target,
					    .detail = reason });
}

static void drain(struct ctl_host *h, const struct closure *is, usec_t now)
{
	h->drain = true;
	ctl_host_set_drained(h, WHO, is->reason, now, is->from);
	log_info("host=%s drain=begun who=" WHO " why=\"%s\"", h->name,
		 is->reason);
	audit(h->ctl, "drain", h->name, is->reason);
	ctl_host_store(h);
	ctl_sched_host(h);
}

static void undrain(struct ctl_host *h)
{
	h->drain = false;
	ctl_host_set_drained(h, "", "", 0, 0);
	log_info("host=%s drain=over who=" WHO, h->name);
	audit(h->ctl, "undrain", h->name, "");
	ctl_host_store(h);
	ctl_sched_host(h);
}

/* Returns when it is to be looked at again. */
static usec_t look_at_host(struct ctl_host *h, usec_t now)
{
	const struct calendar *c = &h->ctl->closings->calendar;
	struct closure is;
	bool any = calendar_next(c, h->name, now, &is);
	bool due = any && is.from - LEAD <= now;
	bool ours = h->drain && !strcmp(h->drained.who, WHO);
	usec_t until = any ? is.from : 0;

	if (ours && !due)
		undrain(h);
	else if (due && !h->drain)
		drain(h, &is, now);
	if (until != h->open_until) {
		h->open_until = until;
		ctl_sched_host(h);
	}
	return calendar_same_until(c, h->name, now, LEAD);
}

/* Read the file again if it has changed; if it has an error now, nothing changes. */
static void read_again(struct ctl *ctl)
{
	struct ctl_closings *c = ctl->closings;
	const char *path = ctl->conf->calendar;
	struct calendar fresh;
	struct error err;
	struct stat st;

	if (stat(path, &st) < 0 || (st.st_mtim.tv_sec == c->changed.tv_sec &&
				    st.st_mtim.tv_nsec == c->changed.tv_nsec))
		return;
	c->changed = st.st_mtim;
	if (calendar_read(path, &fresh, &err) < 0) {
		log_warnx("calendar=kept error=\"%s\"", err.text);
		return;
	}
	calendar_clear(&c->calendar);
	c->calendar = fresh;
	log_info("calendar=read file=%s", path);
	audit(ctl, "read", path, "");
}

/* ---- when ---- */

static int on_due(sd_event_source *src, uint64_t usec, void *arg);

static void wake_at(struct ctl *ctl, usec_t at)
{
	struct ctl_closings *c = ctl->closings;
	usec_t now = ctl_now(), after = at > now ? at - now : 0;

	c->next = at;
	c->timer = sd_event_source_disable_unref(c->timer);
	loop_after(ctl->event, &c->timer, after, on_due, ctl);
	sd_event_source_set_time(
		c->clock, (uint64_t)(clock_usec(CLOCK_REALTIME) + after));
	sd_event_source_set_enabled(c->clock, SD_EVENT_ONESHOT);
}

static void look_at_all(struct ctl *ctl)
{
	usec_t now = ctl_now(), next = now + USEC_PER_DAY;

	if (ctl->closings->unwatched)
		next = now + LOOK_AGAIN;
	for (size_t i = 0; i < ctl->hosts.nr; i++) {
		usec_t until = look_at_host(ctl->hosts.at[i], now);

		next = until < next ? until : next;
	}
	/* Without a calendar this has undone what an earlier one had closed. */
	if (ctl->conf->calendar)
		wake_at(ctl, next);
}

void ctl_closings_host(struct ctl_host *h)
{
	struct ctl *ctl = h->ctl;
	usec_t until;

	if (!ctl->conf->calendar || !ctl->closings)
		return;
	until = look_at_host(h, ctl_now());
	if (until < ctl->closings->next)
		wake_at(ctl, until);
}

static int on_due(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;

	if (ctl->conf->calendar)
		read_again(ctl);
	look_at_all(ctl);
	return 0;
}

/* ---- its file ---- */

static int on_written(sd_event_source *src, const struct inotify_event *e,
		      void *arg)
{
	struct ctl *ctl = arg;

	read_again(ctl);
	look_at_all(ctl);
	return 0;
}

static void cannot_watch(struct ctl *ctl, int r)
{
	log_warnx(
		"calendar=%s is looked at each %d s: it cannot be watched: %s",
		ctl->conf->calendar, (int)(LOOK_AGAIN / USEC_PER_SEC),
		strerror(-r));
	ctl->closings->unwatched = true;
}

/* It may be a symbolic link to elsewhere. */
static void watch_file(struct ctl *ctl)
{
	struct ctl_closings *c = ctl->closings;
	int r;

	c->file = sd_event_source_disable_unref(c->file);
	r = sd_event_add_inotify(ctl->event, &c->file, ctl->conf->calendar,
				 IN_CLOSE_WRITE, on_written, ctl);
	if (r < 0)
		cannot_watch(ctl, r);
}

static int on_replaced(sd_event_source *src, const struct inotify_event *e,
		       void *arg)
{
	struct ctl *ctl = arg;
	const char *slash = strrchr(ctl->conf->calendar, '/');

	if (e->len &&
	    !strcmp(e->name, slash ? slash + 1 : ctl->conf->calendar)) {
		watch_file(ctl);
		on_written(src, e, ctl);
	}
	return 0;
}

static void watch_dir(struct ctl *ctl)
{
	const char *path = ctl->conf->calendar, *slash = strrchr(path, '/');
	char *dir = slash ? xasprintf("%.*s/", (int)(slash - path), path)
			  : xstrdup(".");
	int r = sd_event_add_inotify(ctl->event, &ctl->closings->dir, dir,
				     IN_MOVED_TO, on_replaced, ctl);

	if (r < 0)
		cannot_watch(ctl, r);
	free(dir);
}

/* ---- begin and end ---- */

static int begin_calendar(struct ctl *ctl, struct error *err)
{
	struct ctl_closings *c = ctl->closings;
	struct stat st;
	int r = calendar_read(ctl->conf->calendar, &c->calendar, err);

	if (r < 0)
		return r;
	if (!stat(ctl->conf->calendar, &st))
		c->changed = st.st_mtim;
	r = sd_event_add_time(ctl->event, &c->clock, CLOCK_REALTIME, UINT64_MAX,
			      USEC_PER_MSEC, on_due, ctl);
	if (r < 0)
		return loop_unwatched(err, r, "a timer for the calendar");
	watch_dir(ctl);
	watch_file(ctl);
	return 0;
}

int ctl_closings_begin(struct ctl *ctl, struct error *err)
{
	int r = 0;

	ctl->closings = xcalloc(1, sizeof(*ctl->closings));
	if (ctl->conf->calendar)
		r = begin_calendar(ctl, err);
	if (!r)
		loop_after(ctl->event, &ctl->closings->timer, 0, on_due, ctl);
	return r;
}

void ctl_closings_end(struct ctl *ctl)
{
	struct ctl_closings *c = ctl->closings;

	if (!c)
		return;
	sd_event_source_disable_unref(c->timer);
	sd_event_source_disable_unref(c->clock);
	sd_event_source_disable_unref(c->file);
	sd_event_source_disable_unref(c->dir);
	calendar_clear(&c->calendar);
	free(c);
	ctl->closings = NULL;
}
