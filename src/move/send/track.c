/* track.c - find out which pages the process has written, and send them; see track.h */
#include "move/send/track_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "move/check/check.h"
#include "move/proc/layout.h"
#include "move/wire/fault.h"
#include "move/wire/message.h"

/* bytes of holes read in a tenth of a second */
#define READ_PIECE ((uint64_t)32 << 30)

/* What one pass over one mapping needs to know. */
struct pass {
	struct track *t;
	bool shared; /* its pages belong to a shared object, not to the process */
	/*
	 * of a shared mapping: also send what lies in holes of the page table
	 */
	bool holes;
	bool last;
	uint64_t cursor; /* everything before this address has been told */
	unsigned flags;	 /* for scan_private() */
};

struct track *track_create(const struct send_process *p, struct common *c,
			   struct channel *ch)
{
	struct track *t = xcalloc(1, sizeof(*t));

	t->p = p;
	t->common = c;
	t->ch = ch;
	t->uffd = -1;
	t->sent = sent_create();
	return t;
}

void track_destroy(struct track *t)
{
	if (!t)
		return;
	scan_close(t->scan);
	scan_close(t->scan_private);
	sent_destroy(t->sent);
	track_watch_stop(t);
	vma_list_clear(&t->maps);
	vma_list_clear(&t->fresh);
	free(t->zap);
	free(t->guards.v);
	free(t->missed.v);
	free(t->whole.v);
	free(t);
}

bool track_follows(const struct track *t)
{
	return t->method != TRACK_NONE;
}

void track_beat(struct track *t, struct watch *w)
{
	if (!t)
		return;
	scan_watched(t->scan, w);
	scan_watched(t->scan_private, w);
}

/* The best method that STINT_TRACK allows. */
static int method_allowed(enum track_method *ret, struct error *err)
{
	static const char *const names[] = {
		[TRACK_NONE] = "none",
		[TRACK_SOFT_DIRTY] = "softdirty",
		[TRACK_ASYNC] = "async",
	};
	const char *want = getenv("STINT_TRACK");

	*ret = TRACK_ASYNC;
	for (int m = TRACK_NONE; want && m <= TRACK_ASYNC; m++)
		if (!strcmp(want, names[m])) {
			*ret = (enum track_method)m;
			return 0;
		}
	return want ? error_set(err, -EINVAL,
				"STINT_TRACK=%s: async, softdirty or none",
				want)
		    : 0;
}

static const char *why_none(enum track_method allowed, bool direct)
{
	if (direct)
		return "a file is open for direct I/O (O_DIRECT), which writes into memory unseen";
	switch (allowed) {
	case TRACK_NONE:
		return "STINT_TRACK=none";
	case TRACK_SOFT_DIRTY:
		return "STINT_TRACK=softdirty, and this kernel has no soft-dirty bits";
	default:
		return "this kernel can track writes neither by userfaultfd (Linux 6.7) nor by soft-dirty bits";
	}
}

int track_start(struct track *t, bool direct, struct error *why,
		struct error *err)
{
	enum track_method allowed = TRACK_NONE;
	int r = move_fault(MF_SOURCE_TRACKING, err);

	if (!r)
		r = method_allowed(&allowed, err);
	if (direct)
		allowed = TRACK_NONE;
	if (!r)
		r = allowed == TRACK_ASYNC ? track_watch_start(t, err)
					   : -EOPNOTSUPP;
	if (r < 0 && r != -EOPNOTSUPP)
		return r;
	if (!r)
		t->method = TRACK_ASYNC;
	else if (allowed >= TRACK_SOFT_DIRTY && scan_has_soft())
		t->method = TRACK_SOFT_DIRTY;
	else
		error_set(why, -EOPNOTSUPP, "%s", why_none(allowed, direct));
	t->has_guards = scan_has_guards();
	t->scan = scan_open(t->p->pid, t->method != TRACK_ASYNC, err);
	t->scan_private = scan_open(t->p->pid, t->method != TRACK_ASYNC, err);
	track_beat(t, t->p->tracee->watch);
	return t->scan && t->scan_private ? 0 : -ESRCH;
}

/* Send these private pages; pages between them that were sent before are gone. */
static int send_private(void *arg, uint64_t start, uint64_t end,
			struct error *err)
{
	struct pass *p = arg;
	int r = sent_each(p->t->sent, p->cursor, start, track_zap, p->t, err);

