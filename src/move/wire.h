/*
 * wire.h - protobuf messages in frames
 */
#ifndef MOVE_WIRE_H
#define MOVE_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "move/frame.h"

int wire_send(struct channel *ch, enum frame_type type,
	      const ProtobufCMessage *m, struct error *err) must_check;
/* The message in a frame of that type; freed with protobuf_c's own. */
int wire_unpack(const struct frame *f, const ProtobufCMessageDescriptor *d,
		void *ret, struct error *err) must_check;

#endif
