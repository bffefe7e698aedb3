/* lack.c - what the destination could not make; see lack.h */
#include "move/wire/lack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

void lacks_add(struct lacks *l, uint64_t start, uint64_t end,
	       const struct error *why)
{
	if (l->nr && l->v[l->nr - 1].range.end == start) {
		l->v[l->nr - 1].range.end = end;
		return;
	}
	array_room(l->v, l->nr, &l->cap);
	l->v[l->nr++] = (struct lack){ { start, end }, *why };
}

int lacks_send(struct lacks *l, struct channel *ch, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < l->nr && !r; i++) {
		struct lack *k = &l->v[i];
		struct iovec iov[] = {
			{ &k->range, sizeof(k->range) },
			{ k->why.text, strnlen(k->why.text, FRAME_TEXT) },
		};

		r = frame_send(ch, FRAME_LACK, iov, 2, err);
	}
	l->nr = 0;
	return r;
}

void lacks_clear(struct lacks *l)
{
	free(l->v);
	*l = (struct lacks){ 0 };
}

int lack_of_frame(const struct frame *f, struct frame_range *ret,
		  struct error *why)
{
	memcpy(ret, f->data, sizeof(*ret));
	return error_set(why, -ENOTSUP, "%s",
			 (const char *)f->data + sizeof(*ret));
}
