/*
 * lenders.h - which hosts lend themselves to whom, as they were told last
 *
 * A pass asks it of every rank of every job, and hosts change far less often than
 * slices end: it is looked up anew after an EVENT_HOST alone.
 */
#ifndef POLICY_HOSTS_LENDERS_H
#define POLICY_HOSTS_LENDERS_H

#include "model/event.h"
#include "model/view.h"

struct lenders {
	bool *lends;	  /* by host: to everybody */
	bool *keeps;	  /* by host: whoever is there may stay */
	uint32_t nr_open; /* hosts that lend to everybody; */
	uint32_t nr_own;  /* others, at most, that are open to their users */
	bool stale;	  /* a host has changed since */
};

void lenders_init(struct lenders *l, uint32_t nr_hosts);
void lenders_clear(struct lenders *l);

/* To be told of every event, */
static inline void lenders_event(struct lenders *l, const struct event *e)
{
	l->stale |= e->type == EVENT_HOST;
}

/* ... and called when a pass begins. */
void lenders_look(struct lenders *l, const struct view *view);

/* May a rank of the job be placed there? */
bool lends_to(const struct host *h, const struct job *job);

/* May that rank, which is there, run there?  Quiet and load matter to new ranks alone. */
static inline bool may_stay(const struct lenders *l, const struct view *view,
			    const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];

	return l->keeps[job->hosts[rank]] ||
	       (host_serves(h) && job_is_home(job, h));
}

/* Hosts, taken or not, that are open to that job. */
uint32_t lenders_of(const struct lenders *l, const struct view *view,
		    const struct job *job);

#endif
