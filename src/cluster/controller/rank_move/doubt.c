/*
 * doubt.c - decide which copy of a rank counts when its keepers cannot tell
 *
 * The rule is in cluster/conn/keeper.proto; it needs the source's answer, its commit
 * record, or certainty that neither can be had any more.
 */
#include <stdlib.h>

#include "cluster/controller/state/state.h"

#include "cluster/controller/job/job.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"

/* Decide by the source's status about a copy that is held at the destination. */
void ctl_move_judge(struct ctl_move *m, const Keeper__Status *s)
{
	bool runs = s->state == KEEPER__STATE__RUNNING ||
		    s->state == KEEPER__STATE__SUSPENDED ||
		    s->state == KEEPER__STATE__EXITED;

	if (s->committed >= m->epoch) {
		ctl_move_committed(m);
		ctl_move_verdict(m, ctl_move_dest(m), true);
		ctl_move_check(m);
	} else if (runs) {
		ctl_move_verdict(m, ctl_move_dest(m), false);
	}
	/* Otherwise it is MOVING: the source decides by itself and will report. */
}

static void look_for_record(struct ctl_move *m)
{
	ctl_look(m->from, m->rank, m->source_epoch, m->epoch);
}

/*
 * A keeper asks about a move that has ended here.  A source asks only after it has
 * written its commit record, so it has given the rank away.  A destination has the rank
 * unless a later commit is known: if its copy had run and moved on, it would not ask.
 */
static void settle_past(struct klink *k, const Keeper__MoveDoubt *d)
{
	struct ctl_move past = { .epoch = d->epoch };
	uint64_t now;

	if (!k->job)
		return;
	now = k->job->ranks[k->rank].epoch;
	ctl_move_verdict(&past, k,
			 d->source ? now >= d->epoch : now == d->epoch);
}

void ctl_move_doubt(struct klink *k, const Keeper__MoveDoubt *d)
{
	struct ctl_move *m = ctl_move_of(k);
	Keeper__StatusAsk ask = KEEPER__STATUS_ASK__INIT;
	struct klink *source;

	if (!m || d->epoch != m->epoch) {
		settle_past(k, d);
		return;
	}
	if (d->source == ctl_move_at_dest(m, k))
		return; /* that keeper is not the end that would ask */
	source = ctl_move_source(m);
	if (d->source) {
		m->doubt_source = true;
		ctl_move_committed(m);
		ctl_move_verdict(m, k, true);
		ctl_move_verdict(m, m->doubt_dest ? ctl_move_dest(m) : NULL,
				 true);
		ctl_move_check(m);
		return;
	}
	m->doubt_dest = true;
	if (m->committed)
		ctl_move_verdict(m, k, true);
	else if (source)
		klink_request(source, KEEPER__REQUEST__BODY_STATUS, &ask);
	else
		look_for_record(m);
}

/* The old keeper has died: its record says whether it gave the rank away before. */
void ctl_move_looked(struct ctl_host *h, const Control__KeeperGone *g)
{
	uint64_t id = strtoull(g->name->job, NULL, 10);
	struct ctl_rank *r = ctl_rank_find(h->ctl, id, g->name->rank);
	struct ctl_move *m = r ? r->move : NULL;

	if (!m || m->from != h || m->epoch != g->committed_epoch ||
	    m->committed)
		return;
	if (g->committed) {
		ctl_move_committed(m);
		ctl_move_verdict(m, ctl_move_dest(m), true);
		ctl_move_check(m);
		return;
	}
	ctl_move_verdict(m, ctl_move_dest(m), false);
	ctl_move_forget(m);
	ctl_rank_lost(m->rank, "its keeper died while it was being moved");
}

void ctl_move_source_missing(struct ctl_move *m)
{
	look_for_record(m);
}

void ctl_move_source_lost(struct ctl_move *m)
{
	m->gone |= m->committed;
	ctl_move_check(m);
}

/*
 * A move that has landed is over as soon as its source does not answer, because the
 * source gave the rank away before.  If the source's copy comes back, it is told so
 * (settle_past()).
 */
bool ctl_move_under_way(struct ctl_rank *r)
{
	if (r->move && r->move->landed && !r->move->from->agent)
		ctl_move_source_lost(r->move);
	return r->move;
}

bool ctl_move_keeper_gone(struct ctl_move *m, struct klink *k)
{
	if (ctl_move_at_dest(m, k)) {
		if (m->committed)
			return false; /* the rank is lost, as without a move */
		m->dest_ended = true;
		if (m->step != STEP_OUT && m->step != STEP_RESTORED)
			ctl_move_failed(m, "the keeper at the destination "
					   "died");
		return true; /* the source will report STAYED */
	}
	if (m->committed) {
		m->gone = true;
		ctl_move_check(m);
		return true;
	}
	look_for_record(m);
	return true;
}

/*
 * May this keeper make statements about the move?  Only if it is one of its two ends,
 * and not before the move has begun there.
 */
bool ctl_move_can_say(const struct ctl_move *m, const struct klink *k,
		      Keeper__Outcome outcome)
{
	bool sent = m->step == STEP_OUT || m->step == STEP_RESTORED;

	switch (outcome) {
	case KEEPER__OUTCOME__LANDED:
		return ctl_move_at_dest(m, k) && sent;
	case KEEPER__OUTCOME__DISCARDED:
		return ctl_move_at_dest(m, k);
	default:
		return !ctl_move_at_dest(m, k);
	}
}
