/*
 * keeper.h - the process beside each rank: its capsule, its stdio, its moves
 *
 * A keeper manages one rank on one host: it makes the capsule, starts the
 * program or receives a copy that lands, owns the far ends of its stdio and PMI
 * socket, and forks the engine when the rank moves.  Its agent tells it what to
 * do over a socket (cluster/conn/keeper.proto) and may come and go: the keeper
 * continues, keeps its events until they are acknowledged, and blocks the
 * rank's output rather than lose any of it.
 *
 * The keeper's own death ends its capsule with everything in it (capsule/capsule.h), so
 * a rank never runs without one.  Therefore the copy of a dead destination
 * keeper no longer exists, and VERDICT can let the source's copy continue.
 */
#ifndef CLUSTER_KEEPER_KEEPER_H
#define CLUSTER_KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/host/limit.h"
#include "core/error.h"
#include "core/units.h"

struct keeper_config {
	const char *run_dir;
	const char *job; /* letters, digits, '_' and '-', at most 32 */
	uint32_t rank;
	uint64_t epoch;	  /* 0: to START; else the move with which it lands */
	bool fast_path;	  /* use it where possible (capsule_fast_path()) */
	uint32_t min_uid; /* whoever it starts or lands: not below it, */
	uint32_t min_gid; /* ... nor in a group below it that this host's
			     user database does not give to it */
	const char *guests_of;	  /* users with commas; NULL: anybody may */
	const char *owners;	  /* likewise: whose ranks are no guests here */
	struct limit_terms terms; /* what this host gives a rank */
	int ready_fd;  /* told when the socket listens: by HELLO, if it is the
			 agent's connection; -1 */
	usec_t lonely; /* it ends when so long it has neither rank nor agent:
			   one whose agent died starting it; 0: 10 minutes */
};

/* Look for what all keepers need alike: for a program that is to fork many. */
void keeper_prepare(void);

/*
 * Run as a keeper until the rank has ended or left and the agent has
 * acknowledged all events. 0; 1 if the process may be the keeper of another rank then,
 * since this one has begun and ended here; or a negative errno with the reason when it
 * could not start.
 */
int keeper_run(const struct keeper_config *conf, struct error *err) must_check;

#endif
