/*
 * paper.h - a small file that survives the agent, and soon a loss of power, too
 *
 * A new text replaces the file before the call returns, so that the next agent
 * finds it however this one ends.  A thread syncs it to the disk: where guests keep
 * the disk busy that takes seconds, for which an owner must not wait.
 */
#ifndef CLUSTER_AGENT_PAPER_H
#define CLUSTER_AGENT_PAPER_H

#include <systemd/sd-event.h>

struct paper;

/* name: for the log. */
struct paper *paper_create(sd_event *event, const char *name, const char *path);
/* Replace it; what goes wrong is logged. */
void paper_put(struct paper *p, const char *text);
/* What was put is on the disk then. */
void paper_destroy(struct paper *p); /* NULL is allowed */

#endif
