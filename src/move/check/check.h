/*
 * check.h - which mappings cannot be moved
 */
#ifndef MOVE_CHECK_CHECK_H
#define MOVE_CHECK_CHECK_H

#include "core/error.h"
#include "core/units.h"
#include "move/move.h"
#include "move/proc/proc.h"
#include "move/tracee/tracee.h"
#include "move/tree/tree.h"

/* 0, or -ENOTSUP with the first and why; their advice has been read. */
int check_mappings(pid_t pid, const struct vma_list *maps,
		   struct error *err) must_check;

/* thread.c: have all threads what belongs to a process in common? */
int check_threads(pid_t pid, struct error *err) must_check;

/* Drop those. */
void check_drop_unmovable(pid_t pid, struct vma_list *maps);

/*
 * move_check() of a process with whose trees (NULL: none) files go.  seen:
 * its mappings as known from the last such look, or none; what they are now.
 */
int check_process(pid_t pid, const struct move_external *external,
		  size_t nr_externals, const struct tree_set *trees,
		  struct vma_list *seen, struct error *err) must_check;

/* ---- asked.c: what nothing but the process itself tells */

/* So long what stands in the way of a freeze may take to pass. */
#define CHECK_PATIENCE (2 * USEC_PER_SEC)

/* Stop the leader, however long it takes to stop, within that time. */
int check_stop_leader(struct tracee *t, struct error *err) must_check;

/* Of the threads that stand still, before the first call is injected. */
int check_dispatch(const struct tracee *t, struct error *err) must_check;

/*
 * Of a process whose leader stands still in its landing area, by calls that it
 * makes itself: -ENOTSUP for what nothing shows from outside.
 */
int check_asked(struct tracee *t, struct error *err) must_check;
/* The same where there is no landing area. */
int check_asked_alone(struct tracee *t, struct error *err) must_check;

#endif
