/*
 * sent.h - which pages the destination has
 *
 * A set of pages, in blocks of 2 MiB.
 */
#ifndef MOVE_MEMORY_SENT_H
#define MOVE_MEMORY_SENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define SENT_PAGE  4096
#define SENT_BLOCK (2u << 20)

struct sent;

struct sent *sent_create(void);
void sent_destroy(struct sent *s); /* NULL is allowed */

void sent_add(struct sent *s, uint64_t start, uint64_t end);
void sent_remove(struct sent *s, uint64_t start, uint64_t end);
bool sent_any(struct sent *s, uint64_t start, uint64_t end);
uint64_t sent_count(const struct sent *s); /* pages */

/*
 * Call fn for each run of pages of the set inside [start, end), in order; a
 * run ends at a block's end.  fn may remove the run.  Stops at the first
 * negative result and returns it.
 */
typedef int sent_fn(void *arg, uint64_t start, uint64_t end, struct error *err);
int sent_each(struct sent *s, uint64_t start, uint64_t end, sent_fn *fn,
	      void *arg, struct error *err) must_check;

#endif
