/*
 * store_copy.h - a copy of the store, made while it is used
 *
 * Some pages a step.  What is committed between steps is in the copy, too: it is the
 * store as of the last commit before the copy was whole.  Until then it is of no use, and
 * it never has a name: it lies in the store's folder, in a file that is gone with its
 * descriptor, however the controller ends.
 */
#ifndef CLUSTER_CONTROLLER_STATE_STORE_COPY_H
#define CLUSTER_CONTROLLER_STATE_STORE_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct store;
struct store_copy;

/* -ENOSPC if the disk has no room for it beside what the store may need. */
int store_copy_begin(struct store *s, struct store_copy **ret,
		     struct error *err) must_check;
/*
 * Commit, and copy for about a millisecond: 1 when the copy is whole, 0 if there is more
 * to do.  After an error it can only be ended.
 */
int store_copy_step(struct store_copy *c, struct error *err) must_check;
/* Of one that is whole. */
uint64_t store_copy_size(const struct store_copy *c);
int store_copy_read(const struct store_copy *c, uint64_t from, void *p,
		    size_t n, struct error *err) must_check;
void store_copy_end(
	struct store_copy *c); /* before store_close(); NULL is allowed */

/*
 * Is this file a copy of a store, and nothing wrong in it?  *ret: how many jobs it knows.
 * It reads all of it: not for the controller.
 */
int store_copy_check(const char *path, uint64_t *ret,
		     struct error *err) must_check;

#endif
