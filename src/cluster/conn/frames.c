/* frames.c - cutting a byte stream into messages, see frames.h */
#include "cluster/conn/frames.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void *frames_room(struct frames_reader *r, size_t n)
{
	if (r->at) {
		memmove(r->data, r->data + r->at, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
	}
	if (!r->end && r->cap > FRAMES_KEPT)
		frames_clear(r);
	if (r->cap - r->end < n) {
		r->cap = r->end + n > 2 * r->cap ? r->end + n : 2 * r->cap;
		r->data = xrealloc(r->data, r->cap);
	}
	return r->data + r->end;
}

void frames_added(struct frames_reader *r, size_t n)
{
	assert(n <= r->cap - r->end);
	r->end += n;
}

int frames_next(struct frames_reader *r, const uint8_t **ret, size_t *ret_n,
		struct error *err)
{
	size_t have = r->end - r->at, n;
	const uint8_t *p;

	if (have < FRAMES_HEAD)
		return 0;
	p = r->data + r->at;
	n = (size_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	if (!n || n > FRAMES_MAX)
		return error_set(err, -EPROTO,
				 "the peer announces a message of %zu bytes, "
				 "the limit is %u",
				 n, FRAMES_MAX);
	if (have - FRAMES_HEAD < n)
		return 0;
	r->at += FRAMES_HEAD + n;
	*ret = p + FRAMES_HEAD;
	*ret_n = n;
	return 1;
}

void frames_clear(struct frames_reader *r)
{
	free(r->data);
	*r = (struct frames_reader)FRAMES_READER_INIT;
}

void frames_head(uint8_t head[FRAMES_HEAD], size_t n)
{
	assert(n && n <= FRAMES_MAX);
	head[0] = n >> 24;
	head[1] = n >> 16;
	head[2] = n >> 8;
	head[3] = n;
}
