/*
 * keeper_move.c - what both ends of a move share: doubt, verdict, outcome
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/keeper/priv.h"
#include "core/xalloc.h"

enum { MESSAGE_MAX = 64 * 1024 };

int keeper_send_msg(struct channel *ch, const ProtobufCMessage *msg,
		    struct error *err)
{
	size_t n = protobuf_c_message_get_packed_size(msg);
	uint8_t *buf = xmalloc(4 + n);
	uint32_t len = htonl((uint32_t)n);
	int r;

	memcpy(buf, &len, 4);
	protobuf_c_message_pack(msg, buf + 4);
	r = channel_write(ch, buf, 4 + n);
	free(buf);
	return r < 0 ? error_sys(err, r, "to the other keeper") : 0;
}

ProtobufCMessage *keeper_recv_msg(struct channel *ch,
				  const ProtobufCMessageDescriptor *type,
				  struct error *err)
{
	ProtobufCMessage *msg = NULL;
	uint8_t *buf;
	uint32_t len;
	int r = channel_read(ch, &len, 4);

	if (r < 0) {
		error_sys(err, r, "from the other keeper");
		return NULL;
	}
	len = ntohl(len);
	if (len > MESSAGE_MAX) {
		error_set(err, -EPROTO, "the other keeper is out of step");
		return NULL;
	}
	buf = xmalloc(len + 1);
	r = channel_read(ch, buf, len);
	if (!r)
		msg = protobuf_c_message_unpack(type, NULL, len, buf);
	if (!msg)
		error_set(err, -EPROTO, "the other keeper is not understood");
	free(buf);
	return msg;
}

void keeper_tell_doubt(struct keeper *k)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__MoveDoubt doubt = KEEPER__MOVE_DOUBT__INIT;

	if (k->state != KEEPER__STATE__DOUBT)
		return;
	doubt.epoch = k->move.epoch;
	doubt.source = k->move.out;
	ev.body_case = KEEPER__EVENT__BODY_MOVE_DOUBT;
	ev.move_doubt = &doubt;
	keeper_tell(k, &ev, false);
}

static void fill_report(Keeper__MoveReport *to, const struct move_report *from)
{
	to->rounds = from->rounds;
	to->bytes = from->pages_sent * 4096;
	to->pages = from->pages_sent;
	to->pages_last = from->pages_last;
	to->bytes_held = from->bytes_held;
	to->downtime_usec = (uint64_t)from->downtime;
	to->total_usec = (uint64_t)from->total;
	to->predicted_usec = (uint64_t)from->predicted;
	to->freeze_usec = (uint64_t)from->freeze;
	to->last_usec = (uint64_t)from->last;
	to->capture_usec = (uint64_t)from->capture;
	to->restore_usec = (uint64_t)from->restore;
	to->commit_usec = (uint64_t)from->commit;
	to->threads = from->threads;
	to->tracked = from->tracked;
}

void keeper_tell_done(struct keeper *k, Keeper__Outcome outcome,
		      const char *why)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveReport report = KEEPER__MOVE_REPORT__INIT;

	fill_report(&report, &k->move.report);
	done.epoch = k->move.epoch;
	done.outcome = outcome;
	done.why = (char *)why;
	done.refused =
		outcome == KEEPER__OUTCOME__STAYED && k->move.code == -ENOTSUP;
	done.report = &report;
	done.stdin_offset = k->io.in_offset;
	done.pid = (uint32_t)k->rank_pid;
	done.signals = k->signals;
	ev.body_case = KEEPER__EVENT__BODY_MOVE_DONE;
	ev.move_done = &done;
	keeper_tell(k, &ev, true);
}

void keeper_on_verdict(struct keeper *k, const Keeper__Request *req)
{
	const Keeper__Verdict *v = req->verdict;
	struct error err;

	if (k->state != KEEPER__STATE__DOUBT || v->epoch != k->move.epoch) {
		keeper_answer_failed(k, req->id,
				     error_set(&err, -EINVAL,
					       "no doubt here about that move"),
				     &err);
		return;
	}
	keeper_answer_ok(k, req->id);
	if (k->move.out)
		keeper_out_verdict(k, v->at_destination);
	else
		keeper_in_verdict(k, v->at_destination);
	keeper_maybe_exited(k);
	keeper_maybe_end(k);
}

void keeper_end_doubt(struct keeper *k)
{
	if (k->move.out)
		keeper_out_verdict(k, true);
	else
		keeper_in_verdict(k, false);
}
