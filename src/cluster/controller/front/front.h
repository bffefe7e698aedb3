/*
 * front.h - connections of agents and clients, and their requests
 */
#ifndef CLUSTER_CONTROLLER_FRONT_FRONT_H
#define CLUSTER_CONTROLLER_FRONT_FRONT_H

#include "cluster/controller/state/state.h"

enum { CTL_CONNS_MAX = 4096 }; /* at each listening socket */

/* Serve at all addresses of the settings; keys may be revoked from now on. */
int ctl_front_open(struct ctl *ctl, struct error *err) must_check;
/* Nobody can connect any more, and who is connected hears no more. */
void ctl_front_close(struct ctl *ctl);
/* Once no job points to a peer. */
void ctl_front_destroy(struct ctl *ctl);

#endif
