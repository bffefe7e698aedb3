/*
 * tcp_later.h - long queues of connections, which come after the set
 *
 * A set that held them would be packed, handed on and unpacked as a whole, and each
 * time into memory that nobody has touched yet, which costs most of the time.  So
 * it counts the bytes (fds.proto), and they follow in pieces, which the destination
 * fills in as they come.
 */
#ifndef MOVE_SOCK_TCP_LATER_H
#define MOVE_SOCK_TCP_LATER_H

#include "core/error.h"
#include "move/fdkit/restore_ops.h"
#include "move/fdkit/source.h"

/* How many bytes are to come. */
static inline size_t tcplater_bytes(const Fds__Tcp *t)
{
	return (size_t)t->received_later + t->unacked_later + t->unsent_later;
}

/* The source: when all are captured, take the long queues out of the set. */
void tcplater_take_out(struct fdscan *sc);
/* See fds_queues(). */
int tcplater_put(struct fdscan *sc, fds_put_fn *put, void *ctx,
		 struct error *err) must_check;

/* The destination: fetch what is to come of that connection. */
int tcplater_fetch(Fds__Tcp *t, const struct fds_restore_ops *ops, void *ctx,
		   struct error *err) must_check;
/* All but what is unsent is in the kernel now; the lengths stay. */
void tcplater_forget(Fds__Tcp *t);

#endif
