/*
 * test_states.h - a policy on a random state: hosts of any speed, load and memory, closed,
 * drained, down or their owners', and jobs that run anywhere on them
 */
#ifndef POLICY_MIGRATE_TEST_STATES_H
#define POLICY_MIGRATE_TEST_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/random.h"
#include "policy/policies.h"

#define SEC USEC_PER_SEC
#define MB  UINT64_C(1000000)

enum { HOSTS = 8, JOBS = 6, RANKS = 4, PASSES = 80 };

struct play {
	const char *spec;
	uint64_t seed;
	struct view view;
	struct plan plan;
	struct policy *policy;
	struct job *job[JOBS];
	uint64_t memory[HOSTS];	   /* without guests */
	uint32_t was[JOBS][RANKS]; /* host from which it moved last, + 1 */
	unsigned moves, since[JOBS][RANKS]; /* ... as the how manieth move */
	enum play_mode { ALONE, CROWD, TROUBLE } mode;
	struct flying {
		int job;
		uint32_t rank, to;
	} flying[JOBS * RANKS], failed[JOBS * RANKS];
	unsigned nr_flying; /* moves that have begun */
	unsigned nr_failed; /* in the last second */
	struct random_stream luck;
	uint32_t seen[PASSES + 1][JOBS][RANKS];
	unsigned nr_seen;
};

/* At 3600 s; the same seed draws the same hosts and jobs. */
void play_begin(struct play *p, const char *spec, uint64_t seed,
		enum play_mode mode);
void play_end(struct play *p);

#endif
