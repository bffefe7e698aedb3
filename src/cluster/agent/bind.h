/*
 * bind.h - all guests are held to what their owner leaves them
 *
 * By their control group (capsule/bounds.h).  The kernel may take long over a
 * limit of memory, as it frees what is above it, so a thread sets them: the agent
 * waits for nothing while an owner comes.
 */
#ifndef CLUSTER_AGENT_BIND_H
#define CLUSTER_AGENT_BIND_H

#include <systemd/sd-event.h>

#include "cluster/capsule/bounds.h"
#include "model/terms.h"

struct bind;

/* Makes the group. */
struct bind *bind_create(sd_event *event, const char *run_dir);
/* Its name. */
const char *bind_group(const struct bind *b);
/*
 * Set it by these terms, and log what cannot be kept: for `told` also if the
 * log has said so before.
 */
void bind_put(struct bind *b, const struct owner_terms *terms, bool told);
/* Removes the group, if nobody is in it. */
void bind_destroy(struct bind *b); /* NULL is allowed */

#endif
