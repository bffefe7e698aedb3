/*
 * track_in.h - between track.c, track_layout.c, track_watch.c, track_punch.c,
 * track_soft.c and ranges.c: what is known of one process's memory (private to these
 * files)
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
		TRACK_NONE,	  /* all memory is sent while it stands still */
		TRACK_SOFT_DIRTY, /* by the bits of /proc/PID/pagemap */
		TRACK_ASYNC,	  /* by userfaultfd */
	} method;
	struct scan *scan, *scan_private;
	int uffd, uffd_shared;	     /* uffd_shared: that of punches */
	struct punch_watch *punches; /* holes in shared memory; or NULL */

	/* What the destination has. */
	struct sent *sent;    /* private pages */
	struct vma_list maps; /* mappings, as the destination knows them */
	/* those of maps that are new since the last pass */
	struct vma_list fresh;
	/* was the destination told where the landing area lies? */
	bool told_area;

	/* A pass. */
	struct range_list whole; /* to be sent whole in this pass, in order */
	/* to be sent whole in the next pass: not write-protected yet */
	struct range_list missed;
	struct frame_range *zap;
	size_t nr_zap;
	uint64_t vdso;
	/* does the process have pages that are swapped out? */
	bool swapped;
	/* read advice in the next pass, although it is slow */
	bool read_advice;
	bool told_files;
	/* how long the process was stopped for new mappings */
	usec_t paused;
	struct range_list guards; /* guard pages that the last pass found */
	bool has_guards;	  /* does this kernel report guard pages? */
};

/* track_watch.c: begin; the leader is stopped. -EOPNOTSUPP: this kernel cannot. */
int track_watch_start(struct track *t, struct error *err) must_check;
/* End it: the kernel drops all write protections. */
void track_watch_stop(struct track *t);
/*
 * Register those of the mappings, as they were read just now, that are not watched yet,
 * if all threads can be stopped (before the first pass they need not be). They are to
 * be sent whole.
 */
int track_watch(struct track *t, const struct vma_list *now,
		struct error *err) must_check;
/*
 * Before memory that was not watched is write-protected: take away the marks of old
 * protections, which the kernel would take for protections.  -EPERM: it is still not
 * watched.
 */
int track_clear_marks(struct track *t, uint64_t start, uint64_t end,
		      struct error *err) must_check;

/*
 * track_punch.c: note which parts of the memory that uffd watches are given back.  uffd
 * is taken over.  NULL: the thread for it cannot be made.
 */
struct punch_watch *punch_watch_create(pid_t pid, int uffd);
void punch_watch_destroy(struct punch_watch *w); /* NULL is allowed */
/*
 * At the beginning of a pass, after track_layout(): tell the destination of holes
 * punched since.
 */
int track_punches(struct track *t, struct error *err) must_check;
/* Have the destination drop what it has of the shared memory in that range. */
int track_punch_whole(struct track *t, uint64_t start, uint64_t end,
		      struct error *err) must_check;

/*
 * track_row.c: how many mappings from the i-th on the last pass can look at in one;
 * and do that.  -EPERM: one by one, as if nothing had been done.
 */
size_t track_row(const struct track *t, size_t i);
int track_send_row(struct track *t, size_t i, size_t n,
		   struct error *err) must_check;

/* ranges.c: this range is not watched; the next pass sends it whole. */
void track_miss(struct track *t, uint64_t start, uint64_t end);
/* Have the destination drop these pages, which the process no longer has. */
int track_zap(void *track, uint64_t start, uint64_t end,
	      struct error *err) must_check;
/*
 * The last pass, in a mapping of a file: what was sent of that range, in which no
 * private page is present, was given up (MADV_DONTNEED), but for those that the kernel
 * is just moving in memory.
 */
int track_drop(struct track *t, uint64_t start, uint64_t end,
	       struct error *err) must_check;
/* Send those track_zap()s that are still to be sent. */
int track_zap_flush(struct track *t, struct error *err) must_check;
/* Note the guard pages there, in the last pass. */
int track_guards(struct track *t, uint64_t start, uint64_t end,
		 struct error *err) must_check;
/* The same for one range; arg is the track.  A scan_fn. */
int track_note_guard(void *arg, uint64_t start, uint64_t end,
		     struct error *err);

int track_send_soft(struct track *t, bool last, struct error *err) must_check;

#endif
