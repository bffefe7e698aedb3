/*
 * own.h - a policy of one's own: a shared object that the simulator loads
 *
 * A file of one policy, written as those of Stint are (policy.h), ends in
 *
 *	static const struct policy_ops mine = { .name = "mine", ... };
 *	OWN_POLICY(mine);
 *
 * and is built and used without Stint's sources:
 *
 *	cc -shared -fPIC -o mine.so mine.c $(pkg-config --cflags stint-policy)
 *	stint policies --test ./mine.so
 *	stint sim -p ./mine.so:key=value,... -w ismail
 *
 * examples/patient.c is one.  It may call the functions of policy/own.symbols: those
 * that read a view, those that write a plan, parameters, random streams, memory, and of
 * the kit the index of waiting jobs (fitset.h), running jobs by their ends (ends.h),
 * the time at which a job can start (shadow.h) and a queue ordered by a key (ranked.h).
 *
 * OWN_POLICY_VERSION is raised whenever what these headers declare changes its meaning or
 * its layout.  A file that was built for another version is refused, as is one whose
 * structures have other sizes: it is to be built anew.
 */
#ifndef POLICY_KIT_OWN_H
#define POLICY_KIT_OWN_H

#include <stdint.h>

#include "policy/kit/policy.h"

#define OWN_POLICY_VERSION 4

/* Sizes of the structures that both sides use. */
struct own_sizes {
	uint32_t ops, view, job, host, event, plan, entry, param;
};

#define OWN_SIZES                                                        \
	{                                                                \
		sizeof(struct policy_ops), sizeof(struct view),          \
			sizeof(struct job), sizeof(struct host),         \
			sizeof(struct event), sizeof(struct plan),       \
			sizeof(struct plan_entry), sizeof(struct param), \
	}

/*
 * What the file exports, by the name stint_own_policy. version stays its first member.
 */
struct own_policy {
	uint32_t version;
	struct own_sizes sizes;
	const struct policy_ops *ops;
};

#define OWN_POLICY(ops_)                                 \
	extern const struct own_policy stint_own_policy; \
	__attribute__((visibility("default")))           \
	const struct own_policy stint_own_policy = {     \
		.version = OWN_POLICY_VERSION,           \
		.sizes = OWN_SIZES,                      \
		.ops = &(ops_)                           \
	}

#endif
