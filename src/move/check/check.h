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

/*
 * 0, or -ENOTSUP naming the first one and the reason; their advice has been
 * read.
 */
int check_mappings(pid_t pid, const struct vma_list *maps,
		   struct error *err) must_check;

/* thread.c: do all threads share what a move treats as the process's? */
int check_threads(pid_t pid, struct error *err) must_check;

/* Remove mappings that cannot be moved. */
void check_drop_unmovable(pid_t pid, struct vma_list *maps);

/*
 * move_check() with the trees that move with the process (NULL: none). seen:
 * its mappings as of the last call, or empty; updated.
 */
int check_process(pid_t pid, const struct move_external *external,
		  size_t nr_externals, const struct tree_set *trees,
		  struct vma_list *seen, struct error *err) must_check;

/* ---- asked.c: what only the process itself can find out */

/* how long an obstacle to a freeze may last that passes by itself */
#define CHECK_PATIENCE (2 * USEC_PER_SEC)

/* Stop the leader, or all threads, trying again within that time. */
int check_stop_leader(struct tracee *t, struct error *err) must_check;
int check_stop_all(struct tracee *t, struct error *err) must_check;

/* With all threads stopped, before the first call is injected. */
int check_dispatch(const struct tracee *t, struct error *err) must_check;

/*
 * With the leader stopped and the landing area mapped, check by injected calls:
 * -ENOTSUP for obstacles that cannot be seen from outside.
 */
int check_asked(struct tracee *t, struct error *err) must_check;
/* The same if there is no landing area. */
int check_asked_alone(struct tracee *t, struct error *err) must_check;

#endif
