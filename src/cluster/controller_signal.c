/*
 * controller_signal.c - signals to the ranks of a job
 *
 * A rank that starts, changes hosts, or whose host does not answer takes no
 * signal; it waits here then, so that none is lost.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cluster/controller_priv.h"

#define ASK_SIGNAL KEEPER__REQUEST__BODY_SIGNAL

void ctl_rank_signal(struct ctl_rank *r, uint32_t signo)
{
	Keeper__Signal s = KEEPER__SIGNAL__INIT;
	struct klink *k = klink_of(r);

	if (r->state == STATE(DONE))
		return;
	if (r->state != STATE(RUNNING) || !k || !k->heard || !k->host->agent) {
		r->signals |= 1ull << (signo - 1);
		return;
	}
	s.signo = signo;
	klink_request_as(k, signo * CTL_SIGNAL_ID + ASK_SIGNAL, ASK_SIGNAL, &s);
}

void ctl_rank_signals(struct ctl_rank *r)
{
	uint64_t waiting = r->signals;

	r->signals = 0;
	for (uint32_t signo = 1; signo <= 64; signo++)
		if (waiting & 1ull << (signo - 1))
			ctl_rank_signal(r, signo);
}

/* It came while the rank changed hosts: again where it is then. */
void ctl_signal_failed(struct klink *k, uint64_t signo, const Keeper__Failed *f)
{
	struct ctl_rank *r = klink_rank(k);

	if (!signo || signo > 64 ||
	    !(f->code == -EAGAIN ||
	      (f->code == -ESRCH && !klink_is_current(k))))
		return;
	r->signals |= 1ull << (signo - 1);
	if (!r->move)
		ctl_rank_signals(r);
}

void ctl_job_signal(struct ctl_peer *p, uint64_t re, const Control__Signal *s)
{
	struct ctl_job *job = ctl_job_find(p->ctl, s->job);

	if (job->state == STATE(DONE)) {
		ctl_send_failed(p, re, -ESRCH, "job %llu has ended",
				(unsigned long long)job->id);
		return;
	}
	if (s->signo > 64) {
		ctl_send_failed(p, re, -EINVAL, "there is no signal %u",
				s->signo);
		return;
	}
	if (!s->signo)
		ctl_job_stop(job, "somebody ended it");
	else if (s->signo == SIGKILL || job->state == STATE(WAITING))
		ctl_job_fail(job, -1, 128 + s->signo, "killed by %s",
			     strsignal(s->signo));
	else
		for (uint32_t i = 0; i < job->nr; i++)
			ctl_rank_signal(&job->ranks[i], s->signo);
	ctl_send_ok(p, re);
}
