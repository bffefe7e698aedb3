/*
 * tcpspoof.h - segments that seem to come from the peer
 *
 * Repair mode cannot say that a FIN was received or acknowledged.  Inside the
 * unplugged capsule it can be played: a raw packet to our own address takes
 * the loopback path.
 */
#ifndef MOVE_TCPSPOOF_H
#define MOVE_TCPSPOOF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "move/fds.pb-c.h"

/*
 * From m's peer to its local address: ACK of ack, and FIN if so, at seq.
 * window is the raw field.
 */
int tcpspoof_send(const Fds__Inet *m, uint32_t seq, uint32_t ack,
		  uint16_t window, bool fin, struct error *err) must_check;

#endif
