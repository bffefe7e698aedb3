/*
 * tree.h - the threads of a process and of all its descendants
 */
#ifndef CLUSTER_AGENT_TREE_H
#define CLUSTER_AGENT_TREE_H

#include <sys/types.h>

/* For a thread of a process; pid == tid: its first. */
typedef void proctree_fn(pid_t pid, pid_t tid, void *arg);

/*
 * Call fn for each thread of the process top and of its descendants, except the
 * process skip (0: none) and its descendants.  Processes that are forked meanwhile
 * may be missed.
 */
void proctree_walk(pid_t top, pid_t skip, proctree_fn *fn, void *arg);

/* Of a process of one thread; 0: it has no child. */
pid_t proctree_first_child(pid_t pid);

#endif
