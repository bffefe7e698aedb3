/*
 * returns.c - owners' returns in the accounts of the ranks that were there
 *
 * An agent tells of the last returns again and again.  What it tells first is what has
 * been before: nobody knows any more who was there then.
 */
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/rank.h"

/* Ranks that are the host's guests now. */
static void meet(struct ctl_host *h, usec_t at)
{
	struct klink *k;

	TAILQ_FOREACH (k, &h->klinks, link) {
		struct ctl_rank *r = k->job ? klink_rank(k) : NULL;

		if (!r || !klink_is_current(k) || !ctl_rank_active(r) ||
		    r->host != h || ctl_host_is_home(h, r->job))
			continue;
		ctl_rank_meets_return(r, at);
		h->lending.met = at;
	}
}

/* Wherever they are meanwhile, if their jobs are not over. */
static void give_back(struct ctl_host *h, usec_t at, usec_t took)
{
	struct ctl_job *job;

	h->lending.met = 0;
	TAILQ_FOREACH (job, &h->ctl->jobs.list, link) {
		if (job->state == STATE(DONE))
			continue;
		for (uint32_t i = 0; i < job->nr; i++)
			if (job->ranks[i].met_return == at)
				ctl_rank_given_back(&job->ranks[i], took);
	}
}

void ctl_host_returns(struct ctl_host *h)
{
	struct ctl_lending *l = &h->lending;

	for (uint32_t i = 0; i < l->nr_last; i++) {
		const struct owner_return *o = &l->last[i];

		if (l->heard && o->wall > l->known)
			meet(h, o->wall);
		if (o->wall > l->known)
			l->known = o->wall;
		if (l->met && o->wall == l->met && o->took >= 0)
			give_back(h, o->wall, o->took);
	}
	l->heard = true;
}
