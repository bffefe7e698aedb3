/*
 * waiters.h - requests that are answered later
 *
 * A request that cannot be answered at once becomes a row {peer, id of its request} in
 * the list of what it waits for:
 *
 *	host->drainers  clients, for all ranks to have left it (stint drain --wait)
 *	move->askers    clients, for the end of the move (stint migrate)
 *	job->waiters    clients, for its end (stint wait)
 *	job->kept       clients, for more of what it prints (stint output -f)
 *	host->asked     clients, for an answer of the agent there, which is handed
 *	                on to them; and keepers whose start it has not answered
 *
 * A row is removed when it is answered, when its peer has gone (ctl_waiters_gone()),
 * and when what it waits for is gone (ctl_waiters_drop()). All other requests are
 * answered at once.
 */
#ifndef CLUSTER_CONTROLLER_STATE_WAITERS_H
#define CLUSTER_CONTROLLER_STATE_WAITERS_H

#include "cluster/controller/state/state.h"

/* Add p's request re to the list; a second call for the same request adds nothing. */
void ctl_wait(struct ctl_waiters *list, struct ctl_peer *p, uint64_t re);
/* Send a message to all in the list, who keep waiting. */
void ctl_waiters_tell(struct ctl_waiters *list, Control__Message__BodyCase what,
		      void *body);
void ctl_waiter_destroy(struct ctl_waiter *w);
/* Remove all from the list: what they waited for is gone, and they have been told. */
void ctl_waiters_drop(struct ctl_waiters *list);
/* The peer has gone: remove all that it waits for. */
void ctl_waiters_gone(struct ctl_peer *p);

/* ---- what agents are asked */

/* The number of a new request to an agent; never used twice. */
uint64_t ctl_request_number(struct ctl *ctl);

/*
 * Ask the host's agent on behalf of p, whose request is re.  The agent's answer, of the
 * expected kind or FAILED, is passed on to p.  If there is no agent, or it goes away, p
 * is told so.  Answers come from a host: a client must pass texts of them through
 * plain_text() (core/plain.h) before it prints them.
 */
void ctl_ask_agent(struct ctl_host *h, struct ctl_peer *p, uint64_t re,
		   Control__Message__BodyCase what, void *body,
		   Control__Message__BodyCase expected);
/* Send KEEPER_START for that keeper, with a number of its own. */
void ctl_ask_start(struct klink *k, void *start);
/*
 * A message has come from the agent: is it an answer that is waited for?  If so, a
 * waiting client has been answered; *start is the keeper whose start it answers, or
 * NULL.
 */
bool ctl_agent_answers(struct ctl_host *h, Control__Message *m,
		       struct klink **start);
/*
 * The agent has gone: tell waiting clients that it does not answer.  Keepers that are
 * to be started keep waiting, because it may come back.
 */
void ctl_asked_gone(struct ctl_host *h);

/* ---- hosts that are drained */

/*
 * To be called when ranks have left the host, or a move has failed: answer the requests
 * that wait for it to be empty, if they can be answered now.
 */
void ctl_host_check_drained(struct ctl_host *h, const char *failed);
/*
 * Answer the requests that wait for the host to be empty.  why: "" if it is, else why
 * it will not be.
 */
void ctl_host_drained(struct ctl_host *h, const char *why);

#endif
