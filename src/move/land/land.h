/*
 * land.h - the landing process, as the destination's engine sees it
 *
 * landing_create() has F forked in the capsule; F creates L, which becomes
 * nothing but the stub.  From then on the engine queues system calls for L to
 * make (landing_call), runs them (landing_flush), writes L's memory from
 * outside, and asks F to do what needs ordinary code: opening files, restoring
 * descriptors.  landing_destroy() kills L unless it is to be kept.
 */
#ifndef MOVE_LAND_LAND_H
#define MOVE_LAND_LAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/move.h"
#include "move/proc/clocks.h"
#include "move/tracee/stub.h"
#include "move/tracee/wait.h"
#include "move/wire/frame.h"

struct fds_lock;

/* What F has left to do after landing_restore_fds(). */
enum helper_left {
	HELPER_LEFT_ACTIVATE,
	HELPER_LEFT_NOTHING, /* all is active, and F has exited */
	HELPER_LEFT_LATE,    /* landing_late_fds(), then landing_activate() */
};

struct landing {
	/* What the processes of one move share here. */
	const struct move_dest *dst;
	struct watch *watch; /* of the engine */
	/* watch.c's: who is ahead of others. */
	struct landing_ahead {
		bool on;      /* F and L are, by landing_hurry() */
		usec_t since; /* then */
		bool own;     /* L's threads put themselves back from now on */
	} ahead;
	struct channel *ch; /* to the source: when */
	struct {
		usec_t at;	/* the last BEAT was sent */
		uint64_t ticks; /* what it was about had had by then */
	} beat;			/* watch.c's */

	/* land.c's: F, and what it does. */
	struct landing_helper {
		pid_t pid; /* as seen from here */
		int sock;
		/* Files that it has open for mappings of the current MAP. */
		struct landing_file {
			char *path;
			int flags, fd;
		} * file;
		size_t nr_files, cap_files;
		enum helper_left left; /* what it has left to do */
		struct frame queue;    /* the last, for it */
		int lost_code;	       /* why no bytes came, and: */
		struct error lost;
	} helper;

	/* L. */
	pid_t pid; /* as seen from here */
	int pidfd;
	int64_t clock_shift; /* L's CLOCK_MONOTONIC less ours */

	/* L's memory. */
	uint64_t vdso, vdso_size; /* as moved, writable until the end; or 0 */
	uint64_t area;		  /* where the area lies in L */
	size_t size;
	char *map; /* its data, shared with L: area + STUB_BOX on */
	struct stub_box *box;
	char code[STUB_PAGE]; /* its first page, see landing_write_code() */
	int memfd;	      /* land.c's: what map is of */
	int uffd; /* place.c's, while it is being filled, see place.h */

	/* land.c's; restore/locks.c has L take them. */
	struct fds_lock *lock; /* record locks */
	size_t nr_locks;

	/* land.c's: lists of calls, and what they point at, in the box. */
	struct landing_list {
		size_t nr_calls, nr_data;   /* queued, from the bottom */
		size_t nr_last;		    /* calls of the list that runs */
		size_t top_calls, top_data; /* permanent ones, from the top */
		/* For errors; NULL: that call may fail. */
		const char *what[STUB_BOX_CALLS];
	} list;

	/* end.c's: remaining times until instants, updated until: */
	struct landing_end {
		enum wait_form form;
		uint64_t *here; /* or NULL: */
		uint64_t there;
		int64_t until, at_least;
	} * end;
	size_t nr_ends, cap_ends;
};

struct landing_spec {
	uint64_t area, size;
	int32_t pid; /* in the capsule */
	bool own_session, own_group;
	struct clocks clocks; /* offsets it needs; */
	bool shift_clocks;    /* therefore a time namespace of its own */
};

int landing_create(const struct move_dest *dst, const struct landing_spec *spec,
		   struct channel *ch, struct landing **ret,
		   struct error *err) must_check;
void landing_destroy(struct landing *l, bool keep);

/*
 * Queue a call for L; `what` describes it in errors, NULL if its failure does
 * not matter.  Flushes when the queue is full, so an error may concern earlier
 * calls.
 */
int landing_call(struct landing *l, const char *what, long nr, uint64_t a,
		 uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		 struct error *err) must_check;
/*
 * Place bytes in L as an argument of the next call; *ret is their address
 * there.
 */
int landing_data(struct landing *l, const void *p, size_t n, uint64_t *ret,
		 struct error *err) must_check;
int landing_flush(struct landing *l, struct error *err) must_check;

/*
 * watch.c: start a watch of this engine (proc/watch.h), since the copy stays
 * frozen until the engine releases it.
 */
int landing_watch(struct landing *l, struct error *err) must_check;
enum landing_stage {
	LANDING_STANDS = 1, /* the copy is complete */
	LANDING_ASKS,	    /* waiting for the source's decision */
	LANDING_COMMITTED,  /* which has come */
	LANDING_RELEASED,
};
void landing_stage(struct landing *l, enum landing_stage stage);

/*
 * The freeze has begun (on): raise the priority of all processes that take part
 * here (core/hurry.h), for a limited time.
 */
void landing_hurry(struct landing *l, bool on);
/* Called now and then: ends the raised priority when it has lasted too long. */
void landing_hurry_bound(struct landing *l);
/*
 * To be called now and then: with pid 0 by this process while it works, or with the
 * process that it waits for. As long as that makes progress, or would if others left it
 * a processor, the source is told so (BEAT), and does not take this end for hung.
 */
