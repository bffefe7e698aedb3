/*
 * move.c - moving one rank, as the controller sees it
 *
 *	KEEPER     a new keeper is started at the destination
 *	RECEIVING  it gets ready and says on which port it waits
 *	OUT        the old keeper sends; from here on the two keepers decide between
 *	           themselves, and the controller only learns the outcome
 *
 * The rank belongs to the destination from the moment the source has written its commit
 * record; LANDED, GONE and a source's MOVE_DOUBT all prove that.  See
 * cluster/conn/keeper.proto for the protocol and its rule for doubts.  A restarted
 * controller reads from the store which moves were under way (RESTORED) and learns from
 * the keepers how far they are.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/move.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/plain.h"

/*
 * Longer than the agent waits for its keeper, whose reason says more than ours would.
 */
#define PREPARE_TIMEOUT (KEEPER_PATIENCE + 15 * USEC_PER_SEC)

/* ---- its beginning ---- */

static int on_timeout(sd_event_source *src, uint64_t usec, void *arg)
{
	ctl_move_failed(arg, "the destination could not be made ready in time");
	return 0;
}

/* An owner may wait, and the destination is not ready yet. */
static int on_stand(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_move *m = arg;

	m->stand = sd_event_source_disable_unref(m->stand);
	ctl_rank_give_way(m->rank);
	return 0;
}

/* When a quarter of the time to leave is left. */
static void stand_in_time(struct ctl_move *m)
{
	usec_t left = m->bounds.by - ctl_now();

	if (m->bounds.by)
		loop_after(m->rank->job->ctl->event, &m->stand,
			   left > 0 ? left - left / 4 : 0, on_stand, m);
}

/* Can the rank be moved away from its host at all? */
static int check_rank(struct ctl_rank *r, struct ctl_host *to,
		      struct error *err)
{
	if (r->state != STATE(RUNNING))
		return error_set(err, -ESRCH,
				 "rank %" PRIu64 ".%u is not "
				 "running",
				 r->job->id, r->rank);
	if (ctl_move_under_way(r))
		return error_set(err, -EBUSY,
				 "rank %" PRIu64 ".%u is being moved to %s "
				 "already",
				 r->job->id, r->rank, r->move->to->name);
	if (r->host == to)
		return error_set(err, -EALREADY,
				 "rank %" PRIu64 ".%u is on "
				 "%s already",
				 r->job->id, r->rank, to->name);
	return 0;
}

/* Does the host take any ranks of others now? */
static int check_destination(struct ctl_host *to, const struct ctl_job *job,
			     struct error *err)
{
	char text[HOST_DRAIN_TEXT];

	if (!to->agent)
		return error_set(err, -EHOSTDOWN,
				 "host %s does not answer: is its agent "
				 "running?",
				 to->name);
	if (to->drain) {
		ctl_host_drain_text(to, text);
		return error_set(err, -EBUSY, "%s", text);
	}
	return ctl_host_admits(to, job, err) < 0 ? -EBUSY : 0;
}

static int check_move(struct ctl_rank *r, struct ctl_host *to,
		      struct error *err)
{
	int k = check_rank(r, to, err);

	if (k < 0)
		return k;
	if (ctl_host_coming(to) || ctl_host_coming(r->host))
		return error_set(err, -EAGAIN,
				 "the controller has just been started, and "
				 "host %s has not come back to it yet",
				 (to->agent ? r->host : to)->name);
	k = check_destination(to, r->job, err);
	if (k < 0)
		return k;
	if (strcmp(to->net, r->host->net))
		return error_set(err, -EXDEV,
				 "capsules are %s on %s and %s on %s, and a "
				 "rank keeps its network",
				 r->host->net, r->host->name, to->net,
				 to->name);
	if (!klink_of(r) || !klink_of(r)->heard)
		return error_set(err, -EHOSTDOWN,
				 "host %s, where the rank is, does not answer",
				 r->host->name);
	k = ctl_limit_host(r->job, to, err);
	return k < 0 ? k : ctl_user_moves(r->job, err);
}

