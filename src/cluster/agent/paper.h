/*
 * paper.h - a small file that outlives the agent at once, and a loss of power soon
 *
 * It is replaced where it is called for, so that the next agent finds it however
 * this one ends.  To the disk it is brought by a thread: a disk that guests keep
 * busy takes seconds for that, and an owner is not to wait for it.
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
