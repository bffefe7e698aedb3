/*
 * record.c - what dead keepers left on record, and the controller's
 * questions about it
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/agent/priv.h"
#include "cluster/keeper/record.h"
#include "core/log.h"
#include "core/xalloc.h"

enum { RECORDS_AT_ONCE = 1000 }; /* the rest when it connects again */

void records_find(struct agent *a, Control__HostReport *report)
{
	char *path = xasprintf("%s/keepers", a->conf->run_dir);
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t cap = 0;

	free(path);
	while (dir && report->n_records < RECORDS_AT_ONCE &&
	       (e = readdir(dir))) {
		Control__KeeperName name = CONTROL__KEEPER_NAME__INIT, *n;

		/* An older keeper of the rank may need the record itself. */
		if (!relay_parse_file(e->d_name, "record", &name) ||
		    relay_older_lives(a, &name))
			continue;
		n = xmalloc(sizeof(*n));
		*n = name;
		n->job = xstrdup(name.job);
		array_room(report->records, report->n_records, &cap);
		report->records[report->n_records++] = n;
	}
	if (dir)
		closedir(dir);
}

void records_free(Control__HostReport *report)
{
	for (size_t i = 0; i < report->n_records; i++) {
		free(report->records[i]->job);
		free(report->records[i]);
	}
	free(report->records);
}

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
		return; /* the keeper lives, and speaks for itself */
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
	agent_tell(a, MESSAGE_BODY(KEEPER_GONE), &gone);
}
