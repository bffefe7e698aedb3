/*
 * pages.h - memory on its way from one process to the other
 */
#ifndef MOVE_PAGES_H
#define MOVE_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/frame.h"

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
int page_sender_flush(struct page_sender *s, struct error *err) must_check;
/* Have fn called after each frame. */
void page_sender_on_flush(struct page_sender *s, void (*fn)(void *arg),
			  void *arg);
uint64_t page_sender_count(const struct page_sender *s);
/* Not once the process has exited or begun another program (exec). */
bool page_sender_alive(const struct page_sender *s);

/*
 * Put the pages of a checked PAGES frame into the memory of pid.  For each one
 * that has no place there, since nothing is mapped or the file ends before it,
 * lost() is called.
 */
typedef void pages_lost_fn(void *arg, uint64_t start, uint64_t end);
int pages_place(pid_t pid, const struct frame *f, pages_lost_fn *lost,
		void *arg, struct error *err) must_check;

#endif
