/*
 * pool.c - the addresses of ranks
 */
#include <stdlib.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"
#include "core/xalloc.h"
#include "net/net.h"

struct ctl_pool {
	struct in_addr first;
	unsigned prefix;
	/* the last one given out, counted from the first address */
	uint32_t last;
};

int ctl_pool_create(struct ctl *ctl, struct error *err)
{
	struct ctl_pool *pool = xcalloc(1, sizeof(*pool));

	ctl->pool = pool;
	return net_parse_cidr(ctl->conf->pool, &pool->first, &pool->prefix,
			      err);
}

void ctl_pool_destroy(struct ctl *ctl)
{
	free(ctl->pool);
}

bool ctl_pool_within(const struct ctl *ctl, struct in_addr net, unsigned prefix)
{
	const struct ctl_pool *pool = ctl->pool;
	uint32_t mask = ~0u << (32 - prefix);

	return prefix <= pool->prefix &&
	       !((ntohl(net.s_addr) ^ ntohl(pool->first.s_addr)) & mask);
}

struct in_addr ctl_pool_take(struct ctl *ctl)
{
	struct ctl_pool *pool = ctl->pool;
	uint32_t size = 1u << (32 - pool->prefix), base, try;
	bool taken = true;

	base = ntohl(pool->first.s_addr) & ~(size - 1);
	for (uint32_t n = 0; n < size && taken; n++) {
		/*
		 * Neither the first address, which looks like a network's, nor
		 * the last.
		 */
		pool->last = pool->last % (size - 2) + 1;
		try = base + pool->last;
		taken = ctl_rank_at(ctl, (struct in_addr){ htonl(try) });
	}
	return (struct in_addr){ htonl(taken ? 0 : try) };
}
