/*
 * audit.h - what administrators did and what was refused, for later
 *
 * A row is written in the transaction of what it tells of, and so is durable before
 * anybody is told that it was done.  Retention is the accounts'.
 */
#ifndef CLUSTER_CONTROLLER_STATE_AUDIT_H
#define CLUSTER_CONTROLLER_STATE_AUDIT_H

#include "cluster/controller/state/state.h"

/* What was asked for; NULL is as "". */
struct ctl_audited {
	const char *what, *target, *detail;
};

/* The peer has done that, or (negative errno) was refused it for that reason. */
void ctl_audit(const struct ctl_peer *p, const struct ctl_audited *act,
	       int code, const char *why);
/* Somebody who is no peer has done it: "uid 0", "calendar". */
void ctl_audit_of(struct ctl *ctl, const char *who,
		  const struct ctl_audited *act);
bool ctl_audit_prune(struct ctl *ctl, usec_t before, unsigned rows);
/* The texts with blanks between them, for free(); cut where there are very many. */
char *ctl_audit_list(char *const *text, size_t n);

#endif
