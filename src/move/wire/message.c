/* message.c - protobuf messages in frames; see message.h */
#include "move/wire/message.h"

#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"

int wire_send(struct channel *ch, enum frame_type type,
	      const ProtobufCMessage *m, struct error *err)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	struct iovec iov = { xmalloc(n + 1), n };
	int r;

	protobuf_c_message_pack(m, iov.iov_base);
	r = frame_send(ch, type, &iov, 1, err);
	free(iov.iov_base);
	return r;
}

int wire_unpack(const struct frame *f, const ProtobufCMessageDescriptor *d,
		void *ret, struct error *err)
{
	ProtobufCMessage *m =
		protobuf_c_message_unpack(d, NULL, f->size, f->data);

	if (!m)
		return error_set(err, -EPROTO, "malformed %s frame",
				 frame_name(f->type));
	*(ProtobufCMessage **)ret = m;
	return 0;
}