int ctl_move_begin(struct ctl_rank *r, struct ctl_host *to,
		   struct ctl_move_bounds bounds,
		   const struct ctl_move_asker *asker, struct error *err)
{
	struct ctl *ctl = r->job->ctl;
	struct ctl_move *m;
	int k = check_move(r, to, err);

	if (k < 0)
		return k;
	m = ctl_move_create(r, to, ctl_rank_next_epoch(r));
	m->source_epoch = r->epoch;
	m->bounds = bounds;
	m->policy = !asker;
	if (asker) {
		ctl_wait(&m->askers, asker->peer, asker->re);
		ctl_move_set_key(m, &asker->key);
	}
	if (getrandom(m->key, sizeof(m->key), 0) != sizeof(m->key)) {
		ctl_move_destroy(m);
		return error_set(err, -EIO, "getrandom failed");
	}
	ctl_move_store(m, MOVE_BEGUN);
	log_info("job=%" PRIu64 " rank=%u from=%s to=%s epoch=%" PRIu64
		 " move=begun",
		 r->job->id, r->rank, m->from->name, to->name, m->epoch);
	loop_after(ctl->event, &m->timer, PREPARE_TIMEOUT, on_timeout, m);
	stand_in_time(m);
	m->step = STEP_KEEPER;
	klink_start(r, to, m->epoch);
	return 0;
}

static void send_receive(struct ctl_move *m, struct klink *k)
{
	const Control__Submit *s = m->rank->job->spec;
	Keeper__Receive q = KEEPER__RECEIVE__INIT;
	Keeper__Capsule capsule;
	struct error err;

	if (ctl_user_moves(m->rank->job, &err) < 0) {
		ctl_move_failed(m, err.text);
		return;
	}

	klink_capsule(m->rank, m->to, &capsule);
	q.epoch = m->epoch;
	q.listen = m->to->address;
	q.key.data = m->key;
	q.key.len = sizeof(m->key);
	q.capsule = &capsule;
	q.uid = s->uid;
	q.gid = s->gid;
	q.groups = s->groups;
	q.n_groups = s->n_groups;
	klink_request(k, KEEPER__REQUEST__BODY_RECEIVE, &q);
	klink_capsule_clear(&capsule);
	m->step = STEP_RECEIVING;
}

/*
 * The keeper reports that the rank runs there, though the move should be under way: it
 * never got the request.
 */
static bool never_began(const struct ctl_move *m, const Keeper__Status *s)
{
	return (s->state == KEEPER__STATE__RUNNING ||
		s->state == KEEPER__STATE__SUSPENDED) &&
	       s->epoch < m->epoch && s->committed < m->epoch;
}

/*
 * An earlier controller may have acknowledged the events LANDED and GONE and then been
 * killed; the keepers' states say the same.
 */
static void dest_hello(struct ctl_move *m, struct klink *k,
		       const Keeper__Status *s)
{
	switch (s->state) {
	case KEEPER__STATE__EMPTY:
		if (m->step == STEP_RESTORED || m->step == STEP_OUT ||
		    !ctl_move_source(m))
			klink_kill(k);
		else
			send_receive(m, k);
		break;
	case KEEPER__STATE__RUNNING:
	case KEEPER__STATE__SUSPENDED:
	case KEEPER__STATE__EXITED:
		if (!ctl_move_can_say(m, k, KEEPER__OUTCOME__LANDED))
			return;
		ctl_move_committed(m);
		m->landed = true;
		ctl_move_await_report(m);
		ctl_move_check(m);
		break;
	default:
		break; /* its events will tell the rest */
	}
}

void ctl_move_hello(struct ctl_move *m, struct klink *k,
		    const Keeper__Status *s)
{
	if (ctl_move_at_dest(m, k)) {
		dest_hello(m, k, s);
	} else if (s->state == KEEPER__STATE__LEFT &&
		   s->committed >= m->epoch) {
		m->gone = true;
		ctl_move_committed(m);
		ctl_move_verdict(m, m->doubt_dest ? ctl_move_dest(m) : NULL,
				 true);
		ctl_move_check(m);
	} else if (ctl_move_undecided(m)) {
		ctl_move_judge(m, s);
	} else if (m->step == STEP_RESTORED && never_began(m, s)) {
		ctl_move_failed(m, "the controller was restarted before it "
				   "began");
	} else if (m->step == STEP_OUT && never_began(m, s)) {
		ctl_move_failed(m, "the request got lost on its way");
	}
}

/*
 * Time until the deadline, at least the smallest: one that has passed is still a
 * deadline.
 */
static uint64_t time_left(usec_t by)
{
	usec_t now = ctl_now();

	return !by ? 0 : by > now ? (uint64_t)(by - now) : 1;
}

