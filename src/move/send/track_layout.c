/*
 * track_layout.c - find out how the process's mappings have changed, and tell the
 * destination
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/check/check.h"
#include "move/proc/files.h"
#include "move/proc/layout.h"
#include "move/send/track_in.h"
#include "move/wire/append.h"
#include "move/wire/message.h"

static int tell_gone(struct track *t, const struct vma_list *gone,
		     struct error *err)
{
	struct frame_range *range = xcalloc(gone->nr, sizeof(*range));
	struct iovec iov = { range, gone->nr * sizeof(*range) };
	int r;

	for (size_t i = 0; i < gone->nr; i++) {
		range[i] = (struct frame_range){ gone->v[i].start,
						 gone->v[i].end };
		sent_remove(t->sent, range[i].start, range[i].end);
	}
	r = frame_send(t->ch, FRAME_UNMAP, &iov, 1, err);
	free(range);
	return r;
}

/* Also tell what the destination has to check before the process stands still. */
static int tell_first(struct track *t, Move__Layout *l, struct error *err)
{
	struct proc_status st;
	int r = proc_read_link(t->p->pid, "exe", &l->exe, err);

	if (!r)
		r = proc_read_status(t->p->pid, &st, err);
	if (r < 0)
		return r;
	l->queued = t->p->queued;
	l->locked = st.locked;
	return 0;
}

/*
 * Tell the destination of new mappings.  fresh may be empty, as the place of the
 * landing area is told with it.  If left is given, mappings of files that have vanished
 * since maps was read are not told but appended to left, which shares their paths.
 */
static int tell_fresh(struct track *t, const struct vma_list *fresh,
		      struct vma_list *left, struct error *err)
{
	Move__Layout *l = append_new(&move__layout__descriptor);
	fd_auto root = files_root(t->p->pid, err);
	int r = root < 0 ? root : 0;

	l->area = t->p->tracee->area;
	l->area_size = t->p->tracee->area_size;
	l->vdso = t->vdso;
	l->monotonic_offset = t->common->clocks.monotonic;
	l->boottime_offset = t->common->clocks.boottime;
	l->own_clocks = clocks_own(t->p->pid);
	if (!r && !t->told_area)
		r = tell_first(t, l, err);
	for (size_t i = 0; i < fresh->nr && !r; i++) {
		Move__Vma *v = layout_vma(&fresh->v[i]);

		if (v->file)
			r = files_describe_new(root, t->common->hello, v->file,
					       err);
		t->told_files |= v->file && !r;
		if (r == -ENOENT && !left)
			r = -EAGAIN;
		if (r == -ENOENT) {
			array_room(left->v, left->nr, &left->cap);
			left->v[left->nr++] = fresh->v[i];
			move__vma__free_unpacked(v, NULL);
			r = 0;
			continue;
		}
		append_to(l->map, l->n_map, v);
	}
	if (!r)
		r = wire_send(t->ch, FRAME_MAP, &l->base, err);
	move__layout__free_unpacked(l, NULL);
	t->told_area = !r;
	return r;
}

static int send_tree(void *ctx, const char *path, const void *p, size_t n,
		     struct error *err)
{
	struct track *t = ctx;
	struct iovec iov[] = { { (void *)(uintptr_t)path, strlen(path) + 1 },
			       { (void *)(uintptr_t)p, n } };

	return frame_send(t->ch, FRAME_TREE, iov, 2, err);
}

/* Send the trees before the mappings that show files in them. */
static int tell_trees(struct track *t, const struct vma_list *now, bool last,
		      struct error *err)
{
	const struct vma_list none = { 0 };
	int r = 0;

	if (!tree_count(t->common->trees))
		return 0;
	if (!t->told_area)
		r = tell_fresh(t, &none, NULL, err);
	return r < 0 ? r
		     : tree_pass(t->common->trees, now, last, send_tree, t,
				 err);
}

/*
 * Leave out mappings of files that were deleted after the mappings were read: the next
 * pass will see them as deleted.
 */
static void drop_deleted(const struct track *t, struct vma_list *maps)
{
	size_t n = 0;

	for (size_t i = 0; i < maps->nr; i++) {
		struct vma *v = &maps->v[i];

		if ((v->kind == VMA_FILE || v->kind == VMA_SHARED_FILE) &&
		    tree_holds(t->common->trees, v->dev) &&
		    !tree_has(t->common->trees, v->dev, v->ino))
			free(v->path);
		else
			maps->v[n++] = *v;
	}
	maps->nr = n;
}

/*
 * The mappings' advice (madvise) is slow to read: at the freeze it is read only if a
 * mapping is new.
 */
static int read_layout(struct track *t, struct vma_list *now, bool last,
		       struct error *err)
{
	const struct vma_list *known = t->maps.nr ? &t->maps : &t->p->seen;
	const struct vma *vdso;
	int r = proc_read_maps(t->p->pid, now, err);

