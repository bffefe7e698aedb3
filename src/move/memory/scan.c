/* scan.c - which pages a process has, and which it wrote; see scan.h */
#include "move/memory/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

#define SCAN_REGIONS   4096
/*
 * Pages are protected so many at a time: what is found is sent before the rest is
 * looked for, and the process has less time to write to it again.
 */
#define SCAN_PROTECTED 4096
#define PAGE	       4096

/* An entry of pagemap, see proc_pid_pagemap(5). */
#define ENTRY_PRESENT	 (UINT64_C(1) << 63)
#define ENTRY_SWAPPED	 (UINT64_C(1) << 62)
#define ENTRY_FILE	 (UINT64_C(1) << 61)
#define ENTRY_SOFT_DIRTY (UINT64_C(1) << 55)
/*
 * Of an entry that is not present: where the page is, above the five bits of the swap
 * type and the three that tell of a mark without a page.
 */
#define ENTRY_PLACE	 (((UINT64_C(1) << 55) - 1) & ~UINT64_C(255))
#define ENTRIES		 8192 /* read at a time */

struct scan {
	int fd;
	bool reading;
	struct watch *watch; /* or NULL */
	union {
		struct page_region region[SCAN_REGIONS];
		uint64_t entry[ENTRIES];
	};
};

struct scan *scan_of_file(int fd)
{
	struct scan *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->reading = true;
	return s;
}

struct scan *scan_open(pid_t pid, bool reading, struct error *err)
{
	struct scan *s;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error_sys(err, -errno, "%s", path);
		return NULL;
	}
	s = scan_of_file(fd);
	s->reading = reading;
	return s;
}

void scan_watched(struct scan *s, struct watch *w)
{
	if (s)
		s->watch = w;
}

void scan_close(struct scan *s)
{
	if (!s)
		return;
	io_close(&s->fd);
	free(s);
}

/*
 * The functions that get the regions; those of the categories `but` are passed over.
 */
struct sink {
	uint64_t but;
	scan_fn *fn;
	void *arg;
	scan_fn *guard; /* for guard pages, or NULL: as all others */
	void *guard_arg;
};

static int take_region(void *sink, const struct page_region *p,
		       struct error *err)
{
	const struct sink *k = sink;

	if (k->guard && p->categories & PAGE_IS_GUARD)
		return k->guard(k->guard_arg, p->start, p->end, err);
	return p->categories & k->but ? 0
				      : k->fn(k->arg, p->start, p->end, err);
}

typedef int region_fn(void *arg, const struct page_region *p,
		      struct error *err);

/* One ioctl after the other until the whole range is done. */
static int scan_walk(struct scan *s, struct pm_scan_arg *a, region_fn *fn,
		     void *arg, struct error *err)
{
	a->size = sizeof(*a);
	a->vec = (uintptr_t)s->region;
	a->vec_len = SCAN_REGIONS;
	while (a->start < a->end) {
		int n = ioctl(s->fd, PAGEMAP_SCAN, a), r = 0;

		watch_beat(s->watch);
		if (n < 0)
			return errno == EPERM
				       ? -EPERM
				       : error_sys(err, -errno, "PAGEMAP_SCAN");
		for (int i = 0; i < n && !r; i++)
			r = fn(arg, &s->region[i], err);
		if (r < 0)
			return r;
		a->start = a->walk_end;
	}
	return 0;
}

/* ---- reading ---- */

/* Pages of one kind that lie side by side. */
struct run {
	uint64_t start, end;
	uint64_t kind; /* bits of an entry that matter; 0: leave them out */
};

typedef int run_fn(void *arg, const struct run *run, struct error *err);

/*
 * Which bits of an entry matter: those of `of`, none if a bit of `but` is set or no
 * page is there.
 */
static uint64_t entry_kind(uint64_t entry, uint64_t of, uint64_t but)
{
	if (!(entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) || entry & but)
		return 0;
	return ENTRY_PRESENT | (entry & of);
}

/* Call fn for the runs of the kinds that entry_kind() makes. */
static int read_runs(struct scan *s, uint64_t start, uint64_t end, uint64_t of,
		     uint64_t but, run_fn *fn, void *arg, struct error *err)
{
	struct run run = { start, start, 0 };
	int r = 0;

	while (start < end && !r) {
		uint64_t want = (end - start) / PAGE;
		ssize_t n = pread(s->fd, s->entry,
				  8 * (want < ENTRIES ? want : ENTRIES),
				  (off_t)(start / PAGE * 8));

		watch_beat(s->watch);
		if (n < 8)
			return error_sys(err, n < 0 ? -errno : -ESRCH,
					 "reading pagemap");
		for (ssize_t i = 0; i < n / 8 && !r; i++, start += PAGE) {
			uint64_t kind = entry_kind(s->entry[i], of, but);

			if (kind != run.kind) {
				if (run.kind)
					r = fn(arg, &run, err);
				run = (struct run){ start, start, kind };
			}
			run.end = start + PAGE;
		}
	}
	return !r && run.kind ? fn(arg, &run, err) : r;
}

