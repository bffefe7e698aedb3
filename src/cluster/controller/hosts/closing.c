/*
 * closing.c - drain hosts in time for the closures of the calendar
 *
 * A host that an administrator has drained is left as it is.  When a closure is over,
 * the hosts that the calendar has drained are opened again, also if the controller did
 * not run at that instant.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/hosts/calendar.h"
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "core/log.h"
#include "core/xalloc.h"

#define WHO	   "calendar"
#define LOOK_AGAIN (20 * USEC_PER_SEC)
/* How long before a closure a host is drained. */
#define LEAD	   (15 * 60 * USEC_PER_SEC)

struct ctl_closings {
	struct calendar calendar;
	struct timespec changed; /* the time of the file that was read */
	sd_event_source *timer;
};

static void drain(struct ctl_host *h, const struct closure *is, usec_t now)
{
	h->drain = true;
	ctl_host_set_drained(h, WHO, is->reason, now, is->from);
	log_info("host=%s drain=begun who=" WHO " why=\"%s\"", h->name,
		 is->reason);
	ctl_host_store(h);
	ctl_sched_host(h);
}

static void undrain(struct ctl_host *h)
{
	h->drain = false;
	ctl_host_set_drained(h, "", "", 0, 0);
	log_info("host=%s drain=over who=" WHO, h->name);
	ctl_host_store(h);
	ctl_sched_host(h);
}

static void look_at_host(struct ctl_host *h, usec_t now)
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
}

static int on_look(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;

	if (ctl->conf->calendar)
		read_again(ctl);
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		look_at_host(ctl->hosts.at[i], ctl_now());
	ctl->closings->timer = sd_event_source_unref(ctl->closings->timer);
	/* Without a calendar the first look has undone what an earlier one had closed. */
	if (ctl->conf->calendar)
		loop_after(ctl->event, &ctl->closings->timer, LOOK_AGAIN,
			   on_look, ctl);
	return 0;
}

int ctl_closings_begin(struct ctl *ctl, struct error *err)
{
	struct ctl_closings *c = xcalloc(1, sizeof(*c));
	struct stat st;
	int r = 0;

	ctl->closings = c;
	if (ctl->conf->calendar) {
		r = calendar_read(ctl->conf->calendar, &c->calendar, err);
		if (!r && !stat(ctl->conf->calendar, &st))
			c->changed = st.st_mtim;
	}
	if (!r)
		loop_after(ctl->event, &c->timer, 0, on_look, ctl);
	return r;
}

void ctl_closings_end(struct ctl *ctl)
{
	if (!ctl->closings)
		return;
	sd_event_source_disable_unref(ctl->closings->timer);
	calendar_clear(&ctl->closings->calendar);
	free(ctl->closings);
	ctl->closings = NULL;
}
