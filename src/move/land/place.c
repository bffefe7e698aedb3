/* place.c - pages of the source into the landing process, see place.h */
#include "move/land/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/io.h"
#include "move/proc/proc.h"

static bool huge_unasked(void)
{
	bool always = false;
	char *text;

	if (io_read_file(AT_FDCWD,
			 "/sys/kernel/mm/transparent_hugepage/enabled", 4096,
			 &text) < 0)
		return false;
	always = strstr(text, "[always]");
	free(text);
	return always;
}

int place_begin(struct landing *l, struct error *err)
{
	struct uffdio_api api = { .api = UFFD_API };
	const struct stub_call *made;
	int r;

	if (huge_unasked())
		return 0;
	r = landing_call(l, NULL, SYS_userfaultfd,
			 O_CLOEXEC | UFFD_USER_MODE_ONLY, 0, 0, 0, 0, 0, err);
	made = &l->box->call[l->list.nr_calls - 1];
	if (!r)
		r = landing_flush(l, err);
	if (r < 0 || made->ret < 0)
		return r;
	l->uffd = (int)syscall(SYS_pidfd_getfd, l->pidfd, (int)made->ret, 0);
	if (l->uffd >= 0 && ioctl(l->uffd, UFFDIO_API, &api) < 0)
		place_end(l);
	return landing_call(l, "close", SYS_close, (uint64_t)made->ret, 0, 0, 0,
			    0, 0, err);
}

void place_expect(const struct landing *l, const Move__Vma *v)
{
	struct uffdio_register reg = {
		.range = { v->start, v->end - v->start },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (l->uffd >= 0 && v->kind == VMA_ANON && !(v->advice & VMA_HUGEPAGE))
		(void)ioctl(l->uffd, UFFDIO_REGISTER, &reg);
}

/* The kernel forgets the registrations, and mappings can merge again. */
void place_end(struct landing *l)
{
	io_close(&l->uffd);
}

/* Whatever is there already is overwritten. */
static int write_runs(const struct landing *l, const struct frame_run *run,
		      uint64_t nr, const unsigned char *p)
{
	struct iovec here = { (void *)(uintptr_t)p, 0 };
	struct iovec there[FRAME_PAGES_RUNS];
	ssize_t n;

	for (uint64_t i = 0; i < nr; i++) {
		there[i] = (struct iovec){ (void *)(uintptr_t)run[i].start,
					   run[i].nr_pages * FRAME_PAGE };
		here.iov_len += there[i].iov_len;
	}
	n = process_vm_writev(l->pid, &here, 1, there, nr, 0);
	if (n == (ssize_t)here.iov_len)
		return 0;
	return n < 0 ? -errno : -EFAULT;
}

/* How many pages of run went into expected, empty memory; or -errno. */
static int64_t fill_pages(const struct landing *l, const struct frame_run *run,
			  const unsigned char *p)
{
	struct uffdio_copy copy = { .dst = run->start,
				    .src = (uintptr_t)p,
				    .len = run->nr_pages * FRAME_PAGE };

	if (l->uffd < 0)
		return -ENOENT;
	if (ioctl(l->uffd, UFFDIO_COPY, &copy) == 0)
		return (int64_t)run->nr_pages;
	return copy.copy > 0 ? copy.copy / FRAME_PAGE : -errno;
}

static int place_page(const struct landing *l, uint64_t at,
		      const unsigned char *p)
{
	const struct frame_run page = { at, 1 };
	int64_t r = fill_pages(l, &page, p);

	/* not expected, or there already */
	if (r == -ENOENT || r == -EEXIST)
		return write_runs(l, &page, 1, p);
	return r < 0 ? (int)r : 0;
}

/* A run may lie in several mappings, and some of it may have no place. */
static int place_run(const struct landing *l, const struct frame_run *run,
		     const unsigned char *p, place_lost_fn *lost, void *arg,
		     struct error *err)
{
	int64_t done = fill_pages(l, run, p);

	for (uint64_t k = done < 0 ? 0 : (uint64_t)done; k < run->nr_pages;
	     k++) {
		uint64_t at = run->start + k * FRAME_PAGE;
		int r = place_page(l, at, p + k * FRAME_PAGE);

		if (r == -EFAULT)
			lost(arg, at, at + FRAME_PAGE);
		else if (r < 0)
			return error_sys(err, r, "writing memory at %#llx",
					 (unsigned long long)at);
	}
	return 0;
}

int place_pages(const struct landing *l, const struct frame *f,
		place_lost_fn *lost, void *arg, struct error *err)
{
	const struct frame_pages *head = (const void *)f->data;
	const struct frame_run *run = (const void *)(head + 1);
	const unsigned char *p = (const void *)(run + head->nr_runs);
	int r = 0;

	if (l->uffd < 0 && write_runs(l, run, head->nr_runs, p) == 0)
		return 0;
	for (uint64_t i = 0; i < head->nr_runs && !r; i++) {
		r = place_run(l, &run[i], p, lost, arg, err);
		p += run[i].nr_pages * FRAME_PAGE;
	}
	return r;
}
