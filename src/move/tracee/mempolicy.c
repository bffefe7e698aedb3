/*
 * mempolicy.c - on which nodes a thread's memory, or a mapping's, shall lie
 */
#include "move/tracee/mempolicy.h"

#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move/wire/append.h"

struct stub_call mempolicy_ask(uint64_t at)
{
	return (struct stub_call){
		.nr = SYS_get_mempolicy,
		.arg = { at + offsetof(struct mempolicy, mode),
			 at + offsetof(struct mempolicy, nodes),
			 MEMPOLICY_NODES },
	};
}

/* Up to the last that is not zero: most hosts have few nodes. */
static ProtobufCBinaryData without_zeros(const void *nodes)
{
	const uint8_t *p = nodes;
	size_t n = MEMPOLICY_NODES / 8;

	while (n && !p[n - 1])
		n--;
	return append_bytes(p, n);
}

Move__Mempolicy *mempolicy_take(const struct stub_call *call,
				const struct mempolicy *p)
{
	Move__Mempolicy *m;

	/* a kernel without NUMA */
	if (call->ret < 0 || p->mode == MPOL_DEFAULT)
		return NULL;
	m = append_new(&move__mempolicy__descriptor);
	m->mode = (uint32_t)p->mode;
	m->nodes = without_zeros(p->nodes);
	return m;
}

ProtobufCBinaryData mempolicy_allowed(void)
{
	uint64_t nodes[MEMPOLICY_NODES / 64] = { 0 };

	syscall(SYS_get_mempolicy, NULL, nodes, MEMPOLICY_NODES, NULL,
		MPOL_F_MEMS_ALLOWED);
	return without_zeros(nodes);
}

bool mempolicy_fits(const Move__Mempolicy *m, const ProtobufCBinaryData *nodes)
{
	for (size_t i = 0; i < m->nodes.len; i++)
		if (m->nodes.data[i] & ~(i < nodes->len ? nodes->data[i] : 0u))
			return false;
	return true;
}

bool mempolicy_nodes(const Move__Mempolicy *m,
		     uint64_t ret[MEMPOLICY_NODES / 64])
{
	if (m->nodes.len > MEMPOLICY_NODES / 8)
		return false;
	memset(ret, 0, MEMPOLICY_NODES / 8);
	if (m->nodes.len)
		memcpy(ret, m->nodes.data, m->nodes.len);
	return true;
}
