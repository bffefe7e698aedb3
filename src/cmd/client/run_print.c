/* run_print.c - what ranks print, on its way out, see run_print.h */
#include "cmd/client/run_print.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "cluster/client/lines.h"
#include "cluster/conn/loop.h"
#include "cmd/client/instants.h"
#include "core/io.h"
#include "core/log.h"
#include "core/units.h"
#include "core/xalloc.h"

#define SHOW_AFTER (100 * USEC_PER_MSEC) /* an unfinished line */

/* Bytes for a stream, or with stream 0 a mark. */
struct chunk {
	TAILQ_ENTRY(chunk) link;
	unsigned stream;
	uint32_t rank;
	uint64_t epoch, seq;
	size_t at, n; /* written and in all */
	char data[];
};

struct run_print {
	const struct run_print_ops *ops;
	void *ctx;
	sd_event *event;
	struct lines *lines;
	sd_event_source *show;	/* soon; NULL: nothing new since */
	sd_event_source *io[2]; /* NULL: a file, which takes all at once */
	TAILQ_HEAD(, chunk) queue;
	bool dead;    /* a write has failed */
	bool hurried; /* what would wait is dropped */
	bool pumping; /* so that what ops do to it does not go in circles */
};

static int fd_of(unsigned stream)
{
	return stream == 1 ? STDOUT_FILENO : STDERR_FILENO;
}

/*
 * Write some of it; 0: not now. The descriptors are shared with other
 * processes, so they must stay blocking; but a descriptor that poll() reports
 * writable takes PIPE_BUF bytes (only a terminal may block, until the user
 * resumes it).
 */
