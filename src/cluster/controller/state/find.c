/* find.c - look-ups of jobs, ranks, keepers and moves, and questions about them */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cluster/controller/state/find.h"
#include "cluster/controller/state/state.h"
#include "core/clock.h"

/*
 * After a restart, agents are back within their longest pause (agent/agent.c) and a
 * handshake.
 */
#define COMING_AFTER (5 * USEC_PER_SEC)

/*
 * Time never goes back: if the clock is set back, time goes on all the same, until the
 * clock has caught up.
 */
usec_t ctl_now(void)
{
	static struct onward time;

	return onward(&time, clock_usec(CLOCK_REALTIME),
		      clock_usec(CLOCK_MONOTONIC));
}

const char *ctl_room_text(struct ctl *ctl)
{
	switch (store_room(ctl->store)) {
	case STORE_ROOM_NONE:
		return "the controller's disk is full: jobs run on, and new "
		       "ones are taken once there is room in its state-dir";
	case STORE_ROOM_LOW:
		return "the controller's disk is nearly full: make room in "
		       "its state-dir";
	default:
		return "";
	}
}

struct ctl_job *ctl_job_find(struct ctl *ctl, uint64_t id)
{
	struct ctl_job *job;

	HASH_FIND(by_id, ctl->jobs.by_id, &id, sizeof(id), job);
	return job;
}

struct ctl_rank *ctl_rank_at(struct ctl *ctl, struct in_addr address)
{
	struct ctl_rank *r;

	HASH_FIND(by_address, ctl->jobs.by_address, &address, sizeof(address),
		  r);
	return r;
}

bool ctl_rank_active(const struct ctl_rank *r)
{
	return r->state == STATE(STARTING) || r->state == STATE(RUNNING);
}

struct ctl_host *ctl_host_find(struct ctl *ctl, const char *name)
{
	struct ctl_host *h;

	HASH_FIND(by_name, ctl->hosts.by_name, name, strlen(name), h);
	return h;
}

bool ctl_host_coming(const struct ctl_host *h)
{
	return !h->agent && h->early &&
	       ctl_now() - h->lost_since < COMING_AFTER;
}

const char *ctl_job_name(const struct ctl_job *job)
{
	const Control__Submit *s = job->spec;
	const char *slash = strrchr(s->argv[0], '/');

	return *s->name ? s->name : slash ? slash + 1 : s->argv[0];
}

struct ctl_rank *ctl_rank_find(struct ctl *ctl, uint64_t job, uint32_t rank)
{
	struct ctl_job *found = ctl_job_find(ctl, job);

	return found && rank < found->nr ? &found->ranks[rank] : NULL;
}

/* A rank has only a few klinks, so no table is needed. */
static struct klink *klink_of_epoch(const struct ctl_rank *r, uint64_t epoch)
{
	struct klink *k;

	TAILQ_FOREACH (k, &r->klinks, kin)
		if (k->epoch == epoch && !k->gone)
			return k;
	return NULL;
}

struct klink *klink_find(struct ctl *ctl, uint64_t job, uint32_t rank,
			 uint64_t epoch)
{
	const struct ctl_rank *r = ctl_rank_find(ctl, job, rank);

	return r ? klink_of_epoch(r, epoch) : NULL;
}

static struct klink *stranger_at(const struct ctl_host *h, uint64_t job,
				 uint32_t rank, uint64_t epoch)
{
	struct klink *k;

	TAILQ_FOREACH (k, &h->strangers, kin)
		if (k->job_id == job && k->rank == rank && k->epoch == epoch &&
		    !k->gone)
			return k;
	return NULL;
}

struct klink *klink_at(const struct ctl_host *h, uint64_t job, uint32_t rank,
		       uint64_t epoch)
{
	const struct ctl_rank *r = ctl_rank_find(h->ctl, job, rank);
	/*
	 * A keeper that the host claimed before the rank came there is in the
	 * host's list.
	 */
	struct klink *k = stranger_at(h, job, rank, epoch);

	if (k || !r)
		return k;
	TAILQ_FOREACH (k, &r->klinks, kin)
		if (k->host == h && k->epoch == epoch && !k->gone)
			return k;
	return NULL;
}

struct klink *klink_of(const struct ctl_rank *r)
{
	return klink_of_epoch(r, r->epoch);
}

struct ctl_rank *klink_rank(const struct klink *k)
{
	return k->job ? &k->job->ranks[k->rank] : NULL;
}

bool klink_is_current(const struct klink *k)
{
	return k->job && klink_rank(k)->epoch == k->epoch &&
	       klink_rank(k)->host == k->host;
}

struct ctl_move *ctl_move_of(const struct klink *k)
{
	struct ctl_move *m = k->job ? k->job->ranks[k->rank].move : NULL;

	if (!m)
		return NULL;
	if (k->epoch == m->epoch && k->host == m->to)
		return m;
	return k->host == m->from && k->epoch < m->epoch &&
			       k->epoch == m->source_epoch
		       ? m
		       : NULL;
}

bool ctl_move_at_dest(const struct ctl_move *m, const struct klink *k)
{
	return k->epoch == m->epoch;
}

struct klink *ctl_move_dest(const struct ctl_move *m)
{
	return klink_of_epoch(m->rank, m->epoch);
}

struct klink *ctl_move_source(const struct ctl_move *m)
{
	return klink_of_epoch(m->rank, m->source_epoch);
}

bool ctl_move_undecided(const struct ctl_move *m)
{
	return m->doubt_dest && !m->committed;
}

bool klink_is_past(const struct klink *k)
{
	return k->job && k->epoch < klink_rank(k)->first_epoch;
}

uint64_t klink_whole_offset(const struct klink *k, const Keeper__Output *o)
{
	return output_begin(k->job->spec->requeues) + o->offset;
}

bool klink_is_doomed(const struct klink *k)
{
	const struct ctl_rank *r = klink_rank(k);

	return !r || k->kill_wanted || r->state == STATE(DONE) ||
	       klink_is_past(k) || r->job->spec->requeuing ||
	       (k->epoch > r->epoch && !ctl_move_of(k)) ||
	       (r->job->state == STATE(ENDING) && r->job->exit);
}

struct ctl_late *ctl_late_of(const struct ctl_lending *l, usec_t wall)
{
	for (uint32_t i = 0; i < CONTRACT_RETURNS; i++)
		if (l->lates[i].wall && l->lates[i].wall == wall)
			return (struct ctl_late *)&l->lates[i];
	return NULL;
}
