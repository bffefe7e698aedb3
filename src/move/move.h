/*
 * move.h - move one running process to another host
 *
 * DRAFT of the contract between the engine and whoever runs it (the keeper,
 * `stint move`); the engine's author finishes it.
 *
 * A move has two ends.  move_send() runs where the process is and may ptrace
 * it; move_receive() runs where it shall be.  They talk over one channel.
 * What surrounds the process (its network, the freezer that outlives an
 * engine, the durable record, the far ends of its stdio) is reached through
 * the two ops tables, so the engine knows nothing of jobs, capsules or
 * clusters.
 */
#ifndef MOVE_MOVE_H
#define MOVE_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "core/units.h"

/*
 * A descriptor of the process whose other end is held outside its capsule:
 * stdio pipes, the PMI socket.  Known by (dev, ino) of the process's end; at
 * the destination move_dest_ops.external() supplies a new one of that name.
 * Bytes that the process has not read yet travel with the move; bytes that it
 * wrote and the source's keeper has not read stay with the source's keeper.
 */
struct move_external {
	char name[16]; /* "stdin", "stdout", "stderr", "pmi" */
	dev_t dev;
	ino_t ino;
};

struct move_source_ops {
	/*
	 * All threads stand still.  Cut the capsule's network: nothing may
	 * arrive or leave, and peers must see silence, not errors.
	 */
	int (*unplug)(void *ctx, struct error *err);
	/* Given up: undo unplug. */
	int (*replug)(void *ctx, struct error *err);
	/*
	 * Freeze (on) or thaw the capsule with something that outlives this
	 * process, such as the cgroup freezer.
	 */
	int (*hold)(void *ctx, bool on, struct error *err);
	/* What the keeper itself knows of the rank (PMI, stdio); malloc'd. */
	int (*save)(void *ctx, void **ret, size_t *ret_n, struct error *err);
	/* Record durably: this epoch now belongs to the destination. */
	int (*commit)(void *ctx, uint64_t epoch, struct error *err);
};

struct move_dest_ops {
	/*
	 * Fork, inside the new capsule and as a child of its init, a process
	 * that runs entry(arg) with the descriptors fds[] passed in the same
	 * order; *ret is its pid as seen from here.
	 */
	int (*spawn)(void *ctx, int (*entry)(void *arg), void *arg, pid_t *ret,
		     struct error *err);
	/* The new far-side-connected descriptor for that external. */
	int (*external)(void *ctx, const char *name, struct error *err);
	/* What move_source_ops.save() gave. */
	int (*load)(void *ctx, const void *p, size_t n, struct error *err);
	/* Make the capsule's address reachable here, and announce it. */
	int (*plug)(void *ctx, struct error *err);
};

#endif
