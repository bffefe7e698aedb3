/*
 * append.h - building protobuf messages
 *
 * All memory is allocated, and freed by the message's free_unpacked().
 */
#ifndef MOVE_WIRE_APPEND_H
#define MOVE_WIRE_APPEND_H

#include <protobuf-c/protobuf-c.h>

#include "core/xalloc.h"
#include "move/wire/fds.pb-c.h"

/* A message of that type, empty. */
void *append_new(const ProtobufCMessageDescriptor *d);
/* A copy of n bytes; p may be NULL with 0. */
ProtobufCBinaryData append_bytes(const void *p, size_t n);

/* Append one to a repeated field of protobuf-c; returns the new member. */
#define append_to(list, n, make)                                          \
	({                                                                \
		(list) = xreallocarray((list), (n) + 1, sizeof(*(list))); \
		(list)[(n)++] = (make);                                   \
	})

/* A copy of n bytes as one more message of a queue. */
Fds__Message *append_packet(Fds__Message ***list, size_t *nr, const void *p,
			    size_t n);

#endif
