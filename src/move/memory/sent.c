/* sent.c - which pages the destination has; see sent.h */
#include "move/memory/sent.h"

#include <stdlib.h>
#include <uthash.h>

#include "core/xalloc.h"

#define BLOCK_PAGES (SENT_BLOCK / SENT_PAGE)
#define WORDS	    (BLOCK_PAGES / 64)

struct block {
	uint64_t key; /* address / SENT_BLOCK */
	uint64_t bits[WORDS];
	unsigned nr;
	UT_hash_handle hh;
};

struct sent {
	struct block *blocks;
	struct block *last; /* the one that was looked up last */
	uint64_t nr;
};

struct sent *sent_create(void)
{
	return xcalloc(1, sizeof(struct sent));
}

void sent_destroy(struct sent *s)
{
	struct block *b, *tmp;

	if (!s)
		return;
	HASH_ITER (hh, s->blocks, b, tmp) {
		HASH_DEL(s->blocks, b);
		free(b);
	}
	free(s);
}

static struct block *block_find(struct sent *s, uint64_t key)
{
	if (!s->last || s->last->key != key) {
		struct block *b;

		HASH_FIND(hh, s->blocks, &key, sizeof(key), b);
		if (!b)
			return NULL;
		s->last = b;
	}
	return s->last;
}

static struct block *block_make(struct sent *s, uint64_t key)
{
	struct block *b = block_find(s, key);

	if (!b) {
		b = xcalloc(1, sizeof(*b));
		b->key = key;
		HASH_ADD(hh, s->blocks, key, sizeof(b->key), b);
		s->last = b;
	}
	return b;
}

static uint64_t block_end(uint64_t at, uint64_t end)
{
	uint64_t next = (at / SENT_BLOCK + 1) * SENT_BLOCK;

	return next < end ? next : end;
}

/* Set or clear the pages of [at, end), which lie in one block. */
static void block_set(struct sent *s, struct block *b, uint64_t at,
		      uint64_t end, bool on)
{
	for (; at < end; at += SENT_PAGE) {
		unsigned i = (unsigned)(at % SENT_BLOCK / SENT_PAGE);
		uint64_t bit = UINT64_C(1) << (i % 64);

		if (!!(b->bits[i / 64] & bit) == on)
			continue;
		b->bits[i / 64] ^= bit;
		b->nr += on ? 1 : -1u;
		s->nr += on ? 1 : -UINT64_C(1);
	}
}

void sent_add(struct sent *s, uint64_t start, uint64_t end)
{
	for (uint64_t to; start < end; start = to) {
		to = block_end(start, end);
		block_set(s, block_make(s, start / SENT_BLOCK), start, to,
			  true);
	}
}

void sent_remove(struct sent *s, uint64_t start, uint64_t end)
{
	for (uint64_t to; start < end; start = to) {
		struct block *b = block_find(s, start / SENT_BLOCK);

		to = block_end(start, end);
		if (b && b->nr)
			block_set(s, b, start, to, false);
	}
}

uint64_t sent_count(const struct sent *s)
{
	return s->nr;
}

static bool block_has(const struct block *b, uint64_t at)
{
	unsigned i = (unsigned)(at % SENT_BLOCK / SENT_PAGE);

	return b->bits[i / 64] >> (i % 64) & 1;
}

static int each_in_block(struct block *b, uint64_t at, uint64_t end,
			 sent_fn *fn, void *arg, struct error *err)
{
	int r = 0;

	while (at < end && r >= 0) {
		uint64_t first;

		while (at < end && !block_has(b, at))
			at += SENT_PAGE;
		for (first = at; at < end && block_has(b, at);)
			at += SENT_PAGE;
		if (first < at)
			r = fn(arg, first, at, err);
	}
	return r;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The keys of the blocks that meet [start, end), in order; fresh memory. */
static uint64_t *keys_between(struct sent *s, uint64_t start, uint64_t end,
			      size_t *ret_n)
{
	uint64_t *key = xcalloc(HASH_COUNT(s->blocks) + 1, sizeof(*key));
	struct block *b, *tmp;
	size_t n = 0;

	HASH_ITER (hh, s->blocks, b, tmp) {
		if (b->key >= start / SENT_BLOCK &&
		    b->key <= (end - 1) / SENT_BLOCK)
			key[n++] = b->key;
	}
	qsort(key, n, sizeof(*key), compare_keys);
	*ret_n = n;
	return key;
}

/*
 * sent_each() for ranges that are far wider than the set, as sparse mappings
 * are.
 */
static int each_sparse(struct sent *s, uint64_t start, uint64_t end,
		       sent_fn *fn, void *arg, struct error *err)
{
	size_t n;
	uint64_t *key = keys_between(s, start, end, &n);
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		uint64_t at = key[i] * SENT_BLOCK, to = at + SENT_BLOCK;

		r = each_in_block(block_find(s, key[i]),
				  at < start ? start : at, to < end ? to : end,
				  fn, arg, err);
	}
	free(key);
	return r < 0 ? r : 0;
}

int sent_each(struct sent *s, uint64_t start, uint64_t end, sent_fn *fn,
	      void *arg, struct error *err)
{
	int r = 0;

	if (!s->nr || start >= end)
		return 0;
	if ((end - start) / SENT_BLOCK > HASH_COUNT(s->blocks))
		return each_sparse(s, start, end, fn, arg, err);
	for (uint64_t to; start < end && r >= 0; start = to) {
		struct block *b = block_find(s, start / SENT_BLOCK);

		to = block_end(start, end);
		if (b && b->nr)
			r = each_in_block(b, start, to, fn, arg, err);
	}
	return r < 0 ? r : 0;
}

static int found(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	return -1;
}

bool sent_any(struct sent *s, uint64_t start, uint64_t end)
{
	return sent_each(s, start, end, found, NULL, NULL) < 0;
}
