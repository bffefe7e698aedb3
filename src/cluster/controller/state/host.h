/*
 * host.h - a host: made, stored, gone; what is known of it, hosts/host.c changes
 */
#ifndef CLUSTER_CONTROLLER_STATE_HOST_H
#define CLUSTER_CONTROLLER_STATE_HOST_H

#include "cluster/controller/state/state.h"

/* Of that name there is none yet.  Not stored: its key says that it exists. */
struct ctl_host *ctl_host_create(struct ctl *ctl, const char *name);
void ctl_host_destroy(struct ctl_host *h); /* when the controller ends */
/* Is it its user's own?  Then its ranks are no guests there. */
bool ctl_host_is_home(const struct ctl_host *h, const struct ctl_job *job);
/*
 * -EBUSY, and why, if its owner's terms let no guests in now, and its user is not
 * at home there.
 */
int ctl_host_admits(const struct ctl_host *h, const struct ctl_job *job,
		    struct error *err) must_check;
/*
 * It has refused a guest, by that code: it counts as closed, or as full, until its
 * next report.
 */
void ctl_host_refuses(struct ctl_host *h, int code);
/* It is drained, or not any more (all of it empty): not stored. */
void ctl_host_set_drained(struct ctl_host *h, const char *who,
			  const char *reason, usec_t at, usec_t by);
/* One line: "host h1 is being drained by ada: new disk". */
#define HOST_DRAIN_TEXT 640
void ctl_host_drain_text(const struct ctl_host *h, char ret[HOST_DRAIN_TEXT]);
void ctl_host_store(const struct ctl_host *h);

#endif
