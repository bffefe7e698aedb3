/*
 * mempolicy.h - NUMA memory policies of threads and mappings
 *
 * set_mempolicy(2) and mbind(2).  A policy is moved if the destination has all
 * of its nodes; if not, the thread gets the default policy.
 */
#ifndef MOVE_TRACEE_MEMPOLICY_H
#define MOVE_TRACEE_MEMPOLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "move/tracee/stub.h"
#include "move/wire/state.pb-c.h"

#define MEMPOLICY_NODES 1024 /* as many as any kernel has */

struct mempolicy {
	uint64_t nodes[MEMPOLICY_NODES / 64];
	int32_t mode; /* and flags */
};

/* The call by which a thread writes its own to that address. */
struct stub_call mempolicy_ask(uint64_t at);

/* NULL for the default policy. */
Move__Mempolicy *mempolicy_take(const struct stub_call *call,
				const struct mempolicy *p);

/* Nodes that this process may use, as Hello.nodes. */
ProtobufCBinaryData mempolicy_allowed(void);
bool mempolicy_fits(const Move__Mempolicy *m, const ProtobufCBinaryData *nodes);

/* Its nodes as set_mempolicy() wants them; false if it is malformed. */
bool mempolicy_nodes(const Move__Mempolicy *m,
		     uint64_t ret[MEMPOLICY_NODES / 64]);

#endif
