/*
 * agent_record.c - what dead keepers left on record, and the controller's
 * questions about it
 */
#include <errno.h>

#include "cluster/agent_priv.h"
#include "cluster/keeper_record.h"
#include "core/log.h"

void relay_forget(struct agent *a, const Control__KeeperName *name)
{
	struct keeper_id id = { .run_dir = a->conf->run_dir,
				.job = name->job,
				.rank = name->rank };

	keeper_record_remove(&id, name->epoch);
}

void relay_look(struct agent *a, const Control__KeeperLook *look)
{
	Control__KeeperGone gone = CONTROL__KEEPER_GONE__INIT;
	struct keeper_id id = { .run_dir = a->conf->run_dir,
				.job = look->name->job,
				.rank = look->name->rank };
	struct error err;
	int given = 0;

	if (relay_find(a, look->name))
		return; /* it lives, and speaks for itself */
	if (look->committed_epoch)
		given = keeper_record_settle(&id, look->committed_epoch, &err);
	if (given < 0) {
		log_warnx("job=%s rank=%u record error=\"%s\"", id.job, id.rank,
			  err.text);
		return; /* no answer is better than a wrong one */
	}
	gone.name = look->name;
	gone.committed_epoch = look->committed_epoch;
	gone.committed = given > 0;
	if (message_send(a->conn, 0, 0, MESSAGE_BODY(KEEPER_GONE), &gone) < 0)
		conn_fail(a->conn, -ENOBUFS, "the controller does not read");
}
