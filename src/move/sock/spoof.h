/*
 * spoof.h - packets that look as if they came from a peer
 *
 * TCP repair mode cannot set that a FIN was received or acknowledged, and no call puts
 * a datagram into a queue together with its sender's address.  Inside the capsule,
 * while it is unplugged from the network, both can be done by a forged packet: a raw
 * packet to one of our own addresses takes the loopback path.
 */
#ifndef MOVE_SOCK_SPOOF_H
#define MOVE_SOCK_SPOOF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * A segment from m's peer to its local address, at seq: it acknowledges ack, and has
 * FIN if fin is set.  window: the field as sent, not scaled.
 */
int spoof_tcp(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      bool fin, struct error *err) must_check;

/*
 * The same without FIN, as the answer to a segment that was sent at `echo`, in ms or us
 * as the connection's timestamps count.
 */
int spoof_echo(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	       uint32_t echo, struct error *err) must_check;

/*
 * The other way, and not forged: an ACK of our own to the real peer, so that it learns
 * our window.  The kernel sends none by itself.
 */
int spoof_ack(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      struct error *err) must_check;

/* A datagram; both addresses are sockaddrs of one family. */
int spoof_udp(const void *from, const void *to, const ProtobufCBinaryData *data,
	      struct error *err) must_check;

#endif
