/* run_stdin.c - standard input on its way to rank 0, see run_stdin.h */
#include "cmd/client/run_stdin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/log.h"
#include "core/xalloc.h"

enum {
	KEEP = 256 << 10, /* bytes that may be asked for again */
	PIECE = 32 << 10,
};

struct run_stdin {
	run_stdin_send send;
	void *ctx;
	sd_event_source *io; /* NULL: a file, always readable */
	uint64_t base;	     /* offset of data[0] */
	char *data;
	size_t n;
	bool eof;
	uint64_t from, room; /* what may be sent; room 0: nothing now */
};

/* /dev/null: its end is known before anybody asks. */
static bool is_empty(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(1, 3);
}

bool run_stdin_wanted(void)
{
	if (isatty(STDIN_FILENO))
		return tcgetpgrp(STDIN_FILENO) == getpgrp();
	return !is_empty();
}

/* Read some more; false when there is nothing now. */
static bool fill_buffer(struct run_stdin *s)
{
	ssize_t n;

	if (s->n + PIECE > KEEP + 2 * PIECE) {
		size_t drop = s->n + PIECE - KEEP;

		memmove(s->data, s->data + drop, s->n - drop);
		s->n -= drop;
		s->base += drop;
	}
	n = read(STDIN_FILENO, s->data + s->n, PIECE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0)
		log_warn(-errno, "standard input");
	if (n <= 0)
		s->eof = true;
	else
		s->n += n;
	return true;
}

/* What is there and wanted; true if something was sent. */
static bool offer(struct run_stdin *s)
{
	uint64_t end = s->base + s->n, n;

	if (!s->room || s->from < s->base || s->from > end)
		return false;
	n = end - s->from;
	if (!n && !s->eof)
		return false;
	if (n > s->room)
		n = s->room;
	if (n > PIECE)
		n = PIECE;
	if (s->send(s->ctx, s->from, s->data + (s->from - s->base), n,
		    s->eof && s->from + n == end) < 0)
		return false;
	s->room = 0; /* until the far end says where to go on */
	return true;
}

static void pump(struct run_stdin *s)
{
	if (offer(s) || !s->room || s->eof)
		return;
	if (s->io)
		sd_event_source_set_enabled(s->io, SD_EVENT_ONESHOT);
	else if (fill_buffer(s))
		offer(s);
}

static int on_input(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct run_stdin *s = arg;

	if (fill_buffer(s))
		offer(s);
	else
		pump(s);
	return 0;
}

struct run_stdin *run_stdin_create(sd_event *event, run_stdin_send send,
				   void *ctx)
{
	struct run_stdin *s = xcalloc(1, sizeof(*s));

	s->send = send;
	s->ctx = ctx;
	s->data = xmalloc(KEEP + 3 * PIECE);
	s->eof = !run_stdin_wanted();
	/* Files and /dev/null cannot be waited for, and need not. */
	if (sd_event_add_io(event, &s->io, STDIN_FILENO, EPOLLIN, on_input, s) <
	    0)
		s->io = NULL;
	else
		sd_event_source_set_enabled(s->io, SD_EVENT_OFF);
	return s;
}

void run_stdin_destroy(struct run_stdin *s)
{
	if (!s)
		return;
	sd_event_source_disable_unref(s->io);
	free(s->data);
	free(s);
}

void run_stdin_room(struct run_stdin *s, uint64_t from, uint64_t room)
{
	s->from = from;
	s->room = room;
	pump(s);
}
