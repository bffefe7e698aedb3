/*
 * copy.c - a copy of the store for an administrator, while the controller runs
 *
 * It is made a millisecond at a time, between which all others have theirs.  What it
 * becomes is the client's business: nothing that a client says names a file here.
 */
#include <errno.h>
#include <stdlib.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/store_copy.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	COPIES_MAX = 2,	   /* at a time: each takes room on the disk */
	PIECE = 512 << 10, /* bytes of an answer */
};

#define STEP_EVERY (2 * USEC_PER_MSEC)
/* who has not asked for more by then does not come any more */
#define IDLE	   (60 * USEC_PER_SEC)

struct front_copy {
	struct ctl_peer *peer;
	struct store_copy *copy;
	uint64_t re; /* the request that waits for it to be whole; 0: it is */
	sd_event_source *timer;
	LIST_ENTRY(front_copy) link;
};

static void destroy_copy(struct front_copy *c)
{
	LIST_REMOVE(c, link);
	sd_event_source_disable_unref(c->timer);
	store_copy_end(c->copy);
	free(c);
}

static struct front_copy *copy_of(const struct ctl_front *f,
				  const struct ctl_peer *p)
{
	struct front_copy *c;

	LIST_FOREACH (c, &f->copies, link)
		if (c->peer == p)
			return c;
	return NULL;
}

void front_copy_gone(struct ctl_front *f, const struct ctl_peer *p)
{
	struct front_copy *c, *next;

	for (c = LIST_FIRST(&f->copies); c; c = next) {
		next = LIST_NEXT(c, link);
		if (!p || c->peer == p)
			destroy_copy(c);
	}
}

static void fail_copy(struct front_copy *c, uint64_t re, int code,
		      const struct error *why)
{
	ctl_send_failed(c->peer, re, code, "%s", why->text);
	log_warnx("peer=%s copy=failed why=\"%s\"", conn_peer(c->peer->conn),
		  why->text);
	destroy_copy(c);
}

static int on_idle(sd_event_source *src, uint64_t usec, void *arg)
{
	destroy_copy(arg);
	return 0;
}

static void send_piece(struct front_copy *c, uint64_t re, uint64_t from)
{
	Control__StorePiece piece = CONTROL__STORE_PIECE__INIT;
	uint64_t left;
	struct error err;
	int r;

	piece.size = store_copy_size(c->copy);
	left = from < piece.size ? piece.size - from : 0;
	piece.data.len = left < PIECE ? left : PIECE;
	piece.next = left > PIECE ? from + PIECE : 0;
	piece.data.data = xmalloc(piece.data.len + 1);
	r = store_copy_read(c->copy, from, piece.data.data, piece.data.len,
			    &err);
	if (!r)
		ctl_send(c->peer, 0, re, MESSAGE_BODY(STORE_PIECE), &piece);
	free(piece.data.data);
	c->timer = sd_event_source_disable_unref(c->timer);
	if (r < 0)
		fail_copy(c, re, r, &err);
	else if (!piece.next)
		destroy_copy(c);
	else
		loop_after(c->peer->ctl->event, &c->timer, IDLE, on_idle, c);
}

static int on_step(sd_event_source *src, uint64_t usec, void *arg)
{
	struct front_copy *c = arg;
	uint64_t re = c->re;
	struct error err;
	int r = store_copy_step(c->copy, &err);

	c->timer = sd_event_source_disable_unref(c->timer);
	if (r < 0) {
		fail_copy(c, re, r, &err);
	} else if (!r) {
		loop_after(c->peer->ctl->event, &c->timer, STEP_EVERY, on_step,
			   c);
	} else {
		c->re = 0;
		send_piece(c, re, 0);
	}
	return 0;
}

static unsigned count_copies(const struct ctl_front *f)
{
	const struct front_copy *c;
	unsigned n = 0;

	LIST_FOREACH (c, &f->copies, link)
		n++;
	return n;
}

static void begin_copy(struct ctl_peer *p, uint64_t re)
{
	struct ctl_front *f = p->ctl->front;
	struct store_copy *copy;
	struct front_copy *c;
	struct error err;
	int r = 0;

	front_copy_gone(f, p);
	if (count_copies(f) >= COPIES_MAX)
		r = error_set(&err, -EBUSY,
			      "%d copies of the store are being made: wait for "
			      "one",
			      COPIES_MAX);
	if (!r)
		r = store_copy_begin(p->ctl->store, &copy, &err);
	ctl_audit(p, &(struct ctl_audited){ .what = "copy", .target = "store" },
		  r, r < 0 ? err.text : "");
	if (r < 0) {
		ctl_send_failed(p, re, r, "%s", err.text);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->peer = p;
	c->copy = copy;
	c->re = re;
	LIST_INSERT_HEAD(&f->copies, c, link);
	loop_after(p->ctl->event, &c->timer, 0, on_step, c);
}

void front_copy_store(struct ctl_peer *p, uint64_t re, uint64_t from)
{
	struct front_copy *c = copy_of(p->ctl->front, p);

	if (!from)
		begin_copy(p, re);
	else if (c && !c->re)
		send_piece(c, re, from);
	else
		ctl_send_failed(p, re, -ESTALE,
				"the copy is no more: begin anew");
}