void ctl_move_receiving(struct ctl_move *m, const Keeper__Receiving *r)
{
	Keeper__MigrateOut q = KEEPER__MIGRATE_OUT__INIT;
	struct klink *source = ctl_move_source(m);

	if (m->step != STEP_RECEIVING || r->epoch != m->epoch)
		return;
	if (!r->port || r->port > UINT16_MAX) {
		ctl_move_failed(m, "the destination names no port");
		return;
	}
	if (!source || !source->heard) {
		ctl_move_failed(m, "the host where the rank is does not "
				   "answer");
		return;
	}
	m->timer = sd_event_source_disable_unref(m->timer);
	m->stand = sd_event_source_disable_unref(m->stand);
	m->step = STEP_OUT;
	q.epoch = m->epoch;
	q.address = m->to->address;
	q.port = r->port;
	q.key.data = m->key;
	q.key.len = sizeof(m->key);
	q.budget_usec = m->bounds.budget;
	q.leave_usec = time_left(m->bounds.by);
	ctl_rank_is_frozen(m->rank, false);
	klink_request(source, KEEPER__REQUEST__BODY_MIGRATE_OUT, &q);
}

void ctl_move_progress(struct ctl_move *m, Keeper__MoveProgress *p)
{
	Control__Progress tell = CONTROL__PROGRESS__INIT;

	if (p->epoch != m->epoch)
		return;
	tell.job = m->rank->job->id;
	tell.rank = m->rank->rank;
	plain_text(p->text);
	tell.text = p->text;
	ctl_waiters_tell(&m->askers, MESSAGE_BODY(PROGRESS), &tell);
}

/* ---- what became of it ---- */

static void take_report(struct ctl_move *m, const Keeper__MoveReport *r)
{
	Control__Moved *to = &m->report;

	if (!r || !r->total_usec)
		return;
	to->rounds = r->rounds;
	to->bytes = r->bytes;
	to->pages_last = r->pages_last;
	to->bytes_held = r->bytes_held;
	to->downtime_usec = r->downtime_usec;
	to->total_usec = r->total_usec;
	to->predicted_usec = r->predicted_usec;
	to->freeze_usec = r->freeze_usec;
	to->last_usec = r->last_usec;
	to->capture_usec = r->capture_usec;
	to->restore_usec = r->restore_usec;
	to->commit_usec = r->commit_usec;
	to->threads = r->threads;
	to->tracked = r->tracked;
	to->written = r->written;
	to->written_in_usec = r->written_in_usec;
	ctl_rank_was_seen(m->rank, to);
	if (m->committed)
		ctl_rank_stood_still(m->rank, r->downtime_usec);
}

static void rank_landed(struct ctl_move *m, const Keeper__MoveDone *d)
{
	struct ctl_rank *r = m->rank;

	ctl_move_committed(m);
	m->landed = true;
	ctl_rank_has_pid(r, d->pid);
	/*
	 * Signals sent to the old keeper were reported by it, or moved with the
	 * rank.
	 */
	if (r->signals.epoch != r->epoch)
		ctl_signals_known(r, d->signals);
	if (!r->rank)
		ctl_stdin_wanted(r->job, d->stdin_offset);
	ctl_move_verdict(m, m->doubt_source ? ctl_move_source(m) : NULL, true);
	ctl_move_await_report(m);
}

void ctl_move_done(struct klink *k, const Keeper__MoveDone *d)
{
	struct ctl_move *m = ctl_move_of(k);

	if (!m || d->epoch != m->epoch || !ctl_move_can_say(m, k, d->outcome))
		return;
	take_report(m, d->report);
	switch (d->outcome) {
	case KEEPER__OUTCOME__LANDED:
		rank_landed(m, d);
		break;
	case KEEPER__OUTCOME__GONE:
		if (!m->gone)
			ctl_rank_used(m->rank, d->cpu_usec, d->max_rss);
		m->gone = true;
		ctl_move_committed(m);
		break;
	case KEEPER__OUTCOME__STAYED:
		m->refused = d->refused;
		ctl_move_failed(m, d->why);
		return;
	case KEEPER__OUTCOME__DISCARDED:
		/*
		 * The destination's reason is used unless the source has given
		 * one before.
		 */
		if (!*m->report.why)
			ctl_move_set_why(m, d->why);
		m->dest_ended = true;
		break;
	case KEEPER__OUTCOME__LOST:
		ctl_rank_lost(m->rank, d->why);
		return;
	default:
		return;
	}
	ctl_move_check(m);
}
