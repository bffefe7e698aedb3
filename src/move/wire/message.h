/*
 * message.h - protobuf messages in frames
 */
#ifndef MOVE_WIRE_MESSAGE_H
#define MOVE_WIRE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "move/wire/frame.h"

/* m as a frame of that type. */
int wire_send(struct channel *ch, enum frame_type type,
	      const ProtobufCMessage *m, struct error *err) must_check;
/*
 * The message that a frame holds, of the type that d describes: *ret, a pointer
 * to a pointer to its struct, is set to a fresh one, for
 * protobuf_c_message_free_unpacked().  -EPROTO if it is not one.
 */
int wire_unpack(const struct frame *f, const ProtobufCMessageDescriptor *d,
		void *ret, struct error *err) must_check;

#endif
