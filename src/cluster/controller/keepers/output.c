/*
 * output.c - pass what ranks print on to the job's client
 *
 * Output stays in a klink's list until the client has printed it; only then its keeper
 * is told that it may forget it.  The keeper holds back a rank that prints faster than
 * that, so the list is bounded by what a keeper keeps (cluster/conn/keeper.proto: 256
 * KiB).
 *
 * A client that does not read for a while (for example one stopped by Ctrl-Z) must not
 * look to TCP like one whose host has died: so it is sent no more than its socket's
 * buffer holds.  Output that it cannot print yet would fill that for good: so output of
 * a rank that has moved waits for what the rank's previous keeper still has.
 */
#include <errno.h>
#include <string.h>

#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

/* bytes sent to a client and not acknowledged, of all its ranks */
#define WINDOW	 (48u << 10)
#define OVERHEAD 128u /* bytes that each piece takes besides its text */

/* Several times what a keeper keeps: only a malicious one sends more. */
#define HELD_MAX   ((size_t)4 << 20)
#define EVENTS_MAX (64u << 10)

/* Acknowledge everything before the first output that still waits. */
static void ack_done(struct klink *k)
{
	Keeper__Ack ack = KEEPER__ACK__INIT;
	size_t n = 0;

	while (n < k->out.nr && !k->out.pending[n].output)
		k->out.acked = k->out.pending[n++].seq;
	if (!n)
		return;
	memmove(k->out.pending, k->out.pending + n,
		(k->out.nr - n) * sizeof(*k->out.pending));
	k->out.nr -= n;
	ack.seq = k->out.acked;
	klink_request(k, KEEPER__REQUEST__BODY_ACK, &ack);
}

/* The size of an event that is output; other events count as 0. */
static size_t output_size(const Keeper__Event *e)
{
	return e->body_case == KEEPER__EVENT__BODY_OUTPUT
		       ? e->output->data.len + OVERHEAD
		       : 0;
}

static bool is_wanted(const struct klink *k, const Keeper__Event *e)
{
	return e->body_case == KEEPER__EVENT__BODY_OUTPUT && k->job &&
	       !k->job->deserted && !klink_is_past(k) &&
	       (e->output->stream == 1 || e->output->stream == 2);
}

bool klink_take(struct klink *k, Keeper__Event *e, bool *kept)
{
	struct pending *p;

	if (e->seq <= k->out.seen)
		return false;
	if (output_size(e) > HELD_MAX - k->out.held ||
	    k->out.nr >= EVENTS_MAX) {
		conn_fail(
			k->host->agent->conn, -EMSGSIZE,
			"a keeper sends more than it may without acknowledgement");
		return false;
	}
	k->out.seen = e->seq;
	array_room(k->out.pending, k->out.nr, &k->out.cap);
	p = &k->out.pending[k->out.nr++];
	*p = (struct pending){ .seq = e->seq };
	if (!is_wanted(k, e))
		return true;
	if (k->job->spec->detached) {
		klink_keep(k, e->seq, e->output);
	} else {
		p->output = e;
		k->out.held += output_size(e);
		*kept = true;
		klink_flush(k);
	}
	return true;
}

static size_t size_in_flight(const struct pending *p)
{
	return p->output->output->data.len + OVERHEAD;
}

static bool has_older(const struct klink *k)
{
	const struct klink *o;

	TAILQ_FOREACH (o, &klink_rank(k)->klinks, kin)
		if (o->epoch < k->epoch && !o->gone && !klink_is_past(o))
			return true;
	return false;
}

static bool has_gap(const struct klink *k, const Keeper__Output *o)
{
	return klink_whole_offset(k, o) >
	       klink_rank(k)->sent_to[o->stream == 2];
}

/*
 * Is output missing before this that will never come, or that an earlier controller
 * got?
 */
static bool is_after_gap(const struct klink *k, const Keeper__Output *o)
{
	return has_gap(k, o) && (!klink_rank(k)->inherited ||
				 (!o->offset && k->job->spec->requeues));
}

/* Is output missing before this that may still come, unless its keeper is lost? */
static bool is_early(const struct klink *k, const struct pending *p)
{
	return has_gap(k, p->output->output) && has_older(k);
}

