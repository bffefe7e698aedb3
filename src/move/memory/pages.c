/* pages.c - memory on its way from one process to the other; see pages.h */
#include "move/memory/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

/*
 * So much is read, hashed and sent at a time that it stays in a core's cache; less at a
 * time would cost more calls.
 */
#define DATA_PAGES 64
_Static_assert(DATA_PAGES <= FRAME_PAGES_RUNS &&
		       DATA_PAGES * FRAME_PAGE <= FRAME_PAGES_DATA,
	       "runs of a page each fit in a frame");

struct page_sender {
	struct channel *ch;
	pid_t pid;
	int mem; /* /proc/PID/mem: reads what the process itself may not */
	uint64_t total;
	void (*on_flush)(void *arg);
	void *arg;
	size_t nr_runs, nr_pages;
	struct frame_run run[DATA_PAGES];
	char *data;
};

struct page_sender *page_sender_create(pid_t pid, struct channel *ch,
				       struct error *err)
{
	struct page_sender *s = xcalloc(1, sizeof(*s));
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	s->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (s->mem < 0) {
		error_sys(err, -errno, "%s", path);
		free(s);
		return NULL;
	}
	s->pid = pid;
	s->ch = ch;
	s->data = xmalloc(DATA_PAGES * FRAME_PAGE);
	return s;
}

void page_sender_destroy(struct page_sender *s)
{
	if (!s)
		return;
	io_close(&s->mem);
	free(s->data);
	free(s);
}

/* Read all runs at once; false if some page cannot be read. */
static bool read_runs(struct page_sender *s)
{
	struct iovec there[DATA_PAGES];
	struct iovec here = { s->data, s->nr_pages * FRAME_PAGE };

	for (size_t i = 0; i < s->nr_runs; i++)
		there[i] = (struct iovec){
			(void *)(uintptr_t)s->run[i].start,
			s->run[i].nr_pages * FRAME_PAGE,
		};
	return process_vm_readv(s->pid, &here, 1, there, s->nr_runs, 0) ==
	       (ssize_t)here.iov_len;
}

/* Read page by page, and leave out those that cannot be read. */
static void read_pages(struct page_sender *s)
{
	struct frame_run old[DATA_PAGES];
	size_t nr = s->nr_runs;

	memcpy(old, s->run, nr * sizeof(*old));
	s->nr_runs = s->nr_pages = 0;
	for (size_t i = 0; i < nr; i++) {
		for (uint64_t k = 0; k < old[i].nr_pages; k++) {
			uint64_t at = old[i].start + k * FRAME_PAGE;
			struct frame_run *run = &s->run[s->nr_runs];

			if (pread(s->mem, s->data + s->nr_pages * FRAME_PAGE,
				  FRAME_PAGE, (off_t)at) != FRAME_PAGE)
				continue;
			s->nr_pages++;
			if (s->nr_runs &&
			    run[-1].start + run[-1].nr_pages * FRAME_PAGE == at)
				run[-1].nr_pages++;
			else
				s->run[s->nr_runs++] =
					(struct frame_run){ at, 1 };
		}
	}
}

static int send_runs(struct page_sender *s, struct error *err)
{
	struct frame_pages head = { s->nr_runs };
	struct iovec iov[3] = {
		{ &head, sizeof(head) },
		{ s->run, s->nr_runs * sizeof(*s->run) },
		{ s->data, s->nr_pages * FRAME_PAGE },
	};
	int r = 0;

	if (s->nr_pages)
		r = frame_send(s->ch, FRAME_PAGES, iov, 3, err);
	s->total += s->nr_pages;
	s->nr_pages = s->nr_runs = 0;
	if (s->on_flush)
		s->on_flush(s->arg);
	return r;
}

void page_sender_on_flush(struct page_sender *s, void (*fn)(void *arg),
			  void *arg)
{
	s->on_flush = fn;
	s->arg = arg;
}

int page_sender_flush(struct page_sender *s, struct error *err)
{
	if (!s->nr_pages)
		return 0;
	if (!read_runs(s))
		read_pages(s);
	return send_runs(s, err);
}

int page_sender_add(struct page_sender *s, uint64_t start, uint64_t end,
		    struct error *err)
{
	while (start < end) {
		uint64_t n = (end - start) / FRAME_PAGE;
		struct frame_run *run = &s->run[s->nr_runs];
		int r;

		if (s->nr_pages == DATA_PAGES) {
			if ((r = page_sender_flush(s, err)) < 0)
				return r;
			continue;
		}
		if (n > DATA_PAGES - s->nr_pages)
			n = DATA_PAGES - s->nr_pages;
		if (s->nr_runs &&
		    run[-1].start + run[-1].nr_pages * FRAME_PAGE == start)
			run[-1].nr_pages += n;
		else
			s->run[s->nr_runs++] = (struct frame_run){ start, n };
		s->nr_pages += n;
		start += n * FRAME_PAGE;
	}
	return 0;
}

static bool is_zero(const char *p, size_t n)
{
	return !p[0] && !memcmp(p, p + 1, n - 1);
}

static bool read_page(const struct page_sender *s, uint64_t at, char *ret)
{
	return pread(s->mem, ret, FRAME_PAGE, (off_t)at) == FRAME_PAGE;
}

bool page_sender_is_zero(const struct page_sender *s, uint64_t at)
{
	char page[FRAME_PAGE];

	return read_page(s, at, page) && is_zero(page, sizeof(page));
}

int page_sender_add_nonzero(struct page_sender *s, uint64_t start, uint64_t end,
			    struct error *err)
{
	char page[FRAME_PAGE];
	int r = 0;

	for (; start < end && !r; start += FRAME_PAGE)
		if (read_page(s, start, page) && !is_zero(page, sizeof(page)))
			r = page_sender_add(s, start, start + FRAME_PAGE, err);
	return r;
}

uint64_t page_sender_count(const struct page_sender *s)
{
	return s->total;
}

/*
 * Is the process's memory still there? proc/PID/mem belongs to one address space, and
 * reads as its end when that is gone.
 */
bool page_sender_alive(const struct page_sender *s)
{
	char byte;

	return pread(s->mem, &byte, 1, 0) != 0;
}
