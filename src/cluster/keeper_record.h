/*
 * keeper_record.h - the durable word "this epoch was given away"
 *
 * A file RUN_DIR/keepers/JOB.RANK.EPOCH.committed, renamed into place by the
 * source of a move before it says COMMIT, so there in full or not at all.  It
 * is not synced: only this host's own crash can lose it, and that ends the
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

/* Write the record of `epoch`, given to "ADDRESS:PORT". */
int keeper_record_write(const struct keeper_id *id, uint64_t epoch,
			const char *to, struct error *err) must_check;

/*
 * Was `epoch` given away here?  1, 0, or a negative errno when it cannot be
 * told.  A record from before this host's last boot also counts: the copy it
 * speaks of is certainly gone.
 */
int keeper_record_read(const struct keeper_id *id, uint64_t epoch,
		       struct error *err) must_check;

/* No record is no error. */
void keeper_record_remove(const struct keeper_id *id, uint64_t epoch);

#endif
