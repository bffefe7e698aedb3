/*
 * spoof.h - packets that seem to come from a peer
 *
 * Repair mode cannot say that a FIN was received or acknowledged, and nothing
 * puts a datagram into a queue together with who sent it.  Inside the
 * unplugged capsule both can be played: a raw packet to our own address takes
 * the loopback path.
 */
#ifndef MOVE_SOCK_SPOOF_H
#define MOVE_SOCK_SPOOF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * From m's peer to its local address: ACK of ack, and FIN if so, at seq.
 * window is the raw field.
 */
int spoof_tcp(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      bool fin, struct error *err) must_check;

/* The same without FIN, and the answer to what was sent at `echo`, in ms or us
 * by the clock of the connection's timestamps. */
int spoof_echo(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	       uint32_t echo, struct error *err) must_check;

/*
 * The other way, and no play: an ACK of our own to the peer.  The kernel sends
 * none by itself that the peer would take a new window from.
 */
int spoof_ack(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      struct error *err) must_check;

/* A datagram; both addresses are sockaddrs of one family. */
int spoof_udp(const void *from, const void *to, const ProtobufCBinaryData *data,
	      struct error *err) must_check;

#endif
