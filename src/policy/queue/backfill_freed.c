/*
 * backfill_freed.c - where processors came free since the last improvement, and which holes
 * may be of use to anybody; see backfill.h
 */
#include "policy/queue/backfill.h"

void backfill_freed(struct backfill *b, usec_t from, usec_t to)
{
	if (from < b->freed_from)
		b->freed_from = from;
	if (to > b->freed_to)
		b->freed_to = to;
}

void backfill_give(struct backfill *b, usec_t from, usec_t to, uint32_t n)
{
	profile_add(&b->profile, from, to, n);
	backfill_freed(b, from, to);
	b->given = true;
}

void backfill_forget_freed(struct backfill *b)
{
	b->after = (struct holes){ 0 };
	b->freed_from = USEC_MAX;
	b->freed_to = 0;
}

void backfill_want(struct backfill *b, const struct alike *k)
{
	profile_want(&b->wanted, k->size, k->length, alike_last(k));
}
