/*
 * front.h - connections of agents and clients, and their requests
 */
#ifndef CLUSTER_CONTROLLER_FRONT_FRONT_H
#define CLUSTER_CONTROLLER_FRONT_FRONT_H

#include "cluster/controller/state/state.h"

enum { CTL_CONNS_MAX = 4096 }; /* connections at each listening socket */

/* Listen at all addresses of the settings, and watch for revoked keys. */
int ctl_front_open(struct ctl *ctl, struct error *err) must_check;
/* Close all connections and listening sockets. */
void ctl_front_close(struct ctl *ctl);
/* Free it all; to be called once no job points to a peer. */
void ctl_front_destroy(struct ctl *ctl);

#endif
