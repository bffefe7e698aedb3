/*
 * lines.h - what many ranks print, put in order for one terminal or file
 *
 * Pieces of a rank's stream come with offsets.  A stream is printed in the
 * order of offsets: duplicates are dropped, and what comes too early (from a
 * rank's new keeper, before the rest of its old one) waits.  With several ranks
 * or labels only whole lines are printed, so that lines of ranks are not mixed;
 * the bytes of a single rank are printed as they come.
 */
#ifndef CLUSTER_CLIENT_LINES_H
#define CLUSTER_CLIENT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX (64u << 10) /* a longer line is printed in parts */

struct lines;

struct lines_ops {
	/* stream is 1 or 2; a negative result stops all printing. */
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

/*
 * Do not wait for missing bytes below offset any longer; false if none are
 * missing.
 */
bool lines_skip(struct lines *l, uint32_t rank, unsigned stream,
		uint64_t offset);

/* Has everything below these offsets been printed or is held? */
bool lines_reached(const struct lines *l, uint32_t rank, uint64_t out,
		   uint64_t err);

/*
 * Print unfinished lines of that stream too: a prompt to the user has no
 * newline.  The rest of such a line follows without a label; after another
 * rank's line it begins a new line with a label.
 */
void lines_show(struct lines *l, unsigned stream);

/* Print all unfinished lines. */
void lines_finish(struct lines *l);

#endif
