/*
 * signals.c - signals that wait, if they are more than a thread's list has room for
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "move/restore/restore.h"

#define SIGNALS_FEW 64 /* fit into a list */
#define QUEUING	    "queuing a pending signal"

static int take_info(const Move__Signal *s, siginfo_t *ret, struct error *err)
{
	if (s->info.len != sizeof(*ret))
		return error_set(err, -EPROTO, "malformed siginfo");
	memcpy(ret, s->info.data, sizeof(*ret));
	return ret->si_signo > 0 && ret->si_signo <= 64
		       ? 0
		       : error_set(err, -EPROTO, "signal without a number");
}

/*
 * Signals that do not fit into the threads' lists are queued beforehand by the leader,
 * in as many lists as it takes. For another thread it may not queue signals that seem
 * to come from the kernel or from tgkill(); then all with that number stay together, in
 * order.
 */
uint64_t restore_by_leader(Move__Signal *const *s, size_t n, bool own)
{
	uint64_t mask = n > SIGNALS_FEW ? ~UINT64_C(0) : 0;
	siginfo_t info;

	for (size_t i = 0; i < n && mask && !own; i++)
		if (take_info(s[i], &info, NULL) == 0 &&
		    (info.si_code >= 0 || info.si_code == SI_TKILL))
			mask &= ~(UINT64_C(1) << (info.si_signo - 1));
	return mask;
}

static int queue_many(struct landing *l, Move__Signal *const *s, size_t n,
		      bool own, int32_t pid, int32_t tid, struct error *err)
{
	uint64_t mask = restore_by_leader(s, n, own), at, p = (uint64_t)pid,
		 t = (uint64_t)tid;
	int r = 0;

	for (size_t i = 0; mask && i < n && !r; i++) {
		siginfo_t info;
		uint64_t signo;

		r = take_info(s[i], &info, err);
		if (r < 0 || !(mask >> (info.si_signo - 1) & 1))
			continue;
		signo = (uint64_t)info.si_signo;
		r = landing_data(l, &info, sizeof(info), &at, err);
		if (!r && tid)
			r = landing_call(l, QUEUING, SYS_rt_tgsigqueueinfo, p,
					 t, signo, at, 0, 0, err);
		else if (!r)
			r = landing_call(l, QUEUING, SYS_rt_sigqueueinfo, p,
					 signo, at, 0, 0, 0, err);
	}
	return r;
}

void restore_lift_signals(const struct landing *l)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	(void)!prlimit(l->pid, RLIMIT_SIGPENDING, &none, NULL);
}

int restore_many_signals(struct landing *l, const Move__State *s,
			 struct error *err)
{
	int32_t pid = s->thread[0]->tid;
	int r = 0;

	/*
	 * put_limit() sets the right one; without privilege the limit stays as it is
	 * here
	 */
	restore_lift_signals(l);
	for (size_t i = 0; i < s->n_thread && !r; i++) {
		const Move__Thread *t = s->thread[i];

		r = queue_many(l, t->pending, t->n_pending, i == 0, pid, t->tid,
			       err);
	}
	return r < 0 ? r
		     : queue_many(l, s->pending, s->n_pending, true, pid, 0,
				  err);
}
