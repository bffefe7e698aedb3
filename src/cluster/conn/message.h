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

/* The body of an answer FAILED: a negative errno, and a line for a person, which is not
 * copied. */
Control__Failed message_failed(int code, const char *why);

/* A Control__Reason in a word: "time-limit"; "" for an end that was well. */
const char *message_reason(int reason);

/* Unpack a message; NULL with an error if it is malformed. */
Control__Message *message_parse(const uint8_t *p, size_t n, struct error *err);
void message_free(Control__Message *m);

/* Give a text field of a message a new, allocated value; frees the old. */
void message_set_text(char **field, char *text);

/*
 * Offsets of what a rank prints begin here in the life that follows the n-th
 * requeue of its job, so that no byte of one life is taken for one of another.
 */
static inline uint64_t output_begin(uint32_t n)
{
	return (uint64_t)n << 48;
}

static inline bool output_begins(uint64_t offset)
{
	return !(offset & ((1ull << 48) - 1));
}

#endif