	p->cursor = end;
	sent_add(p->t->sent, start, end);
	return r < 0 ? r : page_sender_add(p->t->p->pages, start, end, err);
}

static int send_hole(struct pass *p, uint64_t end, struct error *err)
{
	uint64_t start = p->cursor;

	p->cursor = end;
	return p->holes && start < end
		       ? page_sender_add(p->t->p->pages, start, end, err)
		       : 0;
}

static int send_page(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct pass *p = arg;
	int r = send_hole(p, start, err);

	p->cursor = end;
	return r < 0 ? r : page_sender_add(p->t->p->pages, start, end, err);
}

/*
 * Reading terabytes of holes takes so long that the destination would give up the
 * connection (FRAME_PATIENCE). So it is told of the first page of each large hole that
 * it is gone, as a sign of life.
 */
static int send_read(struct pass *p, uint64_t start, uint64_t end,
		     struct error *err)
{
	struct track *t = p->t;
	uint64_t told, next;
	int r = 0;

	for (uint64_t at = start; !r && at < end; at = next) {
		next = end - at < READ_PIECE ? end : at + READ_PIECE;
		told = p->cursor;
		r = scan_private(t->scan_private, at, next, p->flags,
				 send_private, p, err);
		if (r < 0 || next == end || p->cursor != told)
			continue;
		r = track_zap(t, at, at + FRAME_PAGE, err);
		if (!r)
			r = track_zap_flush(t, err);
	}
	return r;
}

/*
 * Pages of shared memory stay there when the process drops them from its
 * tables (MADV_DONTNEED, reclaim), so a hole may hide what was written before.
 */
static int send_shared(struct pass *p, uint64_t start, uint64_t end,
		       struct error *err)
{
	int r;

	p->cursor = start;
	r = scan_present(p->t->scan_private, start, end, p->flags, send_page, p,
			 err);
	return r < 0 ? r : send_hole(p, end, err);
}

/* Guard pages are asked for in the last pass, along with all other pages. */
static int scan_range(struct pass *p, uint64_t start, uint64_t end,
		      struct error *err)
{
	struct track *t = p->t;

	return p->last && t->has_guards
		       ? scan_private_and_guards(t->scan_private, start, end,
						 p->flags, send_private, p,
						 track_note_guard, t, err)
		       : scan_private(t->scan_private, start, end, p->flags,
				      send_private, p, err);
}

static int send_range(struct pass *p, uint64_t start, uint64_t end,
		      struct error *err)
{
	bool scans = p->t->method == TRACK_ASYNC && !p->shared;
	int r = p->last && !scans ? track_guards(p->t, start, end, err) : 0;

	if (r < 0)
		return r;
	if (p->shared)
		return send_shared(p, start, end, err);
	p->cursor = start;
	r = scans ? scan_range(p, start, end, err)
		  : send_read(p, start, end, err);
	return r < 0 ? r
		     : sent_each(p->t->sent, p->cursor, end, track_zap, p->t,
				 err);
}

static int on_written(void *arg, uint64_t start, uint64_t end,
		      struct error *err)
{
	struct pass *p = arg;
	int r;

	p->holes = p->shared;
	r = send_range(p, start, end, err);
	p->holes = false;
	return r;
}

/*
 * Send all of a mapping, of which the destination has nothing, or nothing that is known
 * to be right. -EPERM as from scan_private().
 */
static int send_whole(struct pass *p, uint64_t start, uint64_t end,
		      struct error *err)
{
	int r = p->flags & SCAN_PROTECT
			? track_clear_marks(p->t, start, end, err)
			: 0;

	/* it may hold pages that this process has never mapped */
	if (!r && p->shared)
		r = track_punch_whole(p->t, start, end, err);
	if (!r && p->shared)
		r = page_sender_add_nonzero(p->t->p->pages, start, end, err);
	return r < 0 ? r : send_range(p, start, end, err);
}

/*
 * When a process gives up a private page of a file mapping (MADV_DONTNEED), the kernel
 * leaves the mark of its write protection, so that no scan for written pages shows the
 * change.  So look at every page that was sent.
 */
static int recheck_gap(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct pass *p = arg;
	int r = track_drop(p->t, p->cursor, start, err);

	p->cursor = end;
	return r;
}

