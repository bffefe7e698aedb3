/*
 * move_peer.h - the other end of `stint move`: an address, and a key that both
 * ends share
 *
 * Without a key only loopback addresses are taken, unless plaintext allows
 * more.
 */
#ifndef CMD_MOVE_MOVE_PEER_H
#define CMD_MOVE_MOVE_PEER_H

#include <stdbool.h>

#include "core/channel.h"
#include "core/error.h"
#include "move/move.h"

struct move_peer {
	const char *addr;     /* ADDR:PORT or [V6]:PORT */
	const char *key_file; /* or NULL */
	bool plaintext;
	bool once; /* exit after the first connection, source or not */
};

/* Connect to the receiver at that address. */
int move_peer_connect(const struct move_peer *peer, struct channel **ret,
		      struct error *err) must_check;

/*
 * Listen there, print "listening ADDR:PORT" (port 0: a free one), and accept
 * the first peer that proves to be a source; others are reported on stderr.
 */
int move_peer_accept(const struct move_peer *peer, struct channel **ret,
		     struct error *err) must_check;

/* How a move went: one object on stdout, or lines for people on stderr. */
void move_report_json(const struct move_report *rep, const struct error *err);
void move_report_print(const struct move_report *rep);

#endif
