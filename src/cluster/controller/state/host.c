/* host.c - create, store and destroy hosts */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/state/host.h"

#include "cluster/controller/state/waiters.h"
#include "core/xalloc.h"
#include <errno.h>

bool ctl_host_is_home(const struct ctl_host *h, const struct ctl_job *job)
{
	for (uint32_t i = 0; i < h->owners.nr; i++)
		if ((uint32_t)h->owners.uid[i] == job->spec->uid)
			return true;
	return false;
}

int ctl_host_admits(const struct ctl_host *h, const struct ctl_job *job,
		    struct error *err)
{
	const struct ctl_lending *l = &h->lending;

	if (!closed_to_all(l->is.closed) && ctl_host_is_home(h, job))
		return 0;
	if (l->is.closed == CLOSED_FULL)
		return error_set(err, -EBUSY,
				 "host %s takes no more guests: its owner "
				 "allows %" PRIu32,
				 h->name, l->guests_most);
	return l->is.closed
		       ? error_set(err, -EBUSY, "host %s takes no guests: %s",
				   h->name, closed_text(l->is.closed))
		       : 0;
}

void ctl_host_refuses(struct ctl_host *h, int code)
{
	enum closed why = code == -EBUSY	     ? CLOSED_FULL
			  : code == -ENOSPC	     ? CLOSED_DISK
			  : code == -ENOTRECOVERABLE ? CLOSED_PROLOG
						     : CLOSED_OWNER;

	if (!h->lending.is.closed || closed_to_all(why))
		h->lending.is.closed = why;
}

void ctl_host_drain_text(const struct ctl_host *h, char ret[HOST_DRAIN_TEXT])
{
	const struct ctl_drained *d = &h->drained;

	snprintf(ret, HOST_DRAIN_TEXT, "host %s is being drained%s%s%s%s",
		 h->name, *d->who ? " by " : "", d->who, *d->reason ? ": " : "",
		 d->reason);
}

void ctl_host_set_drained(struct ctl_host *h, const char *who,
			  const char *reason, usec_t at, usec_t by)
{
	struct ctl_drained *d = &h->drained;

	free(d->who);
	free(d->reason);
	*d = (struct ctl_drained){ .who = xstrdup(who),
				   .reason = xstrdup(reason),
				   .at = at,
				   .by = by };
}

struct ctl_host *ctl_host_create(struct ctl *ctl, const char *name)
{
	struct ctl_host *h = xcalloc(1, sizeof(*h));

	h->ctl = ctl;
	h->name = xstrdup(name);
	h->boot_id = xstrdup("");
	h->drained.who = xstrdup("");
	h->drained.reason = xstrdup("");
	h->owners.text = xstrdup("");
	h->address = xstrdup("");
	h->uplink = xstrdup("");
	h->net = xstrdup("none");
	control__host_report__init(&h->report);
	/* Until its agent reports, the owner counts as present. */
	h->owner.here = true;
	h->owner.cause = PRESENCE_UNREADABLE;
	h->owner.idle_since = USEC_MAX;
	h->lending.is.closed = CLOSED_LOST;
	h->lending.guests_most = GUESTS_ANY;
	TAILQ_INIT(&h->klinks);
	TAILQ_INIT(&h->strangers);
	TAILQ_INIT(&h->drainers);
	TAILQ_INIT(&h->asked);
	h->ix = ctl->hosts.nr;
	array_room(ctl->hosts.at, ctl->hosts.nr, &ctl->hosts.cap);
	ctl->hosts.at[ctl->hosts.nr++] = h;
	HASH_ADD_KEYPTR(by_name, ctl->hosts.by_name, h->name, strlen(h->name),
			h);
	return h;
}

void ctl_host_destroy(struct ctl_host *h)
{
	HASH_DELETE(by_name, h->ctl->hosts.by_name, h);
	sd_event_source_disable_unref(h->lost);
	sd_event_source_disable_unref(h->limit);
	ctl_waiters_drop(&h->drainers);
	ctl_waiters_drop(&h->asked);
	free(h->name);
	free(h->boot_id);
	free(h->drained.who);
	free(h->drained.reason);
	free(h->owners.text);
	free(h->address);
	free(h->uplink);
	free(h->net);
	free(h);
}

void ctl_host_store(const struct ctl_host *h)
{
	struct store_host row = { .name = h->name,
				  .drain = h->drain,
				  .drain_who = h->drained.who,
				  .drain_reason = h->drained.reason,
				  .drain_at = h->drained.at,
				  .drain_by = h->drained.by,
				  .boot_id = h->boot_id };

	store_put_host(h->ctl->store, &row);
}
