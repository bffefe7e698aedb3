/*
 * place.h - pages of the source into the landing process
 *
 * In the first round its memory is empty, and userfaultfd can put pages there
 * that the kernel has neither zeroed nor looked up before: 0.26 s a GB instead
 * of 0.37 (doc/design/20).  place_begin(), place_expect() for each mapping
 * before its pages come, place_end() after the first round; place_pages() at
 * any time.
 */
#ifndef MOVE_LAND_PLACE_H
#define MOVE_LAND_PLACE_H

#include "core/error.h"
#include "move/land/land.h"
#include "move/wire/frame.h"
#include "move/wire/state.pb-c.h"

/*
 * Without userfaultfd, or where the host makes huge pages unasked, which are
 * worth more, all pages go the slower way.  Fails only if l has died.
 */
int place_begin(struct landing *l, struct error *err) must_check;
/* v has just been made in l, and is empty. */
void place_expect(const struct landing *l, const Move__Vma *v);
void place_end(struct landing *l);

/*
 * The pages of a checked PAGES frame.  For each one that has no place there,
 * since nothing is mapped or the file ends before it, lost() is called.
 */
typedef void place_lost_fn(void *arg, uint64_t start, uint64_t end);
int place_pages(const struct landing *l, const struct frame *f,
		place_lost_fn *lost, void *arg, struct error *err) must_check;

#endif
