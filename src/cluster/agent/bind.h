/*
 * bind.h - all guests are held to what their owner leaves them
 *
 * By their control group (capsule/bounds.h), and by a table of nftables what they
 * have of the uplink (net/share.h); what moves have of it, by a file that keepers
 * share (core/pace.h).  All three outlive the agent.  The kernel may take long over a
 * limit of memory, as it frees what is above it, so a thread sets them: the agent
 * waits for nothing while an owner comes.
 */
#ifndef CLUSTER_AGENT_BIND_H
#define CLUSTER_AGENT_BIND_H

#include <systemd/sd-event.h>

#include "cluster/agent/agent.h"
#include "cluster/capsule/bounds.h"
#include "model/terms.h"

struct bind;

/* Makes the group.  net: as the agent settled it (agent_conf.net). */
struct bind *bind_create(sd_event *event, const struct agent_conf *conf,
			 const char *net);
/* Its name. */
const char *bind_group(const struct bind *b);
/*
 * Set it by these terms, and log what cannot be kept: for `told` also if the
 * log has said so before.
 */
void bind_put(struct bind *b, const struct owner_terms *terms, bool told);
/*
 * A guest comes: whoever has removed the group, it is made anew, and set as it was.  The
 * guest is bound as soon as that is done.
 */
void bind_mend(struct bind *b);
/* Removes the group if nobody is in it, and the table if there are no guests. */
void bind_destroy(struct bind *b, bool empty); /* NULL is allowed */
/* The table of a host that leaves its cluster. */
void bind_forget(const char *group, const struct agent_conf *conf);

#endif
