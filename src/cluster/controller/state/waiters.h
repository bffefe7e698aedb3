/*
 * waiters.h - who waits for an answer, and for what
 *
 * A request that cannot be answered at once is one row, {peer, its request's id},
 * in the list of what it waits for:
 *
 *	host->drainers  clients, for all ranks to have left it (stint drain --wait)
 *	move->askers    clients, for the end of the move (stint migrate)
 *	job->waiters    clients, for its end (stint wait)
 *	job->kept       clients, for more of what it prints (stint output -f)
 *	host->asked     clients, for an answer of the agent there, which is handed
 *	                on to them; and keepers whose start it has not answered
 *
 * A row goes when it is answered, when its peer has gone (ctl_waiters_gone()), and
 * with what it waits for (ctl_waiters_drop()); whoever waits need not be told from
 * whoever does not before something is sent.  All else is answered at once.
 */
#ifndef CLUSTER_CONTROLLER_STATE_WAITERS_H
#define CLUSTER_CONTROLLER_STATE_WAITERS_H

#include "cluster/controller/state/state.h"

/* p waits in that list for the answer to its request re; once, however often. */
void ctl_wait(struct ctl_waiters *list, struct ctl_peer *p, uint64_t re);
/* Send it to all in the list, who wait on. */
void ctl_waiters_tell(struct ctl_waiters *list, Control__Message__BodyCase what,
		      void *body);
void ctl_waiter_destroy(struct ctl_waiter *w);
/* What they wait for is no more, and they have heard what there was to hear. */
void ctl_waiters_drop(struct ctl_waiters *list);
/* That peer has gone, and hears no answer to anything. */
void ctl_waiters_gone(struct ctl_peer *p);

/* ---- what agents are asked */

/* Of a new request to an agent; never used twice. */
uint64_t ctl_request_number(struct ctl *ctl);

/*
 * Have the host's agent asked on behalf of p, whose request is re: the agent's
 * answer, of the kind that is expected or FAILED, is p's.  Where there is no
 * agent, or not any more, p is told so.  An answer is a host's word: what a
 * client prints of it is for plain_text() (core/plain.h) first.
 */
void ctl_ask_agent(struct ctl_host *h, struct ctl_peer *p, uint64_t re,
		   Control__Message__BodyCase what, void *body,
		   Control__Message__BodyCase expected);
/* KEEPER_START of that keeper, by its number. */
void ctl_ask_start(struct klink *k, void *start);
/*
 * A message of the agent there: is it an answer that somebody waits for?  A
 * client has then been answered; *start is the keeper whose start it answers, or
 * NULL.
 */
bool ctl_agent_answers(struct ctl_host *h, Control__Message *m,
		       struct klink **start);
/* The agent has gone: clients hear that it does not answer.  Keepers that are to
 * start wait on, it may come back. */
void ctl_asked_gone(struct ctl_host *h);

/* ---- hosts that are drained */

/* Ranks left there, or moved: answer who waits for it to be empty. */
void ctl_host_check_drained(struct ctl_host *h, const char *failed);
/* Answer who waits for it to be empty: why "" if it is, else why it will not be. */
void ctl_host_drained(struct ctl_host *h, const char *why);

#endif
