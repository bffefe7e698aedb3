/* tcp_later.c - long queues of connections; see tcp_later.h */
#include "move/sock/tcp_later.h"

#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/sock/tcp_compat.h"
#include "move/wire/frame.h"

/* ---- source ---- */

static Fds__Tcp *tcp_of(const struct fdscan_file *f)
{
	const Fds__File *m = f->msg;

	return m->kind_case == FDS__FILE__KIND_SOCKET &&
			       m->socket->kind_case == FDS__SOCKET__KIND_INET
		       ? m->socket->inet->tcp
		       : NULL;
}

static void take_out(struct fdscan *sc, ProtobufCBinaryData *d, uint32_t *later)
{
	if (!d->len)
		return;
	array_room(sc->later, sc->nr_later, &sc->cap_later);
	sc->later[sc->nr_later++] = *d;
	*later = (uint32_t)d->len;
	*d = (ProtobufCBinaryData){ 0 };
}

void tcplater_take_out(struct fdscan *sc)
{
	for (size_t i = 0; i < sc->nr_file; i++) {
		Fds__Tcp *t = tcp_of(&sc->file[i]);

		if (!t || t->state == TCP_CLOSE ||
		    t->received.len + t->unacked.len + t->unsent.len <
			    sc->s->later_least)
			continue;
		take_out(sc, &t->received, &t->received_later);
		take_out(sc, &t->unacked, &t->unacked_later);
		take_out(sc, &t->unsent, &t->unsent_later);
	}
}

static int put_pieces(const ProtobufCBinaryData *d, fds_put_fn *put, void *ctx,
		      struct error *err)
{
	int r = 0;

	for (size_t at = 0, n; at < d->len && !r; at += n) {
		n = d->len - at < FRAME_QUEUE_DATA ? d->len - at
						   : FRAME_QUEUE_DATA;
		r = put(ctx, d->data + at, n, err);
	}
	return r;
}

int tcplater_put(struct fdscan *sc, fds_put_fn *put, void *ctx,
		 struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < sc->nr_later && !r; i++) {
		r = put_pieces(&sc->later[i], put, ctx, err);
		free(sc->later[i].data);
		sc->later[i] = (ProtobufCBinaryData){ 0 };
	}
	return r;
}

/* ---- destination ---- */

static int fetch_one(ProtobufCBinaryData *d, uint32_t *later,
		     const struct fds_restore_ops *ops, void *ctx,
		     struct error *err)
{
	if (!*later)
		return 0;
	if (!ops->queue)
		return error_set(err, -EPROTO, "a queue that does not come");
	free(d->data);
	d->data = xmalloc(*later);
	d->len = *later;
	*later = 0;
	return ops->queue(ctx, d->data, d->len, err);
}

int tcplater_fetch(Fds__Tcp *t, const struct fds_restore_ops *ops, void *ctx,
		   struct error *err)
{
	int r = fetch_one(&t->received, &t->received_later, ops, ctx, err);

	if (!r)
		r = fetch_one(&t->unacked, &t->unacked_later, ops, ctx, err);
	return r < 0 ? r
		     : fetch_one(&t->unsent, &t->unsent_later, ops, ctx, err);
}

static void forget(ProtobufCBinaryData *d)
{
	free(d->data);
	d->data = NULL;
}

void tcplater_forget(Fds__Tcp *t)
{
	forget(&t->received);
	forget(&t->unacked);
}
