/*
 * controller_signal.c - signals to the ranks of a job
 *
 * A rank that starts, changes hosts, or whose host does not answer takes no
 * signal; it waits here, and in the store, so that none is lost.  Nor is any
 * taken twice: a rank is sent one at a time, with a number, and who cannot say
 * whether it arrived (a connection broke, a controller was killed) asks the
 * rank's keeper for the number of the last one that it was given.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

#define ASK_SIGNAL KEEPER__REQUEST__BODY_SIGNAL

static void signals_store(const struct ctl_rank *r)
{
	struct store_signals row = { .job = r->job->id,
				     .rank = r->rank,
				     .waiting = r->signals,
				     .sent = r->signal_sent,
				     .number = r->signal_number };

	store_put_signals(r->job->ctl->store, &row);
}

static void load_signals(void *arg, const struct store_signals *row)
{
	struct ctl_job *job = arg;
	struct ctl_rank *r;

	if (row->rank >= job->nr || row->sent > 64)
		return;
	r = &job->ranks[row->rank];
	r->signals = row->waiting;
	r->signal_sent = row->sent;
	r->signal_number = row->number;
}

void ctl_signals_load(struct ctl_job *job)
{
	store_each_signals(job->ctl->store, job->id, load_signals, job);
}

static void wait_again(struct ctl_rank *r)
{
	r->signals |= 1ull << (r->signal_sent - 1);
}

void ctl_rank_signals(struct ctl_rank *r)
{
	Keeper__Signal s = KEEPER__SIGNAL__INIT;
	struct klink *k = klink_of(r);

	if (!r->signals || r->signal_sent || r->state != STATE(RUNNING) || !k ||
	    !k->heard || !k->host->agent)
		return;
	r->signal_sent = ffsll((long long)r->signals);
	r->signals &= r->signals - 1;
	r->signal_number++;
	r->signal_epoch = k->epoch;
	signals_store(r);
	s.signo = r->signal_sent;
	s.number = r->signal_number;
	klink_request_as(k, s.number * CTL_SIGNAL_ID + ASK_SIGNAL, ASK_SIGNAL,
			 &s);
}

void ctl_rank_signal(struct ctl_rank *r, uint32_t signo)
{
	if (r->state == STATE(DONE))
		return;
	r->signals |= 1ull << (signo - 1);
	signals_store(r);
	ctl_rank_signals(r);
}

void ctl_signals_known(struct ctl_rank *r, uint64_t number)
{
	if (r->signal_sent) {
		if (number < r->signal_number)
			wait_again(r);
		r->signal_sent = 0;
		signals_store(r);
	}
	ctl_rank_signals(r);
}

/* Its keeper's answer to the one that it was sent last? */
static struct ctl_rank *answered(struct klink *k, uint64_t number)
{
	struct ctl_rank *r = klink_rank(k);

	return r->signal_sent && r->signal_number == number &&
			       r->signal_epoch == k->epoch
		       ? r
		       : NULL;
}

void ctl_signal_taken(struct klink *k, uint64_t number)
{
	struct ctl_rank *r = answered(k, number);

	if (!r)
		return;
	r->signal_sent = 0;
	signals_store(r);
	ctl_rank_signals(r);
}

/* It came while the rank changed hosts: again where it is then. */
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
	r->signal_sent = 0;
	signals_store(r);
	if (!again || !r->move)
		ctl_rank_signals(r);
}

static void end_by(const struct ctl_peer *p, struct ctl_job *job)
{
	char *why = xasprintf("%s ended it", p->name);

	ctl_job_stop(job, why);
	free(why);
}

/* To one rank; 0, or why not. */
static int signal_one(struct ctl_job *job, const Control__Signal *s,
		      struct error *err)
{
	unsigned long long id = job->id;

	if (!s->signo)
		return error_set(err, -EINVAL,
				 "to end a rank is to end its job, %llu", id);
	if (s->rank >= job->nr)
		return error_set(err, -ESRCH,
				 "job %llu has ranks 0 to %u and no %u", id,
				 job->nr - 1, s->rank);
	if (job->state == STATE(WAITING))
		return error_set(err, -ESRCH, "job %llu has not started", id);
	if (job->ranks[s->rank].state == STATE(DONE))
		return error_set(err, -ESRCH, "rank %llu.%u has ended", id,
				 s->rank);
	ctl_rank_signal(&job->ranks[s->rank], s->signo);
	return 0;
}

static void signal_all(struct ctl_peer *p, struct ctl_job *job, uint32_t signo)
{
	if (!signo)
		end_by(p, job);
	else if (signo == SIGKILL || job->state == STATE(WAITING))
		ctl_job_fail(job, -1, 128 + signo,
			     "%s killed it with signal %u (%s)", p->name, signo,
			     strsignal(signo));
	else
		for (uint32_t i = 0; i < job->nr; i++)
			ctl_rank_signal(&job->ranks[i], signo);
}

void ctl_job_signal(struct ctl_peer *p, uint64_t re, const Control__Signal *s)
{
	struct ctl_job *job = ctl_job_find(p->ctl, s->job);
	struct error err;
	int r = 0;

	if (job->state == STATE(DONE))
		r = error_set(&err, -ESRCH, "job %llu has ended",
			      (unsigned long long)job->id);
	else if (s->signo > 64)
		r = error_set(&err, -EINVAL, "there is no signal %u", s->signo);
	else if (s->one)
		r = signal_one(job, s, &err);
	else
		signal_all(p, job, s->signo);
	if (r < 0)
		ctl_send_failed(p, re, r, "%s", err.text);
	else
		ctl_send_ok(p, re);
}
