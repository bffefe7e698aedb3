/* scan.c - which pages a process has, and which it wrote; see scan.h */
#include "move/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

#define SCAN_REGIONS 4096
struct scan {
	int fd;
	struct page_region region[SCAN_REGIONS];
};

struct scan *scan_open(pid_t pid, struct error *err)
{
	struct scan *s = xcalloc(1, sizeof(*s));
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0) {
		error_sys(err, -errno, "%s", path);
		free(s);
		return NULL;
	}
	return s;
}

void scan_close(struct scan *s)
{
	if (!s)
		return;
	io_close(&s->fd);
	free(s);
}

/*
 * One ioctl after the other until the whole range is done.  Regions of the
 * categories `not` are passed over.
 */
static int scan_walk(struct scan *s, struct pm_scan_arg *a, uint64_t not,
		     scan_fn *fn, void *arg, struct error *err)
{
	a->size = sizeof(*a);
	a->vec = (uintptr_t)s->region;
	a->vec_len = SCAN_REGIONS;
	while (a->start < a->end) {
		int n = ioctl(s->fd, PAGEMAP_SCAN, a), r = 0;

		if (n < 0)
			return errno == EPERM
				       ? -EPERM
				       : error_sys(err, -errno, "PAGEMAP_SCAN");
		for (int i = 0; i < n && r == 0; i++)
			if (!(s->region[i].categories & not ))
				r = fn(arg, s->region[i].start,
				       s->region[i].end, err);
		if (r < 0)
			return r;
		a->start = a->walk_end;
	}
	return 0;
}

static int scan_there(struct scan *s, uint64_t start, uint64_t end,
		      unsigned flags, uint64_t not, scan_fn *fn, void *arg,
		      struct error *err)
{
	struct pm_scan_arg a = {
		.start = start,
		.end = end,
		.category_anyof_mask = PAGE_IS_PRESENT,
		.return_mask = PAGE_IS_PRESENT | not,
	};

	if (flags & SCAN_SWAPPED)
		a.category_anyof_mask |= PAGE_IS_SWAPPED;
	/* pages of the file as well: written to, they become private ones */
	if (flags & SCAN_PROTECT)
		a.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC;
	return scan_walk(s, &a, not, fn, arg, err);
}

int scan_private(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err)
{
	return scan_there(s, start, end, flags, PAGE_IS_FILE | PAGE_IS_PFNZERO,
			  fn, arg, err);
}

int scan_present(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err)
{
	return scan_there(s, start, end, flags, 0, fn, arg, err);
}

int scan_written(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		 void *arg, struct error *err)
{
	/* exactly these masks: the kernel has a short way for them */
	struct pm_scan_arg a = {
		.flags = PM_SCAN_CHECK_WPASYNC,
		.start = start,
		.end = end,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};

	return scan_walk(s, &a, 0, fn, arg, err);
}
