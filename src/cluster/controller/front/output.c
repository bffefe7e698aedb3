/* output.c - send what jobs without a client have printed to peers that ask */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/front/priv.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/pattern.h"
#include "core/xalloc.h"

enum { PAGE = 256 << 10 }; /* bytes of one answer, about */

struct pieces {
	Control__KeptOutput *to;
	size_t cap, bytes;
};

static bool add_piece(void *arg, const struct store_output *row)
{
	struct pieces *l = arg;
	Control__Output *o;

	if (l->bytes > PAGE) {
		l->to->more = true;
		return false;
	}
	o = xcalloc(1, sizeof(*o));
	control__output__init(o);
	o->job = row->job;
	o->rank = row->rank;
	o->stream = row->stream;
	o->offset = row->offset;
	o->data.len = row->n;
	o->data.data = xmalloc(row->n + 1);
	if (row->n)
		memcpy(o->data.data, row->data, row->n);
	l->bytes += row->n + STORE_PIECE;
	l->to->next = row->seq + 1;
	array_room(l->to->pieces, l->to->n_pieces, &l->cap);
	l->to->pieces[l->to->n_pieces++] = o;
	return true;
}

void ctl_output_read(struct ctl_peer *p, uint64_t re, struct ctl_job *job,
		     const Control__GetOutput *g)
{
	Control__KeptOutput answer = CONTROL__KEPT_OUTPUT__INIT;
	const struct pattern_values v = { .job = job->id,
					  .array = job->spec->array,
					  .task = job->spec->task,
					  .name = ctl_job_name(job) };
	struct pieces l = { .to = &answer };

	if (!job->spec->detached) {
		ctl_send_failed(p, re, -ESRCH,
				"what job %llu prints goes to its `stint run`",
				(unsigned long long)job->id);
		return;
	}
	answer.next = g->from;
	store_each_output(p->ctl->store, job->id, g->from, add_piece, &l);
	answer.over = !answer.more && ctl_kept_over(job);
	answer.output = pattern_of_job(job->spec->output, &v);
	answer.error = pattern_of_job(job->spec->error, &v);
	answer.dropped = job->spec->output_dropped;
	if (g->wait && !answer.n_pieces && !answer.over)
		ctl_wait(&job->kept.readers, p, re);
	else
		ctl_send(p, 0, re, MESSAGE_BODY(KEPT_OUTPUT), &answer);
	for (size_t i = 0; i < answer.n_pieces; i++) {
		free(answer.pieces[i]->data.data);
		free(answer.pieces[i]);
	}
	free(answer.pieces);
	free(answer.output);
	free(answer.error);
}
