/* append.c - parts of protobuf messages; see append.h */
#include "move/wire/append.h"

#include <string.h>

void *append_new(const ProtobufCMessageDescriptor *d)
{
	void *p = xcalloc(1, d->sizeof_message);

	protobuf_c_message_init(d, p);
	return p;
}

ProtobufCBinaryData append_bytes(const void *p, size_t n)
{
	ProtobufCBinaryData b = { n, xmalloc(n + 1) };

	if (n)
		memcpy(b.data, p, n);
	return b;
}

Fds__Message *append_packet(Fds__Message ***list, size_t *nr, const void *p,
			    size_t n)
{
	Fds__Message *m = append_new(&fds__message__descriptor);

	m->data = append_bytes(p, n);
	append_to(*list, *nr, m);
	return m;
}
