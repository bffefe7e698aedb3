/*
 * frames.h - cutting a byte stream into messages
 *
 * On the wire a message is its length (4 bytes, big endian, 1 to FRAMES_MAX)
 * and that many bytes.  A reader takes bytes as they come, in any pieces, and
 * hands out whole messages in order.  It holds at most one message and what
 * came with it, so a peer can make us hold FRAMES_MAX and a read's worth of
 * bytes, and memory is taken as bytes arrive, not as they are announced.
 */
#ifndef CLUSTER_CONN_FRAMES_H
#define CLUSTER_CONN_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define FRAMES_MAX  (2u << 20)
#define FRAMES_HEAD 4

struct frames_reader {
	uint8_t *data;
	size_t at, end, cap; /* [at, end) has come and is not taken */
};

#define FRAMES_READER_INIT   \
	{                    \
		.data = NULL \
	}

/*
 * Room for at least n more bytes, to read into; tell frames_added() how many
 * came.  Ends what frames_next() gave before.
 */
void *frames_room(struct frames_reader *r, size_t n);
void frames_added(struct frames_reader *r, size_t n);

/*
 * 1 and the next message (valid until frames_room()), 0 when there is no whole
 * one yet, -EPROTO for a length that cannot be; then nothing more comes.
 */
int frames_next(struct frames_reader *r, const uint8_t **ret, size_t *ret_n,
		struct error *err) must_check;

void frames_clear(struct frames_reader *r);

/* The head of a message of n bytes (1 to FRAMES_MAX). */
void frames_head(uint8_t head[FRAMES_HEAD], size_t n);

#endif
