/*
 * known.h - requests to a controller of another version
 *
 * Protobuf drops what it does not know: a job with --after of a later version would begin at once.
 * So a controller refuses a request with a field that it does not know, in its answer to HELLO it
 * says that it does, and of one that does not say so nothing is asked that
 * would do harm if it was dropped.
 *
 * A field that may be dropped has a number from KNOWN_MAY_DROP on.  What is not known of
 * HELLO, with which versions find each other, is always dropped, and of messages without an
 * id, which are no requests.
 */
#ifndef CLUSTER_CONN_KNOWN_H
#define CLUSTER_CONN_KNOWN_H

#include "cluster/conn/message.h"

enum { KNOWN_MAY_DROP = 1000 };

/*
 * The number of the first field, beside the request's body or in it, that is not known
 * here, or has a field in it that is not; 0: all are known.
 */
uint32_t known_lacks(const Control__Message *request);

/* May that be asked of the controller there, which has said this of itself (NULL: nothing)? */
int known_check(const char *where, const Control__ControllerInfo *controller,
		Control__Message__BodyCase what, const void *body,
		struct error *err) must_check;

/* Why the request was refused; returns its code, or -EPROTO where that is none. */
int known_refused(const char *where, Control__Message__BodyCase what,
		  const Control__Failed *failed, struct error *err);

#endif
