/*
 * pages.h - sending memory of the process; its counterpart: land/place.h
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
 * Send [start, end).  Pages that no longer exist are left out: tracking notices
 * that by other means.
 */
int page_sender_add(struct page_sender *s, uint64_t start, uint64_t end,
		    struct error *err) must_check;
/* The same, except that pages full of zeros are left out. */
int page_sender_add_nonzero(struct page_sender *s, uint64_t start, uint64_t end,
			    struct error *err) must_check;
/*
 * Does that page exist, and is it full of zeros?  Reading a hole allocates a
 * page.
 */
bool page_sender_is_zero(const struct page_sender *s, uint64_t at);
int page_sender_flush(struct page_sender *s, struct error *err) must_check;
/* Call fn after each frame. */
void page_sender_on_flush(struct page_sender *s, void (*fn)(void *arg),
			  void *arg);
uint64_t page_sender_count(const struct page_sender *s);
/* False when the process has exited or executed another program (exec). */
bool page_sender_alive(const struct page_sender *s);

#endif
