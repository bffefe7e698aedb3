/*
 * place.h - placing the source's pages in the landing process
 *
 * In the first round L's memory is empty, and userfaultfd can insert pages
 * without the kernel zeroing or looking them up first: 0.26 s a GB instead of
 * 0.37 (doc/design/20).  place_begin(), place_expect() for each mapping before
 * its pages come, place_end() after the first round; place_pages() at any time.
 */
#ifndef MOVE_LAND_PLACE_H
#define MOVE_LAND_PLACE_H

#include "core/error.h"
#include "move/land/land.h"
#include "move/wire/frame.h"
#include "move/wire/state.pb-c.h"

/*
 * Without userfaultfd, or where the host uses huge pages by default, which gain
 * more, all pages are written the slower way.  Fails only if L has died.
 */
int place_begin(struct landing *l, struct error *err) must_check;
/* v has just been made in l, and is empty. */
void place_expect(const struct landing *l, const Move__Vma *v);
void place_end(struct landing *l);

/*
 * The pages of a checked PAGES frame.  lost() is called for each page that
 * cannot be placed, because nothing is mapped there or the file ends before it.
 */
typedef void place_lost_fn(void *arg, uint64_t start, uint64_t end);
int place_pages(const struct landing *l, const struct frame *f,
		place_lost_fn *lost, void *arg, struct error *err) must_check;

#endif
