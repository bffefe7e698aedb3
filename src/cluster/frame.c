/* frame.c - cutting a byte stream into messages, see frame.h */
#include "cluster/frame.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void *frame_room(struct frame_reader *r, size_t n)
{
	if (r->at) {
		memmove(r->data, r->data + r->at, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
	}
	if (r->cap - r->end < n) {
		r->cap = r->end + n > 2 * r->cap ? r->end + n : 2 * r->cap;
		r->data = xrealloc(r->data, r->cap);
	}
	return r->data + r->end;
}

void frame_added(struct frame_reader *r, size_t n)
{
	assert(n <= r->cap - r->end);
	r->end += n;
}

int frame_next(struct frame_reader *r, const uint8_t **ret, size_t *ret_n,
	       struct error *err)
{
	const uint8_t *p = r->data + r->at;
	size_t have = r->end - r->at, n;

	if (have < FRAME_HEAD)
		return 0;
	n = (size_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	if (!n || n > FRAME_MAX)
		return error_set(err, -EPROTO,
				 "the peer announces a message of %zu bytes, "
				 "the limit is %u",
				 n, FRAME_MAX);
	if (have - FRAME_HEAD < n)
		return 0;
	r->at += FRAME_HEAD + n;
	*ret = p + FRAME_HEAD;
	*ret_n = n;
	return 1;
}

void frame_clear(struct frame_reader *r)
{
	free(r->data);
	*r = (struct frame_reader)FRAME_READER_INIT;
}

void frame_head(uint8_t head[FRAME_HEAD], size_t n)
{
	assert(n && n <= FRAME_MAX);
	head[0] = n >> 24;
	head[1] = n >> 16;
	head[2] = n >> 8;
	head[3] = n;
}
