/*
 * fault.h - named points of the protocol at which a test can strike
 *
 * STINT_FAULT=name[:action] in the environment of either side picks one.
 * Actions: kill (default: SIGKILL to itself), error (the step fails), stop
 * (SIGSTOP to itself), exit (close everything by exiting).  STINT_FAULT=@FILE
 * reads it from a file at each point, so that a test can change it in a running
 * testbed.
 */
#ifndef MOVE_WIRE_FAULT_H
#define MOVE_WIRE_FAULT_H

#include "core/error.h"

/* In the order in which a move passes them. */
#define MOVE_FAULTS(X)                                                    \
	X(SOURCE_CHECKED, "source-checked")   /* before HELLO */          \
	X(SOURCE_HELLO, "source-hello")	      /* both know each other */  \
	X(DEST_HELLO, "dest-hello")	      /* before it answers */     \
	X(DEST_ANSWERS, "dest-answers")	      /* its clocks are read */   \
	X(DEST_SPAWNED, "dest-spawned")	      /* landing process made */  \
	X(SOURCE_TRACKING, "source-tracking") /* uffd is registered */    \
	X(SOURCE_ROUND, "source-round")	      /* after the first round */ \
	X(DEST_ROUND, "dest-round")	      /* SYNC received */         \
	X(SOURCE_FROZEN, "source-frozen")     /* all threads stopped */   \
	X(SOURCE_INJECTED, "source-injected") /* lists loaded, run */     \
	X(SOURCE_UNPLUGGED, "source-unplugged")                           \
	X(SOURCE_CAPTURED, "source-captured") /* state and fds known */   \
	X(SOURCE_SENT, "source-sent")	      /* STATE and FDS sent */    \
	X(DEST_STATE, "dest-state")	      /* STATE received */        \
	/* locks are handed over, if there are any: send/handover.h */    \
	X(SOURCE_LOCKS_FIRST_SHARED, "source-locks-first-shared")         \
	X(SOURCE_LOCKS_FIRST_GONE, "source-locks-first-gone")             \
	X(SOURCE_LOCKS_REST_SHARED, "source-locks-rest-shared")           \
	X(SOURCE_LOCKS_REST_GONE, "source-locks-rest-gone")               \
	X(DEST_THREADS, "dest-threads")		/* threads made */        \
	X(DEST_LANDED, "dest-landed")		/* before READY */        \
	X(DEST_READY, "dest-ready")		/* READY sent */          \
	X(SOURCE_READY, "source-ready")		/* READY received */      \
	X(SOURCE_HELD, "source-held")		/* before the record */   \
	X(SOURCE_RECORDED, "source-recorded")	/* after the record */    \
	X(SOURCE_COMMITTED, "source-committed") /* COMMIT sent */         \
	X(DEST_COMMIT, "dest-commit")		/* COMMIT received */     \
	X(DEST_RELEASED, "dest-released")	/* it runs */             \
	X(DEST_RUNNING, "dest-running")		/* RUNNING sent */        \
	X(SOURCE_RUNNING, "source-running")	/* RUNNING received */

enum move_fault {
#define X(id, name) MF_##id,
	MOVE_FAULTS(X)
#undef X
		MF_COUNT
};

/*
 * Do the action if this point was picked; -EIO for the action "error", else 0.
 */
int move_fault(enum move_fault f, struct error *err) must_check;

#endif
