/*
 * lines.h - what many ranks print, put in order for one terminal or file
 *
 * Pieces of a rank's stream come with offsets.  A stream is printed in the
 * order of offsets: what was seen before is dropped, and what comes too early
 * (from a rank's new keeper, before the rest of its old one) waits.  With
 * several ranks or labels only whole lines are printed, so that ranks do not
 * break into each other's; a lone rank's bytes go out as they come.
 */
#ifndef CLUSTER_CLIENT_LINES_H
#define CLUSTER_CLIENT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX (64u << 10) /* a longer line is printed in parts */

struct lines;

struct lines_ops {
	/* stream is 1 or 2; negative to have nothing printed any more. */
	int (*print)(void *ctx, unsigned stream, const void *p, size_t n);
	/* This piece has been printed (or held as part of a line). */
	void (*taken)(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq);
};

struct lines *lines_create(uint32_t nr_ranks, bool label,
			   const struct lines_ops *ops, void *ctx);
void lines_destroy(struct lines *l); /* NULL is allowed */

/* A piece; epoch and seq are given back by taken().  Others are ignored. */
void lines_add(struct lines *l, uint32_t rank, unsigned stream, uint64_t offset,
	       const void *p, size_t n, uint64_t epoch, uint64_t seq);

/* What is missing below offset never comes; false if nothing is. */
bool lines_skip(struct lines *l, uint32_t rank, unsigned stream,
		uint64_t offset);

/* Has everything below these offsets been printed or is held? */
bool lines_reached(const struct lines *l, uint32_t rank, uint64_t out,
		   uint64_t err);

/*
 * Print unfinished lines of that stream too: a question to whoever sits at the
 * terminal has no end.  The rest follows without a label, or after another
 * rank's line on a line of its own with one.
 */
void lines_show(struct lines *l, unsigned stream);

/* Print all unfinished lines. */
void lines_finish(struct lines *l);

#endif
