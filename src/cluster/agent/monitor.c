/*
 * monitor.c - what the agent measures of its host, and when it tells it
 *
 * It looks each report_every, and tells where something has changed by more than
 * it does at rest, or once in REST: so that a quiet host sends little, and the
 * policy is not asked because of nothing.  What a number must differ by to be
 * news is below.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/agent/priv.h"
#include "cluster/agent/use.h"
#include "core/clock.h"
#include "core/xalloc.h"

/*
 * Often enough for the controller to know this host's clock (state/skew.h), and
 * to see the load's average fade.
 */
#define REST (10 * USEC_PER_SEC)

#define NEWS_LOAD     0.05
#define NEWS_SHARE    0.05	/* of a processor */
#define NEWS_PRESSURE 2		/* percent */
#define NEWS_FAULTS   20	/* a second */
#define NEWS_MEMORY   0.02	/* of what it was, */
#define PEERS_MOST    64	/* of a guest in one report */
#define MEMORY_LEAST  (8 << 20) /* ... but so many bytes */

/* What was told. */
struct told {
	struct host_sample host;
	struct guest_use *use;
	size_t nr;
	unsigned users;
	usec_t at;
};

struct monitor {
	struct uses *uses;
	struct host_sample host; /* as of the last look */
	struct told told;
	bool must; /* tell, whatever has changed */
};

void monitor_begin(struct agent *a)
{
	a->monitor = xcalloc(1, sizeof(*a->monitor));
	a->monitor->uses = uses_create(a->conf->run_dir);
	monitor_look(a);
}

void monitor_end(struct agent *a)
{
	if (!a->monitor)
		return;
	uses_destroy(a->monitor->uses);
	free(a->monitor->told.use);
	free(a->monitor);
	a->monitor = NULL;
}

void monitor_look(struct agent *a)
{
	host_load_sample(a->load, &a->monitor->host);
	uses_look(a->monitor->uses, a->monitor->host.memory);
}

uint64_t monitor_memory(const struct agent *a)
{
	return a->monitor->host.memory;
}

void monitor_must_tell(struct agent *a)
{
	if (a->monitor)
		a->monitor->must = true;
}

/* ---- is it news? ---- */

static bool memory_differs(uint64_t a, uint64_t b)
{
	double difference = fabs((double)a - (double)b);

	return difference > MEMORY_LEAST &&
	       difference > NEWS_MEMORY * (double)b;
}

static bool host_differs(const struct host_sample *a,
			 const struct host_sample *b)
{
	return fabs(a->load - b->load) > NEWS_LOAD ||
	       fabs(a->pressure_cpu - b->pressure_cpu) > NEWS_PRESSURE ||
	       fabs(a->pressure_memory - b->pressure_memory) > NEWS_PRESSURE ||
	       fabs(a->pressure_io - b->pressure_io) > NEWS_PRESSURE ||
	       fabs(a->faults - b->faults) > NEWS_FAULTS ||
	       fabs(a->refaults - b->refaults) > NEWS_FAULTS ||
	       memory_differs(a->memory_free, b->memory_free);
}

static bool use_differs(const struct guest_use *a, const struct guest_use *b)
{
	return a->job != b->job || a->rank != b->rank ||
	       fabs(a->share - b->share) > NEWS_SHARE ||
	       fabs(a->waits - b->waits) > NEWS_SHARE ||
	       fabs(a->faults - b->faults) > NEWS_FAULTS ||
	       memory_differs(a->memory, b->memory) || a->traffic.nr_sent;
}

bool monitor_is_news(const struct agent *a)
{
	const struct monitor *m = a->monitor;
	const struct told *t = &m->told;
	const struct guest_use *use;
	size_t nr;

	use = uses_all(m->uses, &nr);
	if (m->must || a->tell_records || nr != t->nr ||
	    clock_usec(CLOCK_MONOTONIC) - t->at >= REST ||
	    owner_logged_in(a->owner) != t->users ||
	    host_differs(&m->host, &t->host))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (use_differs(&use[i], &t->use[i]))
			return true;
	return false;
}

static void keep_told(struct agent *a, const struct guest_use *use, size_t nr)
{
	struct monitor *m = a->monitor;

	m->must = false;
	m->told.host = m->host;
	m->told.users = owner_logged_in(a->owner);
	m->told.at = clock_usec(CLOCK_MONOTONIC);
	m->told.use = xreallocarray(m->told.use, nr + 1, sizeof(*use));
	if (nr)
		memcpy(m->told.use, use, nr * sizeof(*use));
	m->told.nr = nr;
}

/* ---- as a message ---- */

static void fill_sent(struct traffic *t, Control__GuestReport *ret)
{
	struct sent sent[PEERS_MOST];
	size_t n = traffic_take(t, sent, PEERS_MOST);
	Control__Sent *all = n ? xcalloc(n, sizeof(*all)) : NULL;

	ret->sent = xcalloc(n + 1, sizeof(*ret->sent));
	for (size_t i = 0; i < n; i++) {
		control__sent__init(&all[i]);
		all[i].address = ntohl(sent[i].peer.s_addr);
		all[i].bytes = sent[i].bytes;
		all[i].segments = sent[i].segments;
		ret->sent[i] = &all[i];
	}
	ret->n_sent = n;
}

static void fill_guest(struct guest_use *use, Control__GuestReport *ret)
{
	control__guest_report__init(ret);
	ret->job = use->job;
	ret->rank = use->rank;
	ret->share = use->share;
	ret->waits = use->waits;
	ret->faults = use->faults;
	ret->memory = use->memory;
	ret->cpu_usec = use->cpu_usec;
	fill_sent(&use->traffic, ret);
}

void monitor_fill(struct agent *a, Control__HostReport *ret)
{
	const struct host_sample *s = &a->monitor->host;
	struct guest_use *use;
	Control__GuestReport *all;
	size_t nr;

	ret->runnable = s->runnable;
	ret->load = s->load;
	ret->memory_free = lend_memory(a, s->memory_free);
	ret->pressure = s->pressure_memory;
	ret->pressure_cpu = s->pressure_cpu;
	ret->pressure_io = s->pressure_io;
	ret->faults = s->faults;
	ret->refaults = s->refaults;
	use = uses_all(a->monitor->uses, &nr);
	all = xcalloc(nr + 1, sizeof(*all));
	ret->guests = xcalloc(nr + 1, sizeof(*ret->guests));
	for (size_t i = 0; i < nr; i++) {
		fill_guest(&use[i], &all[i]);
		ret->guests[i] = &all[i];
	}
	ret->n_guests = nr;
	keep_told(a, use, nr);
}

void monitor_free(Control__HostReport *report)
{
	for (size_t i = 0; i < report->n_guests; i++) {
		if (report->guests[i]->n_sent)
			free(report->guests[i]->sent[0]);
		free(report->guests[i]->sent);
	}
	if (report->n_guests)
		free(report->guests[0]);
	free(report->guests);
}
