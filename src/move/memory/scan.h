/*
 * scan.h - which pages a process has, and which it wrote
 *
 * Over /proc/PID/pagemap, with the PAGEMAP_SCAN ioctl (Linux 6.7) or by
 * reading it, entry by entry, which every kernel can.
 */
#ifndef MOVE_MEMORY_SCAN_H
#define MOVE_MEMORY_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/proc/uapi.h"
#include "move/proc/watch.h"

struct scan;

/* Read pagemap, as on kernels without the ioctl. */
struct scan *scan_open(pid_t pid, bool reading, struct error *err) must_check;
void scan_close(struct scan *s);
/* Call watch_beat() of w for each piece that was read; see proc/watch.h. */
void scan_watched(struct scan *s, struct watch *w);

typedef int scan_fn(void *arg, uint64_t start, uint64_t end, struct error *err);

/* Options of scan_private(). */
enum scan_flag {
	/* write-protect the pages found; -EPERM if they are not tracked */
	SCAN_PROTECT = 1,
	/*
	 * Pages that are swapped out count, and those that the kernel is just moving to
	 * another place in memory (compaction), which look the same.  The ioctl cannot
	 * tell them from pages of a file mapping that were dropped while protected;
	 * then both are reported.
	 */
	SCAN_SWAPPED = 2,
};

/*
 * Call fn for each range of pages in [start, end) that belong to the process
 * alone: memory it has written to.
 */
int scan_private(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err) must_check;

/*
 * Of pages that are not present: call fn for each range of private ones that are in
 * swap, or that the kernel is just moving to another place in memory.  Only with
 * CAP_SYS_ADMIN; without it none is found.
 */
int scan_moving(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		void *arg, struct error *err) must_check;

/* The same for all present pages, private or shared. */
int scan_present(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err) must_check;

/*
 * The same for pages marked write-protected, whether the protection is in force
 * or not.
 */
int scan_protected(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		   void *arg, struct error *err) must_check;

/* Only with the ioctl: is there a mapping at that page that is tracked? */
bool scan_is_tracked(struct scan *s, uint64_t at);

/*
 * Only with the ioctl: call fn for each range that may have changed since it
 * was protected: pages written to, and holes, whose former content is unknown.
 * Protects nothing, because that would allocate page tables for holes.
 * -EPERM: the range is not tracked (any more).
 */
int scan_written(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		 void *arg, struct error *err) must_check;

/*
 * Call fn for each range of guard pages (MADV_GUARD_INSTALL).  Finds none if
 * the kernel does not report them: scan_has_guards().
 */
int scan_guards(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		void *arg, struct error *err) must_check;
bool scan_has_guards(void);

/*
 * scan_private() and scan_guards() in one, for half of the system calls; only
 * with the ioctl, and if it has guards.
 */
int scan_private_and_guards(struct scan *s, uint64_t start, uint64_t end,
			    unsigned flags, scan_fn *fn, void *arg,
			    scan_fn *guard, void *guard_arg,
			    struct error *err) must_check;

/*
 * All that the last pass asks of private memory, in one system call for any number of
 * mappings that lie side by side; only with the ioctl.  It looks closer at each page
 * than scan_written() does, so it is for many small mappings.  guards:
 * scan_has_guards().  Not for processes that have swapped pages.  -EPERM: some
 * mapping is not tracked.
 */
enum scan_change {
	SCAN_CHANGED, /* private pages that were written to */
	SCAN_GONE,    /* no private pages: what was there is gone */
	SCAN_GUARD,   /* guard pages; what was there is gone as well */
	/*
	 * Only the mark of the protection is left of pages that were protected: of those
	 * of a file that were dropped, whether it shows there again or not; of others on
	 * their way to another place in memory, or to swap.
	 */
	SCAN_MARK,
};
typedef int scan_changed_fn(void *arg, uint64_t start, uint64_t end,
			    enum scan_change what, struct error *err);
int scan_changed(struct scan *s, uint64_t start, uint64_t end, bool guards,
		 scan_changed_fn *fn, void *arg, struct error *err) must_check;

/*
 * Only by reading: call fn for each range of present pages, including shared
 * ones if `shared`.  written: since scan_soft_clear(), or in a mapping made
 * after it.
 */
typedef int scan_soft_fn(void *arg, uint64_t start, uint64_t end, bool written,
			 struct error *err);
int scan_soft(struct scan *s, uint64_t start, uint64_t end, bool shared,
	      scan_soft_fn *fn, void *arg, struct error *err) must_check;
/* From now on nothing of the process counts as written. */
int scan_soft_clear(pid_t pid, struct error *err) must_check;

/* Can this kernel do PAGEMAP_SCAN?  Does it keep soft-dirty bits? */
bool scan_has_ioctl(void);
bool scan_has_soft(void);

/* scan_soft() over an open file of pagemap entries; for tests. */
struct scan *scan_of_file(int fd);

#endif
