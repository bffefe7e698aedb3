/*
 * send.h - the source's side of a move, in its parts
 */
#ifndef MOVE_SEND_SEND_H
#define MOVE_SEND_SEND_H

#include <sched.h>

#include "move/memory/scan.h"
#include "move/memory/sent.h"
#include "move/move.h"
#include "move/proc/clocks.h"
#include "move/proc/share.h"
#include "move/proc/watch.h"
#include "move/send/process.h"
#include "move/state/capture.h"
#include "move/tracee/tracee.h"
#include "move/tree/tree.h"

struct range_list {
	struct frame_range *v;
	size_t nr, cap;
};

void range_add(struct range_list *l, uint64_t start, uint64_t end);

struct sending {
	const struct move_source *src;
	struct channel *ch;
	struct move_report *report;
	struct watch *watch;
	struct send_process process; /* that moves */
	struct scan *scan, *scan_private;
	struct sent *sent;	 /* private pages that the destination has */
	struct sent *todo;	 /* of this pass, with soft-dirty bits */
	struct vma_list maps;	 /* as the destination knows them */
	struct vma_list fresh;	 /* of these, what is new since the last pass */
	struct range_list whole; /* to be sent whole in this pass, in order */
	struct range_list missed; /* whole in the next: not write-protected */
	uint64_t vdso;
	struct clocks clocks;	   /* offsets for the destination */
	cpu_set_t cpus;		   /* that the destination has */
	ProtobufCBinaryData nodes; /* so, of memory */
	bool swapped;	  /* has the process pages that are swapped out? */
	bool read_advice; /* in the next pass, although it is slow */
	struct frame_range *zap;
	size_t nr_zap;
	Move__Hello *hello; /* and the files mapped since */
	bool told_files;    /* in this pass */
	bool new_objects;   /* shared memory, mapped since the last check */
	struct share_left left;
	struct range_list guards; /* as the last pass finds them */
	bool has_guards;	  /* does the kernel tell them? */
	struct frame frame;
	struct fds_source *fds;
	struct tree_set *trees;
	struct punch_watch *punches; /* of shared memory; or NULL */
	bool told_area;		     /* where the landing area lies */
	bool other_vdso;	     /* the destination's is another one */
	int uffd;
	int uffd_shared; /* of punches */
	enum track_method {
		TRACK_NONE,	  /* all is sent while it stands still */
		TRACK_SOFT_DIRTY, /* by the bits of /proc/PID/pagemap */
		TRACK_ASYNC,	  /* by userfaultfd */
	} method;
	bool told; /* the destination has begun to rebuild the process */
	bool unplugged, held, recorded;
	struct ahead *ahead;	 /* of others, in the freeze */
	struct precopy *precopy; /* what the rounds have measured */
	usec_t started, frozen;
	struct throttle *throttle; /* NULL: not slowed down */
};

/* Microseconds that only grow. */
usec_t send_now(void);

/* For page_sender_on_flush(): it gets on, and is not ahead for too long. */
void send_tick(void *sending);

/* What the watch is told: the process is held, and then given away. */
enum { SEND_HELD = 1, SEND_DECIDES };
/* watch.c: who looks after this engine; see proc/watch.h. */
int send_watch(struct sending *s, struct error *err) must_check;
/* The process is about to stand still: for so long at most, without a word. */
void send_limit(struct sending *s);
/* It runs, or it is not our part any more that it does. */
void send_unwatched(struct sending *s);

/* One line to whoever watches. */
void send_progress(struct sending *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* hello.c: what the destination has to know and compare. */
/* Tell it, anew; *ret is what the destination answers, which may be lack. */
int hello_ask(struct sending *s, Move__Hello **ret,
	      struct error *err) must_check;
/* Is that file, mapped or open, still the one that was told? */
bool hello_stays(struct sending *s, const char *path);

/*
 * The moment the answer has come: which offsets make the process's clocks go
 * on there.  Where the kernels are two, the answer's clocks are as old as its
 * way took, and by so much the process's clocks may jump ahead.  They never
 * jump back.
 */
void hello_clocks(struct sending *s, const Move__Hello *there,
		  struct clocks *ret);

/*
 * freeze.c: everything with all threads stopped, up to STATE.  As long as
 * `told` is not set, it can be undone and called again.
 */
int freeze_send(struct sending *s, struct error *err) must_check;
/* Undo what freeze_send() has done; the process runs on. */
void freeze_undo(struct sending *s);

#endif
