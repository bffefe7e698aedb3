/*
 * host.h - create, store and destroy hosts; hosts/host.c changes what is known of them
 */
#ifndef CLUSTER_CONTROLLER_STATE_HOST_H
#define CLUSTER_CONTROLLER_STATE_HOST_H

#include "cluster/controller/state/state.h"

/*
 * There must be none of that name yet.  The host is not stored: its key shows that it
 * exists.
 */
struct ctl_host *ctl_host_create(struct ctl *ctl, const char *name);
void ctl_host_destroy(struct ctl_host *h); /* when the controller ends */
/* Is it the own host of the job's user?  Then the job's ranks are not guests there. */
bool ctl_host_is_home(const struct ctl_host *h, const struct ctl_job *job);
/*
 * -EBUSY, with the reason, if the owner's terms let no guests in now and it is not the
 * user's own host.
 */
int ctl_host_admits(const struct ctl_host *h, const struct ctl_job *job,
		    struct error *err) must_check;
/*
 * The host has refused a guest with that code: until its next report it counts as
 * closed, or as full.
 */
void ctl_host_refuses(struct ctl_host *h, int code);
/*
 * The host is drained, or not any more (who, reason "" and times 0). Not stored by
 * this.
 */
void ctl_host_set_drained(struct ctl_host *h, const char *who,
			  const char *reason, usec_t at, usec_t by);
/* One line: "host h1 is being drained by ada: new disk". */
#define HOST_DRAIN_TEXT 640
void ctl_host_drain_text(const struct ctl_host *h, char ret[HOST_DRAIN_TEXT]);
void ctl_host_store(const struct ctl_host *h);

#endif
