/*
 * hosts.h - hosts: their agents, what they report, draining
 */
#ifndef CLUSTER_CONTROLLER_HOSTS_HOSTS_H
#define CLUSTER_CONTROLLER_HOSTS_HOSTS_H

#include "cluster/controller/state/state.h"

void ctl_hosts_load(struct ctl *ctl);
int ctl_host_hello(struct ctl_peer *p, const Control__AgentInfo *info,
		   struct error *err);
/*
 * To be called after both HELLOs: compare the keepers that the host has with those it
 * should have.
 */
void ctl_host_compare(struct ctl_host *h, const Control__AgentInfo *info);
void ctl_host_report(struct ctl_host *h, const Control__HostReport *r);
void ctl_host_gone(struct ctl_host *h); /* its agent's connection has ended */
void ctl_host_drain(struct ctl_peer *p, uint64_t re, const Control__Drain *d);
/* From now on drain hosts by the file conf->calendar; -EINVAL if that has errors. */
int ctl_closings_begin(struct ctl *ctl, struct error *err) must_check;
/* Look what the calendar says of a host that has come, or that somebody opened. */
void ctl_closings_host(struct ctl_host *h);
void ctl_closings_end(struct ctl *ctl);
/* Take what the agent reports about the owner's terms; h->owner must be up to date. */
void ctl_host_lends(struct ctl_host *h, const Control__Lending *m);
/* Take the owner's returns, in h->lending.last, into the accounts of ranks. */
void ctl_host_returns(struct ctl_host *h);
/* The host's agent has said that it has no such keeper. */
void ctl_host_lacks(struct ctl_host *h, const Control__KeeperName *name);

#endif
