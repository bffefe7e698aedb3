/*
 * track_watch.c - have the kernel note which pages the process writes to
 *
 * A mapping is watched from its registration with the userfaultfd until it is unmapped
 * or moved.  mremap() takes the registration away, not only from what it moves but also
 * from all mappings that this is merged with.  Their pages keep the mark of write
 * protection but lose the protection itself at the next write; registered again, they
 * would pass for unchanged.  Hence two rules.  All threads stand still while mappings
 * are registered, because it must be known for certain which were not watched until
 * that moment; and what was not watched is sent whole, after its old marks were taken
 * away.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/proc/layout.h"
#include "move/send/recheck.h"
#include "move/send/track_in.h"

#define ADDRESS_END 0x7ffffffff000 /* the end of user space on x86-64 */

struct fetching {
	int pidfd, uffd;
};

/*
 * The process is at the pause of its list of calls: fetch the descriptor that it has
 * just made.
 */
static int fetch_uffd(void *arg, const struct stub_call *made,
		      struct error *err)
{
	struct fetching *f = arg;

	if (made->ret < 0)
		return error_set(err, -EOPNOTSUPP,
				 "no userfaultfd in the process");
	f->uffd = (int)syscall(SYS_pidfd_getfd, f->pidfd, (int)made->ret, 0);
	if (f->uffd < 0)
		return error_sys(err, -errno, "pidfd_getfd");
	return 0;
}

/* Make the userfaultfd, and agree on its protocol. */
static int make_uffd(struct track *t, uint64_t more, struct error *err)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC |
			    UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP | more,
	};
	struct fetching f = { t->p->pidfd, -1 };
	struct tracee_list *list = xcalloc(t->p->tracee->nr, sizeof(*list));
	struct stub_call call[2] = {
		{ .nr = SYS_userfaultfd,
		  .arg = { O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY } },
		{ .nr = SYS_close, .arg = { (uint64_t)-1 } },
	};
	int r;

	list[0].call = call;
	list[0].n = 2;
	list[0].at_pause = fetch_uffd;
	list[0].arg = &f;
	r = tracee_run(t->p->tracee, list, NULL, 0, err);
	free(list);
	if (!r && ioctl(f.uffd, UFFDIO_API, &api) < 0)
		r = -EOPNOTSUPP;
	if (r < 0)
		io_close(&f.uffd);
	return r < 0 ? r : f.uffd;
}

int track_watch_start(struct track *t, struct error *err)
{
	int r = scan_has_ioctl() ? make_uffd(t, 0, err) : -EOPNOTSUPP;

	if (r < 0)
		return r;
	t->uffd = r;
	r = make_uffd(t, UFFD_FEATURE_EVENT_REMOVE, err);
	if (r < 0) {
		track_watch_stop(t);
		return r;
	}
	t->uffd_shared = r;
	t->punches = punch_watch_create(t->p->pid, r);
	return t->punches
		       ? 0
		       : error_set(
				 err, -EAGAIN,
				 "cannot make a thread to watch shared memory");
}

void track_watch_stop(struct track *t)
{
	punch_watch_destroy(t->punches);
	t->punches = NULL;
	io_close(&t->uffd);
}

/* Is it shared memory, which track_punch.c watches? */
static bool is_shared(const struct vma *v)
{
	return v->kind == VMA_SHARED_ANON && vma_carries_pages(v);
}

static int register_range(int uffd, uint64_t start, uint64_t end,
			  struct error *err)
{
	struct uffdio_register reg = {
		.range = { start, end - start },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(uffd, UFFDIO_REGISTER, &reg) == 0)
		return 0;
	switch (errno) {
	case EINVAL: /* nothing is mapped there */
	case ENOENT:
	case ENOMEM:
	/*
	 * Something in the range cannot be made writable, and was not there
	 * when maps was read: nothing of the range is watched for now.
	 */
	case EPERM:
		return 0;
	}
	return error_sys(err, -errno, "tracking %#llx-%#llx",
			 (unsigned long long)start, (unsigned long long)end);
}

