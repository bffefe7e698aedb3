/*
 * host.c - a host as the policy sees it
 */
#include <math.h>

#include "cluster/controller/sched/priv.h"
#include "model/record.h"

enum {
	SLOTS_A_CORE = 4, /* how many ranks a host may hold for each core */
};

static double best_score(const struct ctl *ctl)
{
	double best = 0;

	for (size_t i = 0; i < ctl->hosts.nr; i++)
		if (ctl->hosts.at[i]->score > best)
			best = ctl->hosts.at[i]->score;
	return best;
}

/* Must all ranks leave, because the host will be gone? */
static bool goes(const struct ctl_host *h)
{
	return h->owner.here && presence_goes(h->owner.cause);
}

/* The earliest of the times by which ranks must have left; 0: there is none. */
static usec_t leave_by(const struct ctl_host *h)
{
	usec_t owner = h->lending.is.leave ? h->lending.is.leave_by : 0;
	usec_t drain = h->drain ? h->drained.by : 0;

	if (goes(h) && h->owner.going_by)
		owner = h->owner.going_by;
	return owner && (!drain || owner < drain) ? owner : drain;
}

void sched_host_fill(const struct ctl_host *h, struct host *ret)
{
	const Control__HostReport *r = &h->report;
	double best = best_score(h->ctl);
	const struct ctl_lending *l = &h->lending;
	unsigned slots = h->cores * SLOTS_A_CORE;
	uint32_t cores = h->cores > l->cores ? h->cores - l->cores : 1;

	slots = slots > SLOTS_LEAST ? slots : SLOTS_LEAST;
	*ret = (struct host){
		.ix = h->ix,
		.name = h->name,
		.speed = h->score > 0 ? fmin(best / h->score, RECORD_SPEED_MAX)
				      : 1,
		.cores = cores,
		.slots = slots < l->guests_most ? slots : l->guests_most,
		.memory = h->memory,
		.memory_free = r->memory_free,
		.load = r->load,
		.users = r->users,
		.owner_active = l->is.leave,
		.closed = (uint8_t)l->is.closed,
		.leave_by = leave_by(h),
		.freeze_until = l->is.freeze_until,
		.freeze_most = l->is.freeze_most,
		.idle_since = h->owner.idle_since,
		.up = h->agent,
		.drain = h->drain || goes(h),
		.faults = r->refaults,
		.link = (double)h->link_bits / 8,
		.open_until = h->open_until,
	};
	host_set_owners(ret, h->owners.uid, h->owners.nr);
}

/* Do they differ in what a policy is told of a host? */
static bool host_differs(const struct host *a, const struct host *b)
{
	return a->speed != b->speed || a->cores != b->cores ||
	       a->slots != b->slots || a->memory != b->memory ||
	       a->memory_free != b->memory_free || a->load != b->load ||
	       a->users != b->users || a->owner_active != b->owner_active ||
	       a->idle_since != b->idle_since || a->up != b->up ||
	       a->drain != b->drain || a->closed != b->closed ||
	       a->leave_by != b->leave_by ||
	       a->freeze_until != b->freeze_until ||
	       a->freeze_most != b->freeze_most || a->faults != b->faults ||
	       a->link != b->link || a->open_until != b->open_until ||
	       !host_same_owners(a, b);
}

void ctl_sched_host(struct ctl_host *h)
{
	struct host fresh;
	struct event e = { .type = EVENT_HOST, .host = h->ix, .fresh = &fresh };

	sched_host_fill(h, &fresh);
	if (!host_differs(&h->ctl->sched->view.hosts[h->ix], &fresh))
		return;
	sched_apply_and_ask(h->ctl, &e);
}
