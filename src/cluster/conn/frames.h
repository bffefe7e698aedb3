/*
 * frames.h - cutting a byte stream into messages
 *
 * On the wire a message is its length (4 bytes, big endian, 1 to FRAMES_MAX)
 * and that many bytes.  A reader takes bytes as they come, in any pieces, and
 * hands out whole messages in order.  It buffers at most one message and what
 * was read together with it, so a peer can make us hold at most FRAMES_MAX
 * bytes and one read more; memory is allocated as bytes arrive, not as they are
 * announced.
 */
#ifndef CLUSTER_CONN_FRAMES_H
#define CLUSTER_CONN_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define FRAMES_MAX  (2u << 20)
#define FRAMES_HEAD 4
#define FRAMES_KEPT (256u << 10) /* of a buffer, while nothing is in it */

struct frames_reader {
	uint8_t *data;
	size_t at, end, cap; /* [at, end) has come and is not taken */
};

#define FRAMES_READER_INIT   \
	{                    \
		.data = NULL \
	}

/*
 * A buffer for at least n more bytes; pass the number read to frames_added().
 * Invalidates the message that frames_next() returned.
 */
void *frames_room(struct frames_reader *r, size_t n);
void frames_added(struct frames_reader *r, size_t n);

/*
 * 1 and the next message (valid until frames_room()), 0 when there is no whole
 * one yet, -EPROTO for an invalid length; then the reader returns nothing more.
 */
int frames_next(struct frames_reader *r, const uint8_t **ret, size_t *ret_n,
		struct error *err) must_check;

void frames_clear(struct frames_reader *r);

/* The head of a message of n bytes (1 to FRAMES_MAX). */
void frames_head(uint8_t head[FRAMES_HEAD], size_t n);

#endif
