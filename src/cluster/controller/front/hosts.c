/*
 * hosts.c - answers to `stint hosts` and `stint owner status --all`
 */
#include <stdlib.h>

#include "cluster/controller/front/priv.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

/* A host's message, and the memory that it points into. */
struct shown {
	Control__HostInfo info;
	Control__Presence presence;
	Control__Lending lending;
	Control__OwnerReturn last[CONTRACT_RETURNS];
	Control__OwnerReturn *list[CONTRACT_RETURNS];
	Control__HostDrain drained;
	size_t cap;
	char late[CONTRACT_RETURNS][80];
};

static uint64_t ago(usec_t then)
{
	usec_t now = ctl_now();

	return then < now ? (uint64_t)(now - then) : 0;
}

static void show_presence(const struct presence *p, Control__Presence *ret)
{
	control__presence__init(ret);
	ret->here = p->here;
	ret->evict = p->evict;
	ret->since_usec = ago(p->since);
	ret->idle_usec = p->here ? 0 : ago(p->idle_since);
	ret->cause = p->cause;
	ret->lost = p->lost;
	ret->who = (char *)p->who;
}

/* Who was there too long, or why nobody can be named. */
static void show_late(const struct ctl_lending *l, const struct owner_return *r,
		      struct shown *s, uint32_t i)
{
	const struct ctl_late *late = ctl_late_of(l, r->wall);
	char who[48] = "";

	if (!late)
		return;
	if (late->job)
		snprintf(who, sizeof(who), "%" PRIu64 ".%" PRIu32 ": ",
			 late->job, late->rank);
	s->last[i].late_usec =
		r->took > late->limit ? (uint64_t)(r->took - late->limit) : 0;
	snprintf(s->late[i], sizeof(s->late[i]), "%s%s", who,
		 late_text(late->why));
	s->last[i].late = s->late[i];
}

static void show_lending(const struct ctl_lending *l, struct shown *s)
{
	Control__Lending *ret = &s->lending;

	control__lending__init(ret);
	ret->closed = l->is.closed;
	ret->leave = l->is.leave;
	ret->guests = l->guests;
	ret->guests_most = l->guests_most;
	ret->cores = l->cores;
	ret->disturbed = l->disturbed;
	ret->left = l->left;
	ret->returns = l->returns;
	ret->giving = l->giving;
	for (uint32_t i = 0; i < l->nr_last; i++) {
		const struct owner_return *r = &l->last[i];

		control__owner_return__init(&s->last[i]);
		s->last[i].at_usec = (uint64_t)r->wall;
		s->last[i].done = r->took >= 0;
		s->last[i].took_usec = r->took >= 0 ? (uint64_t)r->took : 0;
		s->last[i].guests = r->guests;
		s->last[i].disturbed = r->disturbed;
		show_late(l, r, s, i);
		s->list[i] = &s->last[i];
	}
	ret->last = s->list;
	ret->n_last = l->nr_last;
}

static void show_drained(const struct ctl_drained *d, struct shown *s)
{
	control__host_drain__init(&s->drained);
	s->drained.who = d->who;
	s->drained.reason = d->reason;
	s->drained.at_usec = (uint64_t)d->at;
	s->drained.by_usec = (uint64_t)d->by;
	s->info.drained = &s->drained;
}

static void show_host(const struct ctl_host *h, struct shown *s)
{
	const struct host *v = &ctl_sched_view(h->ctl)->hosts[h->ix];
	Control__HostInfo *i = &s->info;

	control__host_info__init(i);
	i->name = h->name;
	i->address = h->address;
	i->up = h->agent != NULL;
	i->drain = h->drain;
	i->cores = h->cores;
	i->alpha = v->speed;
	i->load = h->report.load;
	i->memory = h->memory;
	i->memory_free = h->report.memory_free;
	i->users = h->report.users;
	i->idle_usec = h->report.users && !h->owner.here
			       ? ago(h->owner.idle_since)
			       : 0;
	i->ranks = v->nr_ranks;
	i->runnable = h->report.runnable;
	i->pressure = h->report.pressure;
	i->pressure_cpu = h->report.pressure_cpu;
	i->pressure_io = h->report.pressure_io;
	i->faults = h->report.faults;
	i->refaults = h->report.refaults;
	i->link_bits = h->link_bits;
	i->open_until_usec = (uint64_t)h->open_until;
	show_presence(&h->owner, &s->presence);
	i->presence = &s->presence;
	show_lending(&h->lending, s);
	i->lending = &s->lending;
	if (h->drain)
		show_drained(&h->drained, s);
}

static void show_guest(const struct ctl_rank *r, struct shown *s)
{
	Control__HostGuest *g = xmalloc(sizeof(*g));

	control__host_guest__init(g);
	g->job = r->job->id;
	g->rank = r->rank;
	g->user = r->job->spec->user;
	g->frozen = r->frozen_since != 0;
	array_room(s->info.guests, s->info.n_guests, &s->cap);
	s->info.guests[s->info.n_guests++] = g;
}

static void show_guests(struct ctl *ctl, struct shown *hosts)
{
	struct ctl_job *job;

	TAILQ_FOREACH (job, &ctl->jobs.list, link)
		for (uint32_t i = 0; i < job->nr; i++)
			if (ctl_rank_active(&job->ranks[i]) &&
			    job->ranks[i].host &&
			    !ctl_host_is_home(job->ranks[i].host, job))
				show_guest(&job->ranks[i],
					   &hosts[job->ranks[i].host->ix]);
}

void ctl_list_hosts(struct ctl_peer *p, uint64_t re)
{
	Control__Hosts hosts = CONTROL__HOSTS__INIT;
	struct ctl *ctl = p->ctl;
	struct shown *shown = xcalloc(ctl->hosts.nr + 1, sizeof(*shown));

	hosts.hosts = xcalloc(ctl->hosts.nr + 1, sizeof(*hosts.hosts));
	for (hosts.n_hosts = 0; hosts.n_hosts < ctl->hosts.nr;
	     hosts.n_hosts++) {
		show_host(ctl->hosts.at[hosts.n_hosts], &shown[hosts.n_hosts]);
		hosts.hosts[hosts.n_hosts] = &shown[hosts.n_hosts].info;
	}
	show_guests(ctl, shown);
	hosts.warning = (char *)ctl_room_text(ctl);
	ctl_send(p, 0, re, MESSAGE_BODY(HOSTS), &hosts);
	for (size_t i = 0; i < hosts.n_hosts; i++) {
		for (size_t k = 0; k < shown[i].info.n_guests; k++)
			free(shown[i].info.guests[k]);
		free(shown[i].info.guests);
	}
	free(hosts.hosts);
	free(shown);
}
