/* lines.c - what many ranks print, put in order, see lines.h */
#include "cluster/client/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/xalloc.h"

struct piece {
	TAILQ_ENTRY(piece) link;
	uint64_t offset, epoch, seq;
	size_t n;
	char data[];
};

struct stream {
	uint64_t next;		   /* offset of the first byte not yet taken */
	TAILQ_HEAD(, piece) early; /* by offset */
	char *line;		   /* begun, not yet printed */
	size_t n, cap;
	size_t label; /* how much of it is the label */
};

struct lines {
	uint32_t nr;
	bool label, whole;
	bool dead; /* print_bytes() failed */
	const struct lines_ops *ops;
	void *ctx;
	struct stream *streams; /* [2 * rank + stream - 1] */
	const struct stream
		*open[2]; /* whose unfinished line was printed last */
};

struct lines *lines_create(uint32_t nr_ranks, bool label,
			   const struct lines_ops *ops, void *ctx)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->nr = nr_ranks;
	l->label = label;
	l->whole = label || nr_ranks > 1;
	l->ops = ops;
	l->ctx = ctx;
	l->streams = xcalloc(nr_ranks, 2 * sizeof(*l->streams));
	for (size_t i = 0; i < 2 * (size_t)nr_ranks; i++)
		TAILQ_INIT(&l->streams[i].early);
	return l;
}

void lines_destroy(struct lines *l)
{
	struct piece *p;

	if (!l)
		return;
	for (size_t i = 0; i < 2 * (size_t)l->nr; i++) {
		while ((p = TAILQ_FIRST(&l->streams[i].early))) {
			TAILQ_REMOVE(&l->streams[i].early, p, link);
			free(p);
		}
		free(l->streams[i].line);
	}
	free(l->streams);
	free(l);
}

static void print_bytes(struct lines *l, unsigned stream, const void *p,
			size_t n)
{
	if (n && !l->dead && l->ops->print(l->ctx, stream, p, n) < 0)
		l->dead = true;
}

static void line_add(struct stream *s, const char *p, size_t n)
{
	if (s->n + n > s->cap) {
		s->cap = s->n + n > 2 * s->cap ? s->n + n : 2 * s->cap;
		s->line = xrealloc(s->line, s->cap);
	}
	memcpy(s->line + s->n, p, n);
	s->n += n;
}

/*
 * Print what there is of a line.  If its beginning was the last thing printed,
 * it goes on there; else, if lines have labels, it gets its own label.
 */
static void line_print(struct lines *l, unsigned stream, struct stream *s)
{
	const struct stream **open = &l->open[stream - 1];
	size_t skip = *open == s ? s->label : 0;

	if (s->n == s->label)
		return;
	if (l->label && *open && *open != s)
		print_bytes(l, stream, "\n", 1);
	print_bytes(l, stream, s->line + skip, s->n - skip);
	*open = s->line[s->n - 1] == '\n' ? NULL : s;
	s->n = s->label = 0;
}

/* Pass bytes that come in order to the printer, as whole lines. */
static void take_whole(struct lines *l, uint32_t rank, unsigned stream,
		       struct stream *s, const char *p, size_t n)
{
	char label[16];
	size_t part;
	const char *end;

	while (n) {
		end = memchr(p, '\n', n);
		part = end ? (size_t)(end - p) + 1 : n;
		if (!s->n && l->label) {
			s->label =
				snprintf(label, sizeof(label), "[%u] ", rank);
			line_add(s, label, s->label);
		}
		line_add(s, p, part);
		if (end || s->n >= LINES_MAX)
			line_print(l, stream, s);
		p += part;
		n -= part;
	}
}

static void take_piece(struct lines *l, uint32_t rank, unsigned stream,
		       struct stream *s, uint64_t offset, const char *p,
		       size_t n, uint64_t epoch, uint64_t seq)
{
	uint64_t old = s->next - offset;

	if (old < n) {
		s->next = offset + n;
		if (l->whole)
			take_whole(l, rank, stream, s, p + old, n - old);
		else
			print_bytes(l, stream, p + old, n - old);
	}
	l->ops->taken(l->ctx, rank, epoch, seq);
}

static void hold_piece(struct stream *s, uint64_t offset, const void *p,
		       size_t n, uint64_t epoch, uint64_t seq)
{
	struct piece *piece = xmalloc(sizeof(*piece) + n), *at;

	*piece = (struct piece){
		.offset = offset, .epoch = epoch, .seq = seq, .n = n
	};
	memcpy(piece->data, p, n);
	TAILQ_FOREACH (at, &s->early, link)
		if (at->offset > offset)
			break;
	if (at)
		TAILQ_INSERT_BEFORE(at, piece, link);
	else
		TAILQ_INSERT_TAIL(&s->early, piece, link);
}

static void take_early(struct lines *l, uint32_t rank, unsigned stream,
		       struct stream *s)
{
	struct piece *piece;

	while ((piece = TAILQ_FIRST(&s->early)) && piece->offset <= s->next) {
		TAILQ_REMOVE(&s->early, piece, link);
		take_piece(l, rank, stream, s, piece->offset, piece->data,
			   piece->n, piece->epoch, piece->seq);
		free(piece);
	}
}

static struct stream *stream_of(struct lines *l, uint32_t rank, unsigned stream)
{
	return rank >= l->nr || stream < 1 || stream > 2
		       ? NULL
		       : &l->streams[2 * rank + stream - 1];
}

void lines_add(struct lines *l, uint32_t rank, unsigned stream, uint64_t offset,
	       const void *p, size_t n, uint64_t epoch, uint64_t seq)
{
	struct stream *s = stream_of(l, rank, stream);

	if (!s)
		return;
	if (offset > s->next) {
		hold_piece(s, offset, p, n, epoch, seq);
		return;
	}
	take_piece(l, rank, stream, s, offset, p, n, epoch, seq);
	take_early(l, rank, stream, s);
}

bool lines_skip(struct lines *l, uint32_t rank, unsigned stream,
		uint64_t offset)
{
	struct stream *s = stream_of(l, rank, stream);

	if (!s || offset <= s->next)
		return false;
	s->next = offset;
	take_early(l, rank, stream, s);
	return true;
}

bool lines_reached(const struct lines *l, uint32_t rank, uint64_t out,
		   uint64_t err)
{
	return rank >= l->nr || (l->streams[2 * rank].next >= out &&
				 l->streams[2 * rank + 1].next >= err);
}

void lines_show(struct lines *l, unsigned stream)
{
	for (uint32_t i = 0; i < l->nr; i++)
		line_print(l, stream, &l->streams[2 * i + stream - 1]);
}

void lines_finish(struct lines *l)
{
	lines_show(l, 1);
	lines_show(l, 2);
}
