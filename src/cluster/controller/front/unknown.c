/* unknown.c - requests of clients that are newer, which would not get what they ask for */
#include <errno.h>

#include "cluster/conn/known.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/say.h"

bool front_knows(struct ctl_peer *p, const Control__Message *m)
{
	Control__Failed failed = message_failed(
		-EOPNOTSUPP,
		"the controller does not know all that is asked for: it may "
		"be older than you");

	/* What has no id is no request, and nobody waits for an answer. */
	if (!m->id)
		return true;
	failed.unknown = known_lacks(m);
	if (failed.unknown)
		ctl_send(p, 0, m->id, MESSAGE_BODY(FAILED), &failed);
	return !failed.unknown;
}
