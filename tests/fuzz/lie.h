/*
 * lie.h - messages that are well-formed, with fields from fuzz bytes
 *
 * Mutated bytes seldom make a message of three layers; these always do.  Numbers
 * and texts are mostly such as mean something: another's job, rank, epoch, host.
 */
#ifndef FUZZ_LIE_H
#define FUZZ_LIE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/* Where bytes are taken from; at the end all are 0. */
struct lie_bytes {
	const uint8_t *at, *end;
};

uint8_t lie_byte(struct lie_bytes *b);
/* One of that kind, packed, for the caller to free. */
uint8_t *lie_packed(struct lie_bytes *b, const ProtobufCMessageDescriptor *d,
		    size_t *ret_n);

#endif