static ssize_t write_some(const struct run_print *p, const struct chunk *c)
{
	struct pollfd ready = { .fd = fd_of(c->stream), .events = POLLOUT };
	size_t n = c->n - c->at;
	ssize_t w;
	int r;

	if (!p->io[c->stream - 1]) {
		r = io_write_full(ready.fd, c->data + c->at, n);
		return r < 0 ? r : (ssize_t)n;
	}
	if (poll(&ready, 1, 0) < 1)
		return 0;
	w = write(ready.fd, c->data + c->at, n < PIPE_BUF ? n : PIPE_BUF);
	if (w < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return w;
}

static void fail(struct run_print *p, int code)
{
	p->dead = true;
	p->ops->failed(p->ctx, code);
}

/* False: it waits for its descriptor. */
static bool finish(struct run_print *p, struct chunk *c)
{
	ssize_t w;

	while (c->stream && !p->dead && c->at < c->n) {
		w = write_some(p, c);
		if (w < 0)
			fail(p, (int)w);
		else if (w)
			c->at += w;
		else if (p->hurried)
			p->dead = true;
		else
			return false;
	}
	return true;
}

static void pump(struct run_print *p)
{
	struct chunk *c;

	if (p->pumping)
		return;
	p->pumping = true;
	while ((c = TAILQ_FIRST(&p->queue)) && finish(p, c)) {
		TAILQ_REMOVE(&p->queue, c, link);
		if (!c->stream)
			p->ops->taken(p->ctx, c->rank, c->epoch, c->seq);
		free(c);
	}
	p->pumping = false;
	if (c)
		sd_event_source_set_enabled(p->io[c->stream - 1],
					    SD_EVENT_ONESHOT);
}

static void pump_and_tell(struct run_print *p)
{
	pump(p);
	if (TAILQ_EMPTY(&p->queue))
		p->ops->idle(p->ctx);
}

static int on_room(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	pump_and_tell(arg);
	return 0;
}

static void add_chunk(struct run_print *p, struct chunk *c)
{
	TAILQ_INSERT_TAIL(&p->queue, c, link);
	/* Otherwise the first one already waits for room. */
	if (TAILQ_FIRST(&p->queue) == c)
		pump(p);
}

static int add_bytes(void *ctx, unsigned stream, const void *data, size_t n)
{
	struct chunk *c = xmalloc(sizeof(*c) + n);

	*c = (struct chunk){ .stream = stream, .n = n };
	memcpy(c->data, data, n);
	add_chunk(ctx, c);
	return 0;
}

static void add_mark(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq)
{
	struct chunk *c = xmalloc(sizeof(*c));

	*c = (struct chunk){ .rank = rank, .epoch = epoch, .seq = seq };
	add_chunk(ctx, c);
}

static const struct lines_ops lines_ops = { .print = add_bytes,
					    .taken = add_mark };

struct run_print *run_print_create(sd_event *event, uint32_t nr_ranks,
				   bool label, const struct run_print_ops *ops,
				   void *ctx)
{
	struct run_print *p = xcalloc(1, sizeof(*p));

	p->ops = ops;
	p->ctx = ctx;
	p->event = event;
	p->lines = lines_create(nr_ranks, label, &lines_ops, p);
	TAILQ_INIT(&p->queue);
	for (unsigned i = 0; i < 2; i++)
		if (sd_event_add_io(event, &p->io[i], fd_of(i + 1), EPOLLOUT,
				    on_room, p) < 0)
			p->io[i] = NULL;
		else
			sd_event_source_set_enabled(p->io[i], SD_EVENT_OFF);
	return p;
}

void run_print_destroy(struct run_print *p)
{
	struct chunk *c;

	if (!p)
		return;
	while ((c = TAILQ_FIRST(&p->queue))) {
		TAILQ_REMOVE(&p->queue, c, link);
		free(c);
	}
	for (unsigned i = 0; i < 2; i++)
		sd_event_source_disable_unref(p->io[i]);
	sd_event_source_disable_unref(p->show);
	lines_destroy(p->lines);
	free(p);
}

static int on_show(sd_event_source *src, uint64_t usec, void *arg)
{
	struct run_print *p = arg;

	p->show = sd_event_source_disable_unref(p->show);
	for (unsigned stream = 1; stream <= 2; stream++)
		if (isatty(fd_of(stream)))
			lines_show(p->lines, stream);
	return 0;
}

void run_print_piece(struct run_print *p, const Control__Output *o)
{
	if (o->gap && lines_skip(p->lines, o->rank, o->stream, o->offset) &&
	    !output_begins(o->offset))
		log_warnx(
			"some of what rank %u printed is lost with the host it left, or was not kept",
			o->rank);
	lines_add(p->lines, o->rank, o->stream, o->offset, o->data.data,
		  o->data.len, o->epoch, o->seq);
	if (!p->show)
		loop_after(p->event, &p->show, SHOW_AFTER, on_show, p);
}

void run_print_join(struct run_print *p, const Control__JobState *s)
{
	for (size_t i = 0; i < s->n_begins; i++) {
		lines_skip(p->lines, i, 1, s->begins[i]->stdout_end);
		lines_skip(p->lines, i, 2, s->begins[i]->stderr_end);
	}
}

/* A rank that printed nothing after its job began anew: no piece tells so. */
static void skip_lives(struct run_print *p, const Control__JobState *end)
{
	for (size_t i = 0; i < end->n_ends; i++) {
		const Control__RankEnd *e = end->ends[i];

		lines_skip(p->lines, i, 1, e->stdout_end >> 48 << 48);
		lines_skip(p->lines, i, 2, e->stderr_end >> 48 << 48);
	}
}

bool run_print_reached(struct run_print *p, const Control__JobState *end)
{
	skip_lives(p, end);
	for (size_t i = 0; i < end->n_ends; i++)
		if (!lines_reached(p->lines, i, end->ends[i]->stdout_end,
				   end->ends[i]->stderr_end))
			return false;
	return true;
}

void run_print_finish(struct run_print *p)
{
	lines_finish(p->lines);
}

bool run_print_idle(const struct run_print *p)
{
	return TAILQ_EMPTY(&p->queue);
}

void run_print_drop(struct run_print *p)
{
	p->hurried = true;
	if (!run_print_idle(p))
		pump_and_tell(p);
}

void run_print_drain(struct run_print *p)
{
	struct chunk *c;

	TAILQ_FOREACH (c, &p->queue, link)
		if (c->stream && !p->dead &&
		    io_write_full(fd_of(c->stream), c->data + c->at,
				  c->n - c->at) < 0)
			p->dead = true;
}

void run_print_waiting(const char *name, uint64_t job, const char *why)
{
	char *text = instants_told(why);

	fprintf(stderr, "stint %s: job %" PRIu64 " waits: %s\n", name, job,
		text);
	free(text);
}
