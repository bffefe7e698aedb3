/*
 * queue.h - events on their way to the agent, kept until acknowledged
 *
 * The sending half of "nothing is lost or doubled" (cluster/conn/keeper.proto).  An
 * event that must arrive gets the next sequence number and stays until acked;
 * the others are sent in the same order and dropped once sent, or while no
 * agent is connected.
 */
#ifndef CLUSTER_KEEPER_QUEUE_H
#define CLUSTER_KEEPER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/conn/keeper.pb-c.h"

#define KEEPER_MSG_MAX (192 * 1024)

struct keeper_queue;

struct keeper_queue *keeper_queue_create(void);
void keeper_queue_destroy(struct keeper_queue *q); /* NULL is allowed */

/* Take a copy of ev; keep: give it a number and hold it until acked. */
void keeper_queue_add(struct keeper_queue *q, Keeper__Event *ev, bool keep);

/*
 * Send what has not been sent over the SEQPACKET socket fd, which does not
 * block.  0 when all is out, 1 when fd is full, or -errno.
 */
int keeper_queue_send(struct keeper_queue *q, int fd);

/* The agent has processed all events up to seq. */
void keeper_queue_ack(struct keeper_queue *q, uint64_t seq);

/* A new connection, whose agent has processed all events up to seq. */
void keeper_queue_restart(struct keeper_queue *q, uint64_t seq);

/* No agent is connected: events that need no ack are dropped from now on. */
void keeper_queue_detach(struct keeper_queue *q);

size_t keeper_queue_bytes(const struct keeper_queue *q); /* kept, unacked */
size_t keeper_queue_kept(const struct keeper_queue *q);	 /* their number */

#endif