struct plain {
	scan_fn *fn;
	void *arg;
};

static int plain_run(void *arg, const struct run *run, struct error *err)
{
	const struct plain *p = arg;

	return p->fn(p->arg, run->start, run->end, err);
}

struct soft {
	scan_soft_fn *fn;
	void *arg;
};

static int soft_run(void *arg, const struct run *run, struct error *err)
{
	const struct soft *p = arg;

	return p->fn(p->arg, run->start, run->end, run->kind & ENTRY_SOFT_DIRTY,
		     err);
}

int scan_soft(struct scan *s, uint64_t start, uint64_t end, bool shared,
	      scan_soft_fn *fn, void *arg, struct error *err)
{
	struct soft p = { fn, arg };

	return read_runs(s, start, end, ENTRY_SOFT_DIRTY,
			 shared ? 0 : ENTRY_FILE, soft_run, &p, err);
}

int scan_soft_clear(pid_t pid, struct error *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	r = io_write_file(AT_FDCWD, path, "4");
	return r < 0 ? error_sys(err, r, "%s", path) : 0;
}

static int moving_run(void *arg, const struct run *run, struct error *err)
{
	return run->kind & ENTRY_PLACE ? plain_run(arg, run, err) : 0;
}

int scan_moving(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		void *arg, struct error *err)
{
	struct plain p = { fn, arg };

	return read_runs(s, start, end, ENTRY_PLACE, ENTRY_PRESENT | ENTRY_FILE,
			 moving_run, &p, err);
}

static int note_written(void *arg, uint64_t start, uint64_t end, bool written,
			struct error *err)
{
	*(bool *)arg |= written;
	return 0;
}

static bool page_written(struct scan *s, const char *page)
{
	uint64_t at = (uintptr_t)page;
	bool written = false;

	return scan_soft(s, at, at + PAGE, false, note_written, &written,
			 NULL) == 0 &&
	       written;
}

/*
 * A kernel without soft-dirty bits accepts all the calls, but never says "written".
 */
bool scan_has_soft(void)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct scan *s = scan_open(getpid(), true, NULL);
	bool ok = false;

	if (s && page != MAP_FAILED) {
		*page = 1;
		ok = scan_soft_clear(getpid(), NULL) == 0 &&
		     !page_written(s, (const char *)page);
		*page = 2;
		ok = ok && page_written(s, (const char *)page);
	}
	if (page != MAP_FAILED)
		munmap((void *)page, PAGE);
	scan_close(s);
	return ok;
}

/* Does the ioctl know that category? A scan of an empty range tells. */
static bool has_category(uint64_t category)
{
	struct scan *s = scan_open(getpid(), false, NULL);
	struct pm_scan_arg a = { .size = sizeof(a),
				 .category_mask = category,
				 .return_mask = category };
	bool ok = s && ioctl(s->fd, PAGEMAP_SCAN, &a) == 0;

	scan_close(s);
	return ok;
}

bool scan_has_ioctl(void)
{
	return has_category(PAGE_IS_WRITTEN);
}

bool scan_has_guards(void)
{
	return has_category(PAGE_IS_GUARD);
}

int scan_guards(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		void *arg, struct error *err)
{
	struct pm_scan_arg a = { .start = start,
				 .end = end,
				 .category_mask = PAGE_IS_GUARD,
				 .return_mask = PAGE_IS_GUARD };
	struct sink k = { .fn = fn, .arg = arg };

	return scan_walk(s, &a, take_region, &k, err);
}

/* ---- either way ---- */

static int scan_there(struct scan *s, uint64_t start, uint64_t end,
		      unsigned flags, struct sink *k, struct error *err)
{
	struct pm_scan_arg a = {
		.start = start,
		.end = end,
		.category_anyof_mask = PAGE_IS_PRESENT,
		.return_mask = PAGE_IS_PRESENT | k->but,
	};

	if (s->reading) {
		struct plain p = { k->fn, k->arg };

		return read_runs(s, start, end, 0,
				 k->but & PAGE_IS_FILE ? ENTRY_FILE : 0,
				 plain_run, &p, err);
	}
	if (flags & SCAN_SWAPPED)
		a.category_anyof_mask |= PAGE_IS_SWAPPED;
	/* pages of the file as well: written to, they become private ones */
	if (flags & SCAN_PROTECT) {
		a.max_pages = SCAN_PROTECTED;
		a.flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC;
	}
	if (k->guard) {
		a.category_anyof_mask |= PAGE_IS_GUARD;
		a.return_mask |= PAGE_IS_GUARD;
	}
	return scan_walk(s, &a, take_region, k, err);
}

