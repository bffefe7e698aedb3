/*
 * waiters.c - clients that wait until something has come about
 */
#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"

static unsigned ranks_at(const struct ctl_host *h)
{
	const struct ctl_job *job;
	unsigned n = 0;

	TAILQ_FOREACH (job, &h->ctl->jobs, link)
		for (uint32_t i = 0; i < job->nr; i++)
			n += job->ranks[i].host == h &&
			     ctl_rank_active(&job->ranks[i]);
	return n;
}

/* That one is empty, or will not be; the answer follows when all are. */
void ctl_host_drained(struct ctl_host *h, const char *why)
{
	Control__Drained d = CONTROL__DRAINED__INIT;
	struct ctl_peer *p = h->drainer;
	struct ctl *ctl = h->ctl;

	d.host = h->name;
	d.why = (char *)why;
	ctl_send(p, 0, h->drainer_re, MESSAGE_BODY(DRAINED), &d);
	h->drainer = NULL;
	for (size_t i = 0; i < ctl->nr_hosts; i++)
		if (ctl->hosts[i]->drainer == p &&
		    ctl->hosts[i]->drainer_re == h->drainer_re)
			return;
	ctl_send_ok(p, h->drainer_re);
}

void ctl_host_check_drained(struct ctl_host *h, const char *failed)
{
	struct error why;

	if (!h->drainer)
		return;
	if (failed) {
		error_set(
			&why, -EBUSY,
			"accepts no new ranks, but some ranks could not leave: %s",
			failed);
		ctl_host_drained(h, why.text);
	} else if (!ranks_at(h)) {
		ctl_host_drained(h, "");
	}
}
