/*
 * message.h - the control protocol's messages over connections
 */
#ifndef CLUSTER_CONN_MESSAGE_H
#define CLUSTER_CONN_MESSAGE_H

#include <stdint.h>

#include "cluster/conn/conn.h"
#include "cluster/conn/control.pb-c.h"
#include "cluster/conn/frames.h"

/* The body: a case of the oneof and its struct. */
#define MESSAGE_BODY(NAME) CONTROL__MESSAGE__BODY_##NAME

/*
 * Send one; results as conn_send().  re: the id of the request that it answers,
 * or 0; id: 0 where no answer is expected.
 */
int message_send(struct conn *c, uint64_t id, uint64_t re,
		 Control__Message__BodyCase what, void *body);

/*
 * The first message of either side; agent and controller as in the protocol, or
 * NULL.
 */
int message_send_hello(struct conn *c, uint64_t id, uint64_t re,
		       Control__AgentInfo *agent,
		       Control__ControllerInfo *controller);

/* Unpack a message; NULL with an error if it is malformed. */
Control__Message *message_parse(const uint8_t *p, size_t n, struct error *err);
void message_free(Control__Message *m);

/* Give a text field of a message a new, allocated value; frees the old. */
void message_set_text(char **field, char *text);

#endif
