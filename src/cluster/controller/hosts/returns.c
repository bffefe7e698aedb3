/*
 * returns.c - owners' returns in the accounts of the ranks that were there
 *
 * An agent tells of the last returns again and again.  What it tells first is what has
 * been before: nobody knows any more who was there then.
 */
#include <inttypes.h>

#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/rank.h"
#include "core/log.h"

/* fn(h, rank, at) for ranks that are the host's guests now. */
static void each_guest(struct ctl_host *h,
		       void (*fn)(struct ctl_host *h, struct ctl_rank *r,
				  usec_t at),
		       usec_t at)
{
	struct klink *k;

	TAILQ_FOREACH (k, &h->klinks, link) {
		struct ctl_rank *r = k->job ? klink_rank(k) : NULL;

		if (r && klink_is_current(k) && ctl_rank_active(r) &&
		    r->host == h && !ctl_host_is_home(h, r->job))
			fn(h, r, at);
	}
}

static void meets(struct ctl_host *h, struct ctl_rank *r, usec_t at)
{
	ctl_rank_meets_return(r, at);
	h->lending.met = at;
}

static enum late way_out(const struct ctl_rank *r)
{
	static const enum late steps[] = {
		[STEP_KEEPER] = LATE_KEEPER,
		[STEP_RECEIVING] = LATE_RECEIVING,
		[STEP_OUT] = LATE_OUT,
		[STEP_RESTORED] = LATE_UNKNOWN,
	};

	return r->frozen_since ? LATE_STILL
	       : r->move       ? steps[r->move->step]
			       : LATE_STAYED;
}

static void is_late(struct ctl_host *h, struct ctl_rank *r, usec_t at)
{
	struct ctl_lending *l = &h->lending;
	enum late why = way_out(r);

	log_info("host=%s late=guest job=%" PRIu64 " rank=%u why=\"%s\"",
		 h->name, r->job->id, r->rank, late_text(why));
	ctl_rank_is_late(r, why);
	l->lates[l->nr_lates++ % CONTRACT_RETURNS] =
		(struct ctl_late){ at, l->limit, r->job->id, r->rank, why };
}

/* Once for a return: where its guests are on their way as the time to leave is over. */
static void look_if_late(struct ctl_host *h)
{
	struct ctl_lending *l = &h->lending;

	if (!l->giving || !l->is.leave_by || ctl_now() < l->is.leave_by ||
	    l->late == l->known)
		return;
	l->late = l->known;
	each_guest(h, is_late, l->known);
}

/* Wherever they are meanwhile, if their jobs are not over. */
static void give_back(struct ctl_host *h, usec_t at, usec_t took)
{
	usec_t limit = h->lending.limit;
	usec_t late = limit && took > limit ? took - limit : 0;
	struct ctl_job *job;

	h->lending.met = 0;
	TAILQ_FOREACH (job, &h->ctl->jobs.list, link) {
		if (job->state == STATE(DONE))
			continue;
		for (uint32_t i = 0; i < job->nr; i++)
			if (job->ranks[i].met_return == at)
				ctl_rank_given_back(&job->ranks[i], took, late);
	}
}

void ctl_host_returns(struct ctl_host *h)
{
	struct ctl_lending *l = &h->lending;

	for (uint32_t i = 0; i < l->nr_last; i++) {
		const struct owner_return *o = &l->last[i];

		if (l->heard && o->wall > l->known)
			each_guest(h, meets, o->wall);
		if (o->wall > l->known)
			l->known = o->wall;
		if (l->met && o->wall == l->met && o->took >= 0)
			give_back(h, o->wall, o->took);
	}
	l->heard = true;
	look_if_late(h);
}
