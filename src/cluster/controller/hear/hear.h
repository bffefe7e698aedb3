/*
 * hear.h - events from keepers and their agents
 */
#ifndef CLUSTER_CONTROLLER_HEAR_HEAR_H
#define CLUSTER_CONTROLLER_HEAR_HEAR_H

#include "cluster/controller/state/state.h"

/* ---- keeper.c */

void klink_gone(struct klink *k); /* the keeper is gone; frees k */
void klink_packet(struct ctl_host *h, const Control__KeeperName *name,
		  const ProtobufCBinaryData *data);
void klink_start_failed(struct klink *k, const Control__Failed *f);

/* ---- room.c */

void klinks_drained(struct ctl_host *h);

/* ---- start.c */

void klink_send_start(struct klink *k);
void klink_cannot_start(struct klink *k, int code, const char *why);

/* ---- believe.c */

bool klink_can_be_there(const struct klink *k);
bool ctl_host_has_room(const struct ctl_host *h);
int klink_exit_code(const Keeper__Exited *e);

#endif
