/*
 * scan.h - which pages a process has, and which it wrote
 *
 * Over /proc/PID/pagemap with the PAGEMAP_SCAN ioctl (Linux 6.7).
 */
#ifndef MOVE_SCAN_H
#define MOVE_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/uapi.h"

struct scan;

struct scan *scan_open(pid_t pid, struct error *err) must_check;
void scan_close(struct scan *s);

typedef int scan_fn(void *arg, uint64_t start, uint64_t end, struct error *err);

/*
 * Call fn for each range of pages in [start, end) that belong to the process
 * alone: memory it has written to.
 *
 * A page that is swapped out looks like one that is not there at all and
 * that scan_written() has left its mark on.  So only a caller who knows that
 * the process has swapped pages says swapped, and gets both.
 */
int scan_private(struct scan *s, uint64_t start, uint64_t end, bool swapped,
		 scan_fn *fn, void *arg, struct error *err) must_check;

/*
 * Write-protect what was written since the last call, and call fn for it.
 * Pages that have vanished are reported as well if page tables remain.
 * -EPERM: the range is not tracked (any more).
 */
int scan_written(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		 void *arg, struct error *err) must_check;

/* Is there anything at that page? */
int scan_is_there(struct scan *s, uint64_t page) must_check;

#endif
