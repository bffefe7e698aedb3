/*
 * record.h - the durable record of whether an epoch was given away
 *
 * A file RUN_DIR/keepers/JOB.RANK.EPOCH.record, created by link(), so complete
 * or absent, and never replaced: the first writer decides:
 *
 *	given	by the source of a move before it says COMMIT
 *	kept	by the agent of a dead keeper, before it answers "not given
 *		away".  After that, an engine that outlives its keeper by a
 *		moment cannot give the rank away
 *
 * It is not synced: only this host's own crash can lose it, and that ends the
 * source's copy as well (doc/design/02).  The old keeper removes it when the
 * agent has acknowledged its GONE; a dead keeper's record is for the agent to
 * answer from, and to remove once the controller knows where the rank is.
 */
#ifndef CLUSTER_KEEPER_RECORD_H
#define CLUSTER_KEEPER_RECORD_H

#include <stdint.h>

#include "core/error.h"

struct keeper_id {
	const char *run_dir;
	const char *job;
	uint32_t rank;
};

/*
 * Record that `epoch` was given to "ADDRESS:PORT".  -ECANCELED when it is
 * "kept" already; after any failure it is certain that it was not given away.
 */
int keeper_record_write(const struct keeper_id *id, uint64_t epoch,
			const char *to, struct error *err) must_check;

/*
 * Was `epoch` given away here?  1, 0, or a negative errno when it cannot be
 * determined.  A record from before this host's last boot also counts: the copy
 * it speaks of is certainly gone.  0 may change later, unless the engine of
 * that epoch is known to have ended.
 */
int keeper_record_read(const struct keeper_id *id, uint64_t epoch,
		       struct error *err) must_check;

/*
 * The same, but 0 is final: after it the epoch cannot be given away any more.
 */
int keeper_record_settle(const struct keeper_id *id, uint64_t epoch,
			 struct error *err) must_check;

/* It is no error if there is no record. */
void keeper_record_remove(const struct keeper_id *id, uint64_t epoch);

#endif