static int recheck_file(struct track *t, const struct vma *v, struct error *err)
{
	struct pass p = { .t = t, .cursor = v->start, .flags = SCAN_SWAPPED };
	int r;

	if (!sent_any(t->sent, v->start, v->end))
		return 0;
	if (t->swapped)
		return send_range(&p, v->start, v->end, err);
	r = scan_private(t->scan_private, v->start, v->end, 0, recheck_gap, &p,
			 err);
	return r < 0 ? r : track_drop(t, p.cursor, v->end, err);
}

/* The pieces of a mapping to be sent whole, and what lies between them. */
static int send_pieces(struct track *t, const struct vma *v, struct pass *p,
		       struct error *err)
{
	uint64_t at = v->start;
	int r = 0;

	for (size_t i = 0; i < t->whole.nr && !r; i++) {
		struct frame_range f = t->whole.v[i];

		if (f.end <= at || f.start >= v->end)
			continue;
		if (at < f.start)
			r = scan_written(t->scan, at, f.start, on_written, p,
					 err);
		else
			f.start = at;
		if (f.end > v->end)
			f.end = v->end;
		if (!r)
			r = send_whole(p, f.start, f.end, err);
		at = f.end;
	}
	if (!r && at < v->end)
		r = scan_written(t->scan, at, v->end, on_written, p, err);
	return r;
}

static int send_vma(struct track *t, const struct vma *v, bool last,
		    struct error *err)
{
	struct pass p = {
		.t = t,
		.shared = v->kind == VMA_SHARED_ANON,
		.last = last,
		/* what is just being moved in memory has no pass after the last */
		.flags = (t->swapped || last ? SCAN_SWAPPED : 0) |
			 (last ? 0 : SCAN_PROTECT),
	};
	enum share_how how;
	int r = -EPERM;

	how = share_how(t->p->pid, v, &t->common->left);
	if (!vma_carries_pages(v) || how == SHARE_DESCRIPTOR)
		return 0;
	/* reading the page table of terabytes without pages takes long */
	if (t->method == TRACK_NONE && v->empty && !p.shared)
		return sent_each(t->sent, v->start, v->end, track_zap, t, err);
	if (how == SHARE_WHOLE)
		r = send_whole(&p, v->start, v->end, err);
	else if (t->method == TRACK_ASYNC)
		r = send_pieces(t, v, &p, err);
	if (!r && last && v->kind == VMA_FILE)
		return recheck_file(t, v, err);
	if (r != -EPERM)
		return r;
	if (last)
		return send_whole(&p, v->start, v->end, err);
	/* the failed scan may have protected pages without saying which */
	track_miss(t, v->start, v->end);
	return 0;
}

/*
 * Read whether the process has swapped-out pages, before and after the last pass: if
 * that has changed in between, the pass is invalid.
 */
static int read_swapped(struct track *t, struct error *err)
{
	struct proc_status st;
	int r = proc_read_status(t->p->pid, &st, err);

	if (!r)
		t->swapped = st.swapped > 0;
	return r;
}

/* A row of them, or one by one. */
static int send_maps(struct track *t, bool last, struct error *err)
{
	int r = 0;

	for (size_t i = 0, n; i < t->maps.nr && !r; i += n) {
		n = last ? track_row(t, i) : 0;
		r = n ? track_send_row(t, i, n, err) : -EPERM;
		n = n ? n : 1;
		if (r != -EPERM)
			continue;
		r = 0;
		for (size_t k = 0; k < n && !r; k++)
			r = send_vma(t, &t->maps.v[i + k], last, err);
	}
	return r;
}

int track_send(struct track *t, bool last, struct error *err)
{
	int r = 0;
	bool swapped;

	/* in the last pass it was read a moment ago */
	if (last)
		t->swapped = t->p->stopped.swapped > 0;
	else
		r = read_swapped(t, err);
	swapped = t->swapped;

	t->guards.nr = 0;
	if (!r)
		r = track_punches(t, err);
	if (!r)
		r = t->method == TRACK_SOFT_DIRTY
			    ? track_send_soft(t, last, err)
			    : send_maps(t, last, err);
	if (!r)
		r = track_zap_flush(t, err);
	if (!r)
		r = page_sender_flush(t->p->pages, err);
	if (!r && last && !swapped && (r = read_swapped(t, err)) == 0 &&
	    t->swapped)
		r = error_set(
			err, -EAGAIN,
			"the host has just begun to swap the process out");
	return r;
}
