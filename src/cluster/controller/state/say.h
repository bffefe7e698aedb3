/*
 * say.h - sending messages to peers
 */
#ifndef CLUSTER_CONTROLLER_STATE_SAY_H
#define CLUSTER_CONTROLLER_STATE_SAY_H

#include "cluster/controller/state/state.h"

/* Send a message; the connection of a peer that does not read is closed. */
void ctl_send(struct ctl_peer *p, uint64_t id, uint64_t re,
	      Control__Message__BodyCase what, void *body);
void ctl_send_ok(struct ctl_peer *p, uint64_t re);
void ctl_send_failed(struct ctl_peer *p, uint64_t re, int code, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));
/* Have the host's agent remove a record (cluster/keeper/record.h). */
void ctl_host_forget(struct ctl_host *h, Control__KeeperName *name);
/* Send a request; its id is its body case. */
void klink_request(struct klink *k, Keeper__Request__BodyCase what, void *body);
/* The same with a chosen id, which the answer repeats. */
void klink_request_as(struct klink *k, uint64_t id,
		      Keeper__Request__BodyCase what, void *body);
void klink_kill(struct klink *k);
/*
 * Is there room in the queue to the keeper's agent?  While there is none, large
 * messages that users cause (arguments of ranks, unions of barriers, input) wait until
 * klinks_drained().
 */
bool klink_has_room(const struct klink *k);
void ctl_move_verdict(struct ctl_move *m, struct klink *k, bool at);
/* Ask the agent of the rank's host whether the rank's keeper is alive. */
void ctl_rank_look(const struct ctl_rank *r);
/* The name by which the agent knows the keeper. */
void klink_name(const struct klink *k, struct klink_name *ret);
/*
 * Ask an agent about the keeper of r in that epoch, and for the commit record of
 * another epoch (0: none). Both are asked for again when the agent comes back.
 */
void ctl_look(struct ctl_host *h, const struct ctl_rank *r, uint64_t epoch,
	      uint64_t record);

#endif