	if (r < 0)
		return r;
	vdso = vma_named(now, "[vdso]");
	t->vdso = vdso ? vdso->start : 0;
	layout_keep_moving(now, t->p->tracee->area, t->p->tracee->area_size);
	if (!layout_copy_advice(known, now) || (t->read_advice && !last) ||
	    t->method != TRACK_ASYNC)
		r = proc_read_advice(t->p->pid, now, err);
	t->read_advice = false;
	/*
	 * refuse only at the freeze: a mapping that came after the first check
	 * may be gone by then
	 */
	if (!r && last)
		r = check_mappings(t->p->pid, now, err);
	else if (!r)
		check_drop_unmovable(t->p->pid, now);
	return r;
}

static int compare_start(const void *a, const void *b)
{
	const struct frame_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * List what this pass has to send whole, in order and disjoint: the mappings that were
 * just described, even where their pages are write-protected, because the destination
 * has dropped what it had there; and what was not watched.
 */
static void find_whole(struct track *t)
{
	struct range_list tmp = t->whole, *l = &t->whole;
	size_t n = 0;

	t->whole = t->missed;
	t->missed = tmp;
	t->missed.nr = 0;
	for (size_t i = 0; i < t->fresh.nr; i++)
		range_add(l, t->fresh.v[i].start, t->fresh.v[i].end);
	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), compare_start);
	for (size_t i = 0; i < l->nr; i++)
		if (n && l->v[i].start <= l->v[n - 1].end) {
			if (l->v[n - 1].end < l->v[i].end)
				l->v[n - 1].end = l->v[i].end;
		} else {
			l->v[n++] = l->v[i];
		}
	l->nr = n;
}

/* left: pieces of maps; it shares their paths. */
static void leave_out(struct vma_list *maps, struct vma_list *left)
{
	struct vma_list rest = { 0 }, none = { 0 };

	layout_diff(maps, left, &rest, &none);
	vma_list_clear(maps);
	*maps = rest;
	free(left->v);
}

void track_forget(struct track *t, uint64_t start, uint64_t end)
{
	layout_cut(&t->maps, start, end);
	sent_remove(t->sent, start, end);
}

/*
 * If a file was replaced, the destination has something else than the process maps now,
 * although device, inode and address may be the same.
 */
static int forget_changed(struct track *t, struct error *err)
{
	fd_auto root = files_root(t->p->pid, err);
	struct range_list old = { 0 };

	if (root < 0)
		return root;
	if (!files_forget_changed(root, t->common->hello))
		return 0;
	for (size_t i = 0; i < t->maps.nr; i++) {
		const struct vma *v = &t->maps.v[i];

		if (vma_shows_file(v) &&
		    !files_known(t->common->hello, v->path, vma_writes_file(v)))
			range_add(&old, v->start, v->end);
	}
	for (size_t i = 0; i < old.nr; i++)
		track_forget(t, old.v[i].start, old.v[i].end);
	free(old.v);
	return 0;
}

int track_layout(struct track *t, bool last, struct error *err)
{
	struct vma_list now = { 0 }, gone = { 0 }, left = { 0 };
	int r = read_layout(t, &now, last, err);

	t->told_files = false;
	t->paused = 0;
	if (!r)
		r = forget_changed(t, err);
	if (!r)
		r = tell_trees(t, &now, last, err);
	if (!r)
		drop_deleted(t, &now);
	if (!r && !last && t->method == TRACK_ASYNC)
		r = track_watch(t, &now, err);
	if (r < 0) {
		vma_list_clear(&now);
		return r;
	}
	vma_list_clear(&t->fresh);
	layout_diff(&t->maps, &now, &gone, &t->fresh);
	for (size_t i = 0; i < t->fresh.nr; i++)
		t->common->new_objects |= vma_has_object(&t->fresh.v[i]);
	if (gone.nr)
		r = tell_gone(t, &gone, err);
	if (!r && t->fresh.nr)
		r = tell_fresh(t, &t->fresh, last ? NULL : &left, err);
	vma_list_clear(&gone);
	if (left.nr)
		leave_out(&now, &left);
	vma_list_clear(&t->maps);
	t->maps = now;
	find_whole(t);
	return r;
}

usec_t track_paused(const struct track *t)
{
	return t->paused;
}

bool track_told_files(const struct track *t)
{
	return t->told_files;
}

void track_ask_advice(struct track *t)
{
	t->read_advice = true;
}

void track_describe(const struct track *t, Move__State *m)
{
	for (size_t i = 0; i < t->guards.nr; i++) {
		Move__Range *g = append_new(&move__range__descriptor);

		g->start = t->guards.v[i].start;
		g->end = t->guards.v[i].end;
		append_to(m->guard, m->n_guard, g);
	}
	m->map = xcalloc(t->maps.nr + 1, sizeof(*m->map));
	for (size_t i = 0; i < t->maps.nr; i++)
		m->map[m->n_map++] = layout_settings(&t->maps.v[i]);
}

int track_trees(struct track *t, struct error *err)
{
	struct vma_list now = { 0 };
	const struct vma *vdso;
	int r = proc_read_maps(t->p->pid, &now, err);

	if (!r) {
		vdso = vma_named(&now, "[vdso]");
		t->vdso = vdso ? vdso->start : 0;
		r = tell_trees(t, &now, false, err);
	}
	vma_list_clear(&now);
	return r;
}
