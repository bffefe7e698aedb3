/* end.c - end a move as soon as it is known which copy counts */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/move.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/plain.h"
#include "core/xalloc.h"

/* For so long the policy can do without knowing where a rank is that has landed. */
#define REPORT_TIMEOUT (2 * USEC_PER_SEC)

void ctl_move_set_why(struct ctl_move *m, const char *why)
{
	message_set_text(&m->report.why, xstrdup(why));
	plain_text(m->report.why); /* a host's words, for a terminal */
}

/*
 * Tell the policy of the move, once, and what it has cost.  The cost is in the source's
 * report, which may come some time after the decision; if no source can report, the
 * policy is told at once, and soon if it does not.
 */
static void tell_policy(struct ctl_move *m)
{
	const struct klink *source = ctl_move_source(m);
	bool comes = source && source->heard && !m->gone && !m->late;

	if (!m->committed || m->told || (comes && !m->report.total_usec))
		return;
	m->told = true;
	ctl_sched_migrated(m->rank);
}

/*
 * The policy hears of a user's move, too, and of one that an earlier controller began: it
 * may have planned one of the rank meanwhile, or that very one.
 */
static void tell_stays(struct ctl_move *m)
{
	struct ctl_rank *r = m->rank;

	ctl_rank_could_not_go(r, m->to);
	ctl_sched_stays(r, m->refused  ? STAYS_REFUSED
			   : m->policy ? STAYS_FAILED
				       : STAYS_UNTRIED);
}

/* Once the rank can be moved, ask for what was planned while it could not. */
static void ask_again(struct ctl_rank *r)
{
	if (r->planned)
		ctl_sched_stays(r, STAYS_UNTRIED);
	r->planned = false;
}

static int on_late(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_move *m = arg;

	m->timer = sd_event_source_disable_unref(m->timer);
	m->late = true;
	tell_policy(m);
	return 0;
}

void ctl_move_await_report(struct ctl_move *m)
{
	if (!m->told)
		loop_after(m->rank->job->ctl->event, &m->timer, REPORT_TIMEOUT,
			   on_late, m);
}

static void move_over(struct ctl_move *m, bool ok)
{
	struct ctl_rank *r = m->rank;
	struct ctl_host *from = m->from;
	char why[200];

	m->report.ok = ok;
	m->report.lost = r->lost;
	log_info("job=%" PRIu64 " rank=%u from=%s to=%s epoch=%" PRIu64
		 " moved=%s bytes=%" PRIu64 " downtime_us=%" PRIu64
		 " why=\"%s\"",
		 r->job->id, r->rank, from->name, m->to->name, m->epoch,
		 ok ? "yes" : "no", m->report.bytes, m->report.downtime_usec,
		 ctl_log_text(r->job->ctl, m->report.why));
	ctl_move_store(m, MOVE_OVER);
	tell_policy(m);
	if (ok)
		ctl_rank_cost(r, m->report.downtime_usec, m->report.bytes);
	ctl_waiters_tell(&m->askers, MESSAGE_BODY(MOVED), &m->report);
	ctl_waiters_tell(&from->drainers, MESSAGE_BODY(MOVED), &m->report);
	snprintf(why, sizeof(why), "rank %" PRIu64 ".%u: %s", r->job->id,
		 r->rank, m->report.why);
	if (!ok)
		tell_stays(m);
	ctl_move_destroy(m);
	ask_again(r);
	ctl_rank_signals(r);
	ctl_host_check_drained(from, ok ? NULL : why);
	ctl_sched_soon(r->job->ctl);
}

void ctl_move_failed(struct ctl_move *m, const char *why)
{
	struct klink *dest = ctl_move_dest(m);

	ctl_move_set_why(m, why);
	if (dest)
		klink_kill(dest);
	move_over(m, false);
}

void ctl_move_forget(const struct ctl_move *m)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	char job[24];

	if (ctl_move_source(m))
		return;
	snprintf(job, sizeof(job), "%" PRIu64, m->rank->job->id);
	name.job = job;
	name.rank = m->rank->rank;
	name.epoch = m->epoch;
	ctl_host_forget(m->from, &name);
}

void ctl_move_check(struct ctl_move *m)
{
	tell_policy(m);
	if (m->committed && m->dest_ended) {
		ctl_move_forget(m);
		ctl_rank_lost(m->rank, "its copy there ended before it ran");
		return;
	}
	/*
	 * The copy may have reported the rank's end before it was known that
	 * this copy counts.
	 */
	if (m->committed && !ctl_move_dest(m))
		ctl_rank_look(m->rank);
	/*
	 * The report comes from the source; if the source is lost, one is
	 * made without it.
	 */
	if (!m->landed || (!m->gone && ctl_move_source(m)))
		return;
	ctl_move_forget(m);
	move_over(m, true);
}

/* The destination's copy is the one that counts from now on. */
void ctl_move_committed(struct ctl_move *m)
{
	struct ctl_rank *r = m->rank;

	if (m->committed)
		return;
	m->committed = true;
	ctl_rank_moved(r, m->to, m->epoch, m->report.downtime_usec);
	if (!r->rank)
		ctl_stdin_moves(r->job);
	ctl_move_store(m, MOVE_COMMITTED);
	tell_policy(m);
}