#define NOT_PRIVATE (PAGE_IS_FILE | PAGE_IS_PFNZERO)

int scan_private(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err)
{
	struct sink k = { .but = NOT_PRIVATE, .fn = fn, .arg = arg };

	return scan_there(s, start, end, flags, &k, err);
}

int scan_private_and_guards(struct scan *s, uint64_t start, uint64_t end,
			    unsigned flags, scan_fn *fn, void *arg,
			    scan_fn *guard, void *guard_arg, struct error *err)
{
	struct sink k = { NOT_PRIVATE, fn, arg, guard, guard_arg };

	return scan_there(s, start, end, flags, &k, err);
}

int scan_present(struct scan *s, uint64_t start, uint64_t end, unsigned flags,
		 scan_fn *fn, void *arg, struct error *err)
{
	struct sink k = { .fn = fn, .arg = arg };

	return scan_there(s, start, end, flags, &k, err);
}

int scan_protected(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		   void *arg, struct error *err)
{
	struct pm_scan_arg a = {
		.start = start,
		.end = end,
		.category_inverted = PAGE_IS_WRITTEN,
		.category_mask = PAGE_IS_WRITTEN,
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = PAGE_IS_WRITTEN,
	};
	struct sink k = { .fn = fn, .arg = arg };

	return scan_walk(s, &a, take_region, &k, err);
}

bool scan_is_tracked(struct scan *s, uint64_t at)
{
	struct pm_scan_arg a = {
		.size = sizeof(a),
		.flags = PM_SCAN_CHECK_WPASYNC,
		.start = at,
		.end = at + PAGE,
		.vec = (uintptr_t)s->region,
		.vec_len = 1,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};

	return ioctl(s->fd, PAGEMAP_SCAN, &a) >= 0 || errno != EPERM;
}

int scan_written(struct scan *s, uint64_t start, uint64_t end, scan_fn *fn,
		 void *arg, struct error *err)
{
	/* exactly these masks: the kernel has a fast path for them */
	struct pm_scan_arg a = {
		.flags = PM_SCAN_CHECK_WPASYNC,
		.start = start,
		.end = end,
		.category_mask = PAGE_IS_WRITTEN,
		.return_mask = PAGE_IS_WRITTEN,
	};
	struct sink k = { .fn = fn, .arg = arg };

	return scan_walk(s, &a, take_region, &k, err);
}

/* ---- all that a last pass asks, in one ---- */

struct changes {
	scan_changed_fn *fn;
	void *arg;
};

static enum scan_change kind_of_change(uint64_t categories)
{
	bool written = categories & PAGE_IS_WRITTEN;

	if (categories & PAGE_IS_GUARD)
		return SCAN_GUARD;
	if (!(categories & (PAGE_IS_PRESENT | PAGE_IS_SWAPPED)))
		return SCAN_GONE;
	/* an unwritten one that is present is here because it is not private */
	if (!(categories & NOT_PRIVATE) &&
	    (written || categories & PAGE_IS_PRESENT))
		return SCAN_CHANGED;
	return written ? SCAN_GONE : SCAN_MARK;
}

static int take_change(void *changes, const struct page_region *p,
		       struct error *err)
{
	const struct changes *c = changes;

	return c->fn(c->arg, p->start, p->end, kind_of_change(p->categories),
		     err);
}

int scan_changed(struct scan *s, uint64_t start, uint64_t end, bool guards,
		 scan_changed_fn *fn, void *arg, struct error *err)
{
	/* what was written to, is not present, or not private */
	struct pm_scan_arg a = {
		.flags = PM_SCAN_CHECK_WPASYNC,
		.start = start,
		.end = end,
		.category_inverted = PAGE_IS_PRESENT,
		.category_anyof_mask =
			PAGE_IS_WRITTEN | PAGE_IS_PRESENT | NOT_PRIVATE,
		.return_mask = PAGE_IS_WRITTEN | PAGE_IS_PRESENT |
			       PAGE_IS_SWAPPED | NOT_PRIVATE |
			       (guards ? PAGE_IS_GUARD : 0),
	};
	struct changes c = { fn, arg };

	return scan_walk(s, &a, take_change, &c, err);
}
