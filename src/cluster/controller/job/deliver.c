/* deliver.c - deliver a rank's signals: those that wait, and the one under way */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"

static void signals_store(const struct ctl_rank *r)
{
	struct store_signals row = { .job = r->job->id,
				     .rank = r->rank,
				     .waiting = r->signals.waiting,
				     .sent = r->signals.sent,
				     .number = r->signals.number };

	store_put_signals(r->job->ctl->store, &row);
}

void ctl_rank_signal(struct ctl_rank *r, uint32_t signo)
{
	if (r->state == STATE(DONE))
		return;
	r->signals.waiting |= 1ull << (signo - 1);
	signals_store(r);
	ctl_rank_signals(r);
}

void ctl_rank_signals(struct ctl_rank *r)
{
	Keeper__Signal s = KEEPER__SIGNAL__INIT;
	struct klink *k = klink_of(r);

	if (!r->signals.waiting || r->signals.sent ||
	    r->state != STATE(RUNNING) || !k || !k->heard || !k->host->agent)
		return;
	r->signals.sent = ffsll((long long)r->signals.waiting);
	r->signals.waiting &= r->signals.waiting - 1;
	r->signals.number++;
	r->signals.epoch = k->epoch;
	signals_store(r);
	s.signo = r->signals.sent;
	s.number = r->signals.number;
	klink_request_as(
		k, s.number * CTL_SIGNAL_ID + KEEPER__REQUEST__BODY_SIGNAL,
		KEEPER__REQUEST__BODY_SIGNAL, &s);
}

static void wait_again(struct ctl_rank *r)
{
	r->signals.waiting |= 1ull << (r->signals.sent - 1);
}

void ctl_signals_known(struct ctl_rank *r, uint64_t number)
{
	if (r->signals.sent) {
		if (number < r->signals.number)
			wait_again(r);
		r->signals.sent = 0;
		signals_store(r);
	}
	ctl_rank_signals(r);
}

/*
 * The rank, if this is its keeper's answer to the signal sent last; else
 * NULL.
 */
static struct ctl_rank *answered(struct klink *k, uint64_t number)
{
	struct ctl_rank *r = klink_rank(k);

	return r->signals.sent && r->signals.number == number &&
			       r->signals.epoch == k->epoch
		       ? r
		       : NULL;
}

void ctl_signal_taken(struct klink *k, uint64_t number)
{
	struct ctl_rank *r = answered(k, number);

	if (!r)
		return;
	r->signals.sent = 0;
	signals_store(r);
	ctl_rank_signals(r);
}

/*
 * The signal came while the rank changed hosts: send it again to where the rank is
 * then.
 */
void ctl_signal_failed(struct klink *k, uint64_t number,
		       const Keeper__Failed *f)
{
	struct ctl_rank *r = answered(k, number);
	bool again = f->code == -EAGAIN ||
		     (f->code == -ESRCH && !klink_is_current(k));

	if (!r)
		return;
	if (again)
		wait_again(r);
	r->signals.sent = 0;
	signals_store(r);
	if (!again || !r->move)
		ctl_rank_signals(r);
}

void ctl_signals_drop(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		struct rank_signals *s = &job->ranks[i].signals;

		if (!s->waiting && !s->sent)
			continue;
		s->waiting = s->sent = 0;
		signals_store(&job->ranks[i]);
	}
}

static void load_signals(void *arg, const struct store_signals *row)
{
	struct ctl_job *job = arg;
	struct ctl_rank *r;

	if (row->rank >= job->nr || row->sent > 64)
		return;
	r = &job->ranks[row->rank];
	r->signals.waiting = row->waiting;
	r->signals.sent = row->sent;
	r->signals.number = row->number;
}

void ctl_signals_load(struct ctl_job *job)
{
	store_each_signals(job->ctl->store, job->id, load_signals, job);
}