static struct pending *next_unsent(struct klink *k)
{
	for (size_t i = 0; i < k->out.nr; i++)
		if (k->out.pending[i].output && !k->out.pending[i].sent &&
		    !is_early(k, &k->out.pending[i]))
			return &k->out.pending[i];
	return NULL;
}

static void send_output(struct klink *k, struct pending *p)
{
	const Keeper__Output *from = p->output->output;
	uint64_t *sent_to = &klink_rank(k)->sent_to[from->stream == 2];
	uint64_t end = klink_whole_offset(k, from) + from->data.len;
	Control__Output o = CONTROL__OUTPUT__INIT;

	o.job = k->job_id;
	o.rank = k->rank;
	o.stream = from->stream;
	o.offset = klink_whole_offset(k, from);
	o.data = from->data;
	o.epoch = k->epoch;
	o.seq = p->seq;
	o.gap = is_after_gap(k, from);
	p->sent = true;
	if (end > *sent_to)
		*sent_to = end;
	k->job->in_flight += size_in_flight(p);
	ctl_send(k->job->client, 0, 0, MESSAGE_BODY(OUTPUT), &o);
}

static void take_turn(struct klink *k)
{
	k->out.waits = next_unsent(k) != NULL;
	if (k->out.waits)
		TAILQ_INSERT_TAIL(&k->job->turns, k, turn);
}

/* When k has no more output, or is gone, that of the rank's next keeper may follow. */
static void wake_newer(const struct klink *k)
{
	struct klink *o;

	if (klink_is_current(k))
		return;
	TAILQ_FOREACH (o, &klink_rank(k)->klinks, kin)
		if (o->epoch > k->epoch && !o->out.waits)
			take_turn(o);
}

/*
 * Send a piece of each rank's output in turn, as long as the client may be
 * sent some.
 */
static void send_turns(struct ctl_job *job)
{
	struct klink *k;
	struct pending *p;

	while (job->client && (k = TAILQ_FIRST(&job->turns))) {
		p = next_unsent(k);
		if (p && job->in_flight &&
		    job->in_flight + size_in_flight(p) > WINDOW)
			return;
		TAILQ_REMOVE(&job->turns, k, turn);
		if (p)
			send_output(k, p);
		take_turn(k);
		wake_newer(k);
	}
}

void klink_flush(struct klink *k)
{
	ack_done(k);
	if (!k->job)
		return;
	if (!k->out.waits)
		take_turn(k);
	send_turns(k->job);
}

uint64_t klink_goes_on_at(const struct ctl_rank *r, unsigned stream)
{
	uint64_t at = r->sent_to[stream - 1], begin;
	const struct klink *k;

	TAILQ_FOREACH (k, &r->klinks, kin)
		for (size_t i = 0; i < k->out.nr; i++) {
			const Keeper__Event *e = k->out.pending[i].output;

			if (!e || e->output->stream != stream)
				continue;
			begin = klink_whole_offset(k, e->output);
			if (begin < at)
				at = begin;
		}
	return at;
}

void klink_again(struct klink *k)
{
	for (size_t i = 0; i < k->out.nr; i++)
		k->out.pending[i].sent = false;
}

static void output_done(struct klink *k, struct pending *p)
{
	if (!p->output)
		return;
	if (p->sent && k->job)
		k->job->in_flight -= size_in_flight(p);
	k->out.held -= output_size(p->output);
	keeper__event__free_unpacked(p->output, NULL);
	p->output = NULL;
}

void klink_acked(struct klink *k, uint64_t seq)
{
	for (size_t i = 0; i < k->out.nr; i++)
		if (k->out.pending[i].seq == seq)
			output_done(k, &k->out.pending[i]);
	klink_flush(k);
}

void klink_clear_output(struct klink *k)
{
	for (size_t i = 0; i < k->out.nr; i++)
		output_done(k, &k->out.pending[i]);
}

void klink_hand_over(struct klink *k)
{
	klink_clear_output(k);
	if (!k->job)
		return;
	wake_newer(k);
	send_turns(k->job);
}

void klink_drop_output(struct klink *k)
{
	klink_clear_output(k);
	ack_done(k);
}
