/* move.c - create, store and destroy moves */
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/state/move.h"
#include "cluster/controller/state/waiters.h"
#include "core/xalloc.h"

struct ctl_move *ctl_move_create(struct ctl_rank *r, struct ctl_host *to,
				 uint64_t epoch)
{
	struct ctl_move *m = xcalloc(1, sizeof(*m));

	TAILQ_INIT(&m->askers);
	m->rank = r;
	m->from = r->host;
	m->to = to;
	m->epoch = epoch;
	control__moved__init(&m->report);
	m->report.job = r->job->id;
	m->report.rank = r->rank;
	m->report.from = m->from->name;
	m->report.to = to->name;
	m->report.epoch = epoch;
	r->move = m;
	TAILQ_INSERT_TAIL(&r->job->ctl->moves, m, link);
	return m;
}

void ctl_move_store(struct ctl_move *m, int state)
{
	size_t n = control__moved__get_packed_size(&m->report);
	uint8_t *buf = xmalloc(n + 1);
	struct store_move row = { .job = m->rank->job->id,
				  .rank = m->rank->rank,
				  .epoch = m->epoch,
				  .source_epoch = m->source_epoch,
				  .from = m->from->name,
				  .to = m->to->name,
				  .state = state,
				  .moved = buf,
				  .moved_n = n };

	control__moved__pack(&m->report, buf);
	store_put_move(m->rank->job->ctl->store, &row);
	free(buf);
}

void ctl_move_destroy(struct ctl_move *m)
{
	TAILQ_REMOVE(&m->rank->job->ctl->moves, m, link);
	m->rank->move = NULL;
	sd_event_source_disable_unref(m->timer);
	sd_event_source_disable_unref(m->stand);
	ctl_waiters_drop(&m->askers);
	message_set_text(&m->report.why, NULL);
	explicit_bzero(m->key, sizeof(m->key));
	free(m);
}
