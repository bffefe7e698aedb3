/*
 * tree.h - a process and all below it, thread by thread
 */
#ifndef CLUSTER_AGENT_TREE_H
#define CLUSTER_AGENT_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* For a thread of a process; pid == tid: its first. */
typedef void proctree_fn(pid_t pid, pid_t tid, void *arg);

/*
 * Call fn for each thread of the process top, and of those below it, but for the
 * process skip (0: none) with all below that.  What is forked meanwhile may be
 * missed.
 */
void proctree_walk(pid_t top, pid_t skip, proctree_fn *fn, void *arg);

/* Has that process, of one thread, children? */
bool proctree_has_children(pid_t pid);

#endif
