/*
 * pages.h - memory on its way out of the process; into the other: land/place.h
 */
#ifndef MOVE_MEMORY_PAGES_H
#define MOVE_MEMORY_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/wire/frame.h"

/* Collects ranges, reads them from the process and sends PAGES frames. */
struct page_sender;

struct page_sender *page_sender_create(pid_t pid, struct channel *ch,
				       struct error *err) must_check;
void page_sender_destroy(struct page_sender *s);

/*
 * Send [start, end).  What is not there any more is left out: whoever tracks
 * the process finds that out by other means.
 */
int page_sender_add(struct page_sender *s, uint64_t start, uint64_t end,
		    struct error *err) must_check;
/* As that, but pages full of zeros are left out. */
int page_sender_add_nonzero(struct page_sender *s, uint64_t start, uint64_t end,
			    struct error *err) must_check;
/* Is that page there, and full of zeros?  One of a hole is made by asking. */
bool page_sender_is_zero(const struct page_sender *s, uint64_t at);
int page_sender_flush(struct page_sender *s, struct error *err) must_check;
/* Have fn called after each frame. */
void page_sender_on_flush(struct page_sender *s, void (*fn)(void *arg),
			  void *arg);
uint64_t page_sender_count(const struct page_sender *s);
/* Not once the process has exited or begun another program (exec). */
bool page_sender_alive(const struct page_sender *s);

#endif
