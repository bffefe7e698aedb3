/* talk.c - what two keepers say to each other before a move */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/keeper/priv.h"
#include "core/xalloc.h"

/* One key for one move: the identity is the move itself. */
void keeper_move_key(struct keeper *k, uint64_t epoch, const uint8_t *secret)
{
	snprintf(k->move.key.identity, sizeof(k->move.key.identity),
		 "%s.%u.%" PRIu64, k->rank.id.job, k->rank.id.rank, epoch);
	memcpy(k->move.key.secret, secret, TLS_SECRET_SIZE);
}

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
		error_set(err, -EPROTO,
			  "unexpected message from the other keeper");
		return NULL;
	}
	buf = xmalloc(len + 1);
	r = channel_read(ch, buf, len);
	if (!r)
		msg = protobuf_c_message_unpack(type, NULL, len, buf);
	if (!msg)
		error_set(err, -EPROTO,
			  "malformed message from the other keeper");
	free(buf);
	return msg;
}
