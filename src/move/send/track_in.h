/*
 * track_in.h - between track.c, track_layout.c, track_watch.c, track_punch.c,
 * track_soft.c and ranges.c: what is known of one process's memory
 */
#ifndef MOVE_SEND_TRACK_IN_H
#define MOVE_SEND_TRACK_IN_H

#include "move/memory/scan.h"
#include "move/memory/sent.h"
#include "move/send/track.h"
#include "move/wire/frame.h"

struct range_list {
	struct frame_range *v;
	size_t nr, cap;
};

void range_add(struct range_list *l, uint64_t start, uint64_t end);

struct track {
	const struct send_process *p;
	struct common *common;
	struct channel *ch;
	enum track_method {
		TRACK_NONE,	  /* all is sent while it stands still */
		TRACK_SOFT_DIRTY, /* by the bits of /proc/PID/pagemap */
		TRACK_ASYNC,	  /* by userfaultfd */
	} method;
	struct scan *scan, *scan_private;
	int uffd, uffd_shared;	     /* uffd_shared is of punches */
	struct punch_watch *punches; /* of shared memory; or NULL */

	/* What the destination has. */
	struct sent *sent;     /* private pages */
	struct vma_list maps;  /* mappings, as it knows them */
	struct vma_list fresh; /* of these, what is new since the last pass */
	bool told_area;	       /* where the landing area lies */

	/* A pass. */
	struct range_list whole;  /* to be sent whole, in order */
	struct range_list missed; /* so in the next: not write-protected */
	struct frame_range *zap;
	size_t nr_zap;
	uint64_t vdso;
	bool swapped;	  /* has the process pages that are swapped out? */
	bool read_advice; /* in the next, although it is slow */
	bool told_files;
	usec_t paused;		  /* for new mappings */
	struct range_list guards; /* as the last pass finds them */
	bool has_guards;	  /* does the kernel tell them? */
};

/* track_watch.c: the leader is stopped; -EOPNOTSUPP: this kernel cannot. */
int track_watch_start(struct track *t, struct error *err) must_check;
/* The kernel forgets all protections. */
void track_watch_stop(struct track *t);
/*
 * Register what of these mappings, as they were read just now, is not watched,
 * if all threads can be stopped; before the first pass they need not be.  It
 * is to be sent whole.
 */
int track_watch(struct track *t, const struct vma_list *now,
		struct error *err) must_check;
/*
 * Before memory is protected that was not watched: take away marks of old
 * protections, which the kernel would take for protections.  -EPERM: it is not
 * watched now either.
 */
int track_clear_marks(struct track *t, uint64_t start, uint64_t end,
		      struct error *err) must_check;

/*
 * track_punch.c: note what is given back of the memory that uffd, which is
 * taken over, watches.  NULL: it cannot be.
 */
struct punch_watch *punch_watch_create(pid_t pid, int uffd);
void punch_watch_destroy(struct punch_watch *w); /* NULL is allowed */
/* At the beginning of a pass, as soon as the layout is told: holes since. */
int track_punches(struct track *t, struct error *err) must_check;
/* The destination is to forget what it has of shared memory there. */
int track_punch_whole(struct track *t, uint64_t start, uint64_t end,
		      struct error *err) must_check;

/* ranges.c: this is not watched; the pass after sends it whole. */
void track_miss(struct track *t, uint64_t start, uint64_t end);
/* The destination has these pages, and the process no longer does. */
int track_zap(void *track, uint64_t start, uint64_t end,
	      struct error *err) must_check;
/* Tell it of those that were noted. */
int track_zap_flush(struct track *t, struct error *err) must_check;
/* Note the guard pages there, in the last pass. */
int track_guards(struct track *t, uint64_t start, uint64_t end,
		 struct error *err) must_check;
/* ... one; arg is the track.  A scan_fn. */
int track_note_guard(void *arg, uint64_t start, uint64_t end,
		     struct error *err);

int track_send_soft(struct track *t, bool last, struct error *err) must_check;

#endif
