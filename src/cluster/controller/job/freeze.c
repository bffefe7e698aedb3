/*
 * freeze.c - ranks that stand still
 *
 * A rank's keeper freezes it on request (SUSPEND). The view has it frozen from the
 * request on, until the keeper says otherwise.  A moved rank runs when it lands.
 */
#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "core/log.h"

static void now_frozen(struct ctl_rank *r, bool on, bool told)
{
	if (on == (r->frozen_since != 0))
		return;
	ctl_rank_stands(r, on ? ctl_now() : 0);
	log_info("job=%llu rank=%u frozen=%s", (unsigned long long)r->job->id,
		 r->rank, on ? "yes" : "no");
	ctl_sched_frozen(r, on, told);
}

/* A rank that is being sent, or may be, is the engine's to stop. */
static bool is_sent(const struct ctl_move *m)
{
	return m && !m->landed && m->step != STEP_KEEPER &&
	       m->step != STEP_RECEIVING;
}

bool ctl_rank_freeze(struct ctl_rank *r, bool on, bool told)
{
	Keeper__Suspend q = KEEPER__SUSPEND__INIT;
	struct klink *k = klink_of(r);

	if (r->state != STATE(RUNNING) || is_sent(r->move) || !k || !k->heard ||
	    on == (r->frozen_since != 0))
		return false;
	q.on = on;
	klink_request(k, KEEPER__REQUEST__BODY_SUSPEND, &q);
	now_frozen(r, on, told);
	return true;
}

void ctl_rank_give_way(struct ctl_rank *r)
{
	const struct host *hosts = ctl_sched_view(r->job->ctl)->hosts;
	const struct job *job = r->job->model;

	if (job && host_evicts(&hosts[r->host->ix], job))
		ctl_rank_freeze(r, true, true);
}

/* Not if it was to be sent later, which has let it go. */
void ctl_rank_was_stopped(struct ctl_rank *r)
{
	if (r && !is_sent(r->move))
		ctl_rank_is_frozen(r, true);
}

void ctl_rank_is_frozen(struct ctl_rank *r, bool on)
{
	if (ctl_rank_active(r))
		now_frozen(r, on, true);
}