/*
 * Register whatever is mapped between the kernel's own mappings, whose place is known
 * for certain.  A range that ended anywhere else might cut a mapping in two that the
 * process has just made, and mremap() fails on those.  Shared memory is registered by
 * itself, while the process stands still.
 */
static int register_all(struct track *t, const struct vma_list *fixed,
			struct error *err)
{
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; i <= fixed->nr && !r; i++) {
		uint64_t end = i < fixed->nr ? fixed->v[i].start : ADDRESS_END;

		if (at < end)
			r = register_range(t->uffd, at, end, err);
		at = i < fixed->nr ? fixed->v[i].end : end;
		if (!r && i < fixed->nr && is_shared(&fixed->v[i]))
			r = register_range(t->uffd_shared, fixed->v[i].start,
					   fixed->v[i].end, err);
	}
	return r;
}

static bool any_shared(const struct vma_list *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (is_shared(&maps->v[i]))
			return true;
	return false;
}

/* A mapping that has gone meanwhile counts as watched. */
static bool is_watched(struct track *t, const struct vma *v)
{
	return !vma_carries_pages(v) || scan_is_tracked(t->scan, v->start);
}

static bool all_watched(struct track *t, const struct vma_list *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (!is_watched(t, &maps->v[i]))
			return false;
	return true;
}

/*
 * Register new mappings, while nothing is mapped (the threads are stopped) or before
 * anything was sent.
 */
static int register_new(struct track *t, const struct vma_list *known,
			struct error *err)
{
	struct vma_list maps = { 0 }, fixed = { 0 };
	int r = proc_read_maps(t->p->pid, &maps, err);

	if (r < 0)
		return r;
	layout_copy_advice(known, &maps);
	layout_find_fixed(&maps, &fixed);
	for (size_t i = 0; i < maps.nr; i++)
		if (!is_watched(t, &maps.v[i]))
			track_miss(t, maps.v[i].start, maps.v[i].end);
	r = register_all(t, &fixed, err);
	vma_list_clear(&maps);
	vma_list_clear(&fixed);
	return r;
}

/* If the process cannot be stopped now, it is left to the next pass. */
static int register_stopped(struct track *t, const struct vma_list *known,
			    struct error *err)
{
	struct error why;
	usec_t start;
	int r;

	/* the parent in a vfork() cannot be stopped */
	if (recheck_children(t->p->pid, &why) < 0)
		return 0;
	tracee_look(t->p->tracee);
	start = send_now();
	r = tracee_stop(t->p->tracee, err);
	if (!r)
		r = register_new(t, known, err);
	tracee_resume(t->p->tracee);
	t->paused = send_now() - start;
	return r == -EAGAIN ? 0 : r;
}

int track_watch(struct track *t, const struct vma_list *now, struct error *err)
{
	bool first = !t->maps.nr, throttled = t->p->tracee->nr > 0;

	if (!first && all_watched(t, now))
		return 0;
	return throttled || (first && !any_shared(now))
		       ? register_new(t, now, err)
		       : register_stopped(t, now, err);
}

static int clear_marks(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct track *t = arg;
	struct uffdio_writeprotect wp = { .range = { start, end - start } };

	if (ioctl(t->uffd, UFFDIO_WRITEPROTECT, &wp) == 0)
		return 0;
	/* it is no longer watched; the scan will find that, too */
	if (errno == ENOENT)
		return -EPERM;
	return error_sys(err, -errno, "unprotecting %#llx-%#llx",
			 (unsigned long long)start, (unsigned long long)end);
}

int track_clear_marks(struct track *t, uint64_t start, uint64_t end,
		      struct error *err)
{
	return t->method == TRACK_ASYNC
		       ? scan_protected(t->scan_private, start, end,
					clear_marks, t, err)
		       : 0;
}
