/* plain_host.h - hosts as descriptions of machines make them */
#ifndef SIM_WORKLOAD_PLAIN_HOST_H
#define SIM_WORKLOAD_PLAIN_HOST_H

#include "model/host.h"

enum { PLAIN_HOSTS_MAX = 1000000 }; /* of one machine */

/* One that is up, and has nothing on it; name is kept.  It may hold any number of ranks. */
static inline struct host plain_host(const char *name, double alpha,
				     uint32_t cores, uint64_t memory)
{
	return (struct host){
		.name = name,
		.speed = alpha,
		.cores = cores,
		.slots = UINT32_MAX / 2,
		.memory = memory,
		.memory_free = memory,
		.up = true,
	};
}

#endif