void landing_beat(struct landing *l, pid_t pid);
/* End the raised priority of L and F. */
void landing_calm(const struct landing *l);
/* The priority of a thread of L looks like a raised one: leave L's alone. */
void landing_own_ahead(struct landing *l);

/* Run the last list, after which L continues with the calls at address next. */
int landing_start(struct landing *l, uint64_t next,
		  struct error *err) must_check;
/*
 * Wait until nr threads wait for the word `released`; an error if a call of the
 * last list failed.
 */
int landing_wait_ready(struct landing *l, unsigned nr,
		       struct error *err) must_check;
void landing_release(struct landing *l);
void landing_release_box(struct stub_box *box);

/* Wake at most nr threads that wait for this word of the box. */
void landing_wake(uint32_t *word, int nr);

/*
 * Requests to F.  landing_open() returns a descriptor of L and F; repeated
 * calls return the same one until landing_close_files(), since later the name
 * may lead to another file.  Not allowed after landing_restore_fds().
 */
int landing_open(struct landing *l, const char *path, int flags,
		 struct error *err) must_check;
void landing_close_files(struct landing *l);
/*
 * The memfd for that object, created by the first call and extended to at least
 * this size.
 */
int landing_object(struct landing *l, uint64_t dev, uint64_t ino,
		   const char *name, uint64_t size,
		   struct error *err) must_check;
/* path, NUL, bytes for tree_made_apply(). */
int landing_change_tree(struct landing *l, const void *p, size_t n,
			struct error *err) must_check;
int landing_open_early(struct landing *l, const void *paths, size_t n,
		       struct error *err) must_check;
int landing_restore_fds(struct landing *l, const void *blob, size_t n,
			struct error *err) must_check;
/* When all threads are made. */
int landing_late_fds(struct landing *l, struct error *err) must_check;
/* After this F is gone. */
int landing_activate(struct landing *l, struct error *err) must_check;

/*
 * Store calls or data in the box where no later list overwrites them, for use
 * by threads after landing_start(); *ret is the address in L.
 */
int landing_keep_calls(struct landing *l, const struct stub_call *c, size_t n,
		       uint64_t *ret, struct error *err) must_check;
int landing_keep_data(struct landing *l, const void *p, size_t n, uint64_t *ret,
		      struct error *err) must_check;

/* Our view of an address in L's area. */
void *landing_here(const struct landing *l, uint64_t at);

/*
 * Register a limit, in the area or (here NULL) at an address of L, to be
 * updated with the time that remains until an instant of L's CLOCK_MONOTONIC,
 * at least at_least ns.
 */
void landing_end(struct landing *l, enum wait_form form, uint64_t *here,
		 uint64_t there, int64_t until, int64_t at_least);
/* Update them now. */
void landing_tick(struct landing *l);

/* Queue calls that write l->code from STUB_SNIPPETS on into L; pid is L's own.
 */
int landing_write_code(struct landing *l, pid_t pid,
		       struct error *err) must_check;

/* A slot's address in L, and here. */
uint64_t landing_slot(const struct landing *l, size_t i, size_t xsave_size);
struct stub_thread *landing_slot_here(const struct landing *l, size_t i,
				      size_t xsave_size);

/* ---- between the files of this room ---- */

/*
 * How often, in ms, a wait for L or F checks whether they live and make progress.
 */
#define LANDING_LOOK 30
/* That process needs longer. */
void landing_wait_longer(struct landing *l, pid_t pid);
/* What the engine asks of F. */

enum helper_verb {
	HELPER_CLONE,	 /* -> pidfds of L and F */
	HELPER_OPEN,	 /* path -> number */
	HELPER_CLOSE,	 /* number */
	HELPER_OBJECT,	 /* struct landing_object -> number */
	HELPER_TREE,	 /* path, NUL, change */
	HELPER_EARLY,	 /* for fds_open_early() */
	HELPER_RESTORE,	 /* blob -> enum helper_left */
	HELPER_LATE,	 /* when all threads are made */
	HELPER_ACTIVATE, /* then it closes all of its own and exits */
	HELPER_EXTERNAL, /* F to engine: name -> its two ends */
	HELPER_QUEUE,	 /* F to engine: at most so many bytes of queues */
	HELPER_DONE,	 /* F to engine: result, error text */
};

struct landing_object {
	uint64_t dev, ino; /* at the source */
	uint64_t size;	   /* at least */
	char name[256];	   /* of the memfd */
};

struct helper_head {
	uint32_t verb;
	int32_t value; /* flags, number or result */
	uint64_t size; /* bytes that follow */
};

/* Descriptors that go along, in order, -1 after the last; NULL: none. */
#define HELPER_FDS 2
int helper_send(int sock, enum helper_verb verb, int32_t value, const void *p,
		size_t n, const int fds[HELPER_FDS]) must_check;
/* *ret_p is malloc'd; with ret_fds NULL what came along is closed. */
int helper_recv(int sock, struct helper_head *ret, void **ret_p,
		int ret_fds[HELPER_FDS]) must_check;

/* ask.c: one request to F and its answer; ret_fds as in helper_recv(). */
int landing_ask(struct landing *l, enum helper_verb verb, int32_t value,
		const void *p, size_t n, int ret_fds[HELPER_FDS],
		struct error *err) must_check;
void landing_forget_files(struct landing *l);

#endif
