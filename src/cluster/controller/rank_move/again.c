/*
 * again.c - a move that is asked for again
 *
 * A client whose connection was lost before it heard the outcome of its move asks again
 * with the same key.  The rank is not moved a second time, and the client gets the same
 * answer, even from a controller that was restarted since.
 */
#include <string.h>

#include "cluster/controller/state/state.h"

#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/move.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/waiters.h"

void ctl_move_set_key(struct ctl_move *m, const ProtobufCBinaryData *key)
{
	m->report.key.data = m->asked;
	m->report.key.len =
		key->len < sizeof(m->asked) ? key->len : sizeof(m->asked);
	if (m->report.key.len)
		memcpy(m->asked, key->data, m->report.key.len);
}

void ctl_move_restore(struct ctl_rank *r, struct ctl_host *from,
		      struct ctl_host *to, const struct store_move *row)
{
	struct ctl_move *m = ctl_move_create(r, to, row->epoch);
	Control__Moved *was =
		control__moved__unpack(NULL, row->moved_n, row->moved);

	m->from = from;
	m->report.from = from->name;
	m->source_epoch = row->source_epoch;
	m->committed = row->state == MOVE_COMMITTED;
	m->told = m->committed; /* the view begins with the rank where it is */
	m->step = STEP_RESTORED;
	if (!was)
		return;
	ctl_move_set_key(m, &was->key);
	control__moved__free_unpacked(was, NULL);
}

static bool same_key(const Control__Moved *m, const Control__Migrate *ask)
{
	return m->key.len == ask->key.len && m->key.len &&
	       !memcmp(m->key.data, ask->key.data, m->key.len);
}

struct again {
	struct ctl_peer *p;
	uint64_t re;
	const Control__Migrate *ask;
	bool answered;
};

static void answer_again(void *ctx, const struct store_move *row)
{
	struct again *a = ctx;
	Control__Moved *was =
		control__moved__unpack(NULL, row->moved_n, row->moved);

	if (was && same_key(was, a->ask)) {
		ctl_send(a->p, 0, a->re, MESSAGE_BODY(MOVED), was);
		a->answered = true;
	}
	if (was)
		control__moved__free_unpacked(was, NULL);
}

bool ctl_move_again(struct ctl_rank *r, const Control__Migrate *ask,
		    struct ctl_peer *p, uint64_t re)
{
	struct again a = { .p = p, .re = re, .ask = ask };

	if (!ask->key.len)
		return false;
	if (r->move && same_key(&r->move->report, ask)) {
		ctl_waiters_drop(&r->move->askers);
		ctl_wait(&r->move->askers, p, re);
		return true;
	}
	store_last_move(r->job->ctl->store, r->job->id, r->rank, answer_again,
			&a);
	return a.answered;
}
