/*
 * returns.c - owners' returns in the accounts of the ranks that were there
 *
 * An agent tells of the last returns again and again.  What it tells first is what has
 * been before: nobody knows any more who was there then.
 */
#include <inttypes.h>

#include "cluster/conn/loop.h"
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

/* One a return: of several guests the last one. */
static void note(struct ctl_host *h, usec_t at, const struct klink *k,
		 enum late why)
{
	struct ctl_lending *l = &h->lending;
	struct ctl_late late = { .wall = at, .limit = l->limit, .why = why };
	struct ctl_late *to;

	if (k) {
		late.job = k->job_id;
		late.rank = k->rank;
		log_info("host=%s late=guest job=%" PRIu64
			 " rank=%u why=\"%s\"",
			 h->name, late.job, late.rank, late_text(why));
	} else {
		log_info("host=%s late=host why=\"%s\"", h->name,
			 late_text(why));
	}
	to = ctl_late_of(l, at);
	if (!to)
		to = &l->lates[l->nr_lates++ % CONTRACT_RETURNS];
	*to = late;
}

static void is_late(struct ctl_host *h, struct ctl_rank *r, usec_t at)
{
	enum late why = way_out(r);

	note(h, at, klink_of(r), why);
	ctl_rank_is_late(r, at, why);
	h->lending.met = at;
}

/* No rank is there any more, or yet, and the host's agent counts a guest. */
static void note_others(struct ctl_host *h, usec_t at)
{
	struct klink *k;

	note(h, at, NULL, LATE_NOBODY);
	TAILQ_FOREACH (k, &h->klinks, link) {
		const struct ctl_rank *r = k->job ? klink_rank(k) : NULL;

		if (r && ctl_host_is_home(h, r->job))
			continue;
		note(h, at, k,
		     r && r->move && r->move->epoch == k->epoch ? LATE_COMING
								: LATE_REMOVED);
	}
}

static int on_limit(sd_event_source *src, uint64_t usec, void *arg);

/*
 * Once for a return: where its guests are on their way as the time to leave is over.  By our
 * clock, too: a report of that instant may come a moment before it, or never.
 */
static void look_if_late(struct ctl_host *h)
{
	struct ctl_lending *l = &h->lending;
	usec_t left = l->is.leave_by - ctl_now();

	h->limit = sd_event_source_disable_unref(h->limit);
	if (!l->giving || !l->is.leave_by || l->late == l->known)
		return;
	if (left > 0) {
		loop_after(h->ctl->event, &h->limit, (usec_t)left, on_limit, h);
		return;
	}
	l->late = l->known;
	each_guest(h, is_late, l->known);
	if (!ctl_late_of(l, l->known))
		note_others(h, l->known);
}

static int on_limit(sd_event_source *src, uint64_t usec, void *arg)
{
	look_if_late(arg);
	return 0;
}

/* Wherever they are meanwhile, if their jobs are not over. */
static void give_back(struct ctl_host *h, usec_t at, usec_t took, usec_t late)
{
	struct ctl_job *job;

	h->lending.met = 0;
	TAILQ_FOREACH (job, &h->ctl->jobs.list, link) {
		if (job->state == STATE(DONE))
			continue;
		for (uint32_t i = 0; i < job->nr; i++)
			ctl_rank_given_back(&job->ranks[i], at, took, late);
	}
}

/* It is over, or over again: a guest may have run once more. */
static void ends(struct ctl_host *h, const struct owner_return *o)
{
	struct ctl_lending *l = &h->lending;
	usec_t late = l->limit && o->took > l->limit ? o->took - l->limit : 0;
	struct ctl_late *noted = ctl_late_of(l, o->wall);

	if (o->wall == l->met)
		give_back(h, o->wall, o->took, late);
	if (late && !noted)
		note(h, o->wall, NULL, LATE_UNHEARD);
	else if (!late && noted)
		noted->wall = 0; /* we only heard of its end too late */
	l->ended = *o;
}

/* How many of those that are told are no later than that one; 0: it is none of them. */
static uint32_t up_to(const struct ctl_lending *l, usec_t at)
{
	uint32_t n = l->nr_last;

	while (n && l->last[n - 1].wall != at)
		n--;
	return n;
}

/* Where the host's clock was set back what is new is earlier than what is known. */
static uint32_t how_many_known(const struct ctl_lending *l)
{
	uint32_t n = up_to(l, l->known);

	if (!n)
		while (n < l->nr_last && l->last[n].wall <= l->known)
			n++;
	return n;
}

void ctl_host_returns(struct ctl_host *h)
{
	struct ctl_lending *l = &h->lending;
	uint32_t known = how_many_known(l), ended = up_to(l, l->ended.wall);

	for (uint32_t i = 0; i < l->nr_last; i++) {
		const struct owner_return *o = &l->last[i];

		if (i >= known && l->heard)
			each_guest(h, meets, o->wall);
		if (i >= known)
			l->known = o->wall;
		if (o->took >= 0 && (i >= ended || (i + 1 == ended &&
						    o->took != l->ended.took)))
			ends(h, o);
	}
	l->heard = true;
	look_if_late(h);
}
