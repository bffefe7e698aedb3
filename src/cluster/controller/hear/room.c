/* room.c - send what had to wait while an agent's connection was full */
#include <stdarg.h>
#include <time.h>

#include "cluster/controller/hear/hear.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/state.h"

/* Send what a keeper is still to be sent, as far as there is room. */
static void send_late(struct klink *k)
{
	if (!k->job || !k->heard || klink_is_doomed(k))
		return;
	if (k->start_late && klink_is_current(k))
		klink_send_start(k);
	if (k->release_late)
		ctl_pmi_late(k);
	ctl_stdin_late(k);
}

void klinks_drained(struct ctl_host *h)
{
	struct klink *k, *next;

	for (k = TAILQ_FIRST(&h->klinks); k && h->agent; k = next) {
		next = TAILQ_NEXT(k, link);
		send_late(k);
	}
}
