/* drain.c - requests to drain hosts: by whom, why, and until when they must be empty */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/waiters.h"
#include "core/log.h"
#include "core/plain.h"
#include "core/xalloc.h"

enum { REASON_MAX = 200 };

#define BY_MOST (365 * 86400 * USEC_PER_SEC)

static int check_drain(struct ctl *ctl, const Control__Drain *d,
		       struct error *err)
{
	for (size_t i = 0; i < d->n_hosts; i++)
		if (!ctl_host_find(ctl, d->hosts[i]))
			return error_set(err, -ENOENT,
					 "no host %s; `stint hosts` lists them",
					 d->hosts[i]);
	if (strlen(d->reason) > REASON_MAX || !plain_is(d->reason))
		return error_set(err, -EINVAL,
				 "a reason is one line of at most %d bytes",
				 REASON_MAX);
	if (d->by_usec > BY_MOST)
		return error_set(
			err, -ERANGE,
			"nobody waits for a host for more than a year");
	return 0;
}

static void drain_one(struct ctl_host *h, const Control__Drain *d,
		      const char *who)
{
	usec_t now = ctl_now();

	ctl_host_drained(h, "somebody else has taken this over");
	h->drain = !d->undo;
	if (d->undo)
		ctl_host_set_drained(h, "", "", 0, 0);
	else
		ctl_host_set_drained(h, who, d->reason, now,
				     d->by_usec ? now + (usec_t)d->by_usec : 0);
	log_info("host=%s drain=%s who=%s why=\"%s\"", h->name,
		 d->undo ? "over" : "begun", who, d->reason);
	ctl_host_store(h);
	ctl_sched_host(h);
	ctl_closings_host(h);
}

static void audit_drain(const struct ctl_peer *p, const Control__Drain *d,
			int r, const char *why)
{
	char *hosts = ctl_audit_list(d->hosts, d->n_hosts);
	char *detail = d->by_usec
			       ? xasprintf("%s%sto be empty in %llu s",
					   d->reason, *d->reason ? ", " : "",
					   (unsigned long long)(d->by_usec /
								USEC_PER_SEC))
			       : xstrdup(d->reason);

	ctl_audit(p,
		  &(struct ctl_audited){ .what = d->undo ? "undrain" : "drain",
					 .target = hosts,
					 .detail = detail },
		  r, why);
	free(detail);
	free(hosts);
}

void ctl_host_drain(struct ctl_peer *p, uint64_t re, const Control__Drain *d)
{
	struct error err;
	int r = check_drain(p->ctl, d, &err);

	audit_drain(p, d, r, r < 0 ? err.text : "");
	if (r < 0) {
		ctl_send_failed(p, re, r, "%s", err.text);
		return;
	}
	for (size_t i = 0; i < d->n_hosts; i++)
		drain_one(ctl_host_find(p->ctl, d->hosts[i]), d, p->name);
	if (!d->wait || d->undo || !d->n_hosts) {
		ctl_send_ok(p, re);
		return;
	}
	for (size_t i = 0; i < d->n_hosts; i++)
		ctl_wait(&ctl_host_find(p->ctl, d->hosts[i])->drainers, p, re);
	for (size_t i = 0; i < d->n_hosts; i++)
		ctl_host_check_drained(ctl_host_find(p->ctl, d->hosts[i]),
				       NULL);
}
