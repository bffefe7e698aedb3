/* layout.c - the mappings of the process; see layout.h */
#include "move/proc/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "move/wire/append.h"

void layout_keep_moving(struct vma_list *l, uint64_t area, size_t area_size)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr; i++) {
		struct vma *v = &l->v[i];

		if (v->kind == VMA_SPECIAL || v->kind == VMA_LANDING ||
		    (v->start >= area && v->end <= area + area_size))
			free(v->path);
		else
			l->v[n++] = *v;
	}
	l->nr = n;
}

/* Do both show the same thing wherever they overlap? */
static bool same_thing(const struct vma *a, const struct vma *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == VMA_ANON ||
	       (a->dev == b->dev && a->ino == b->ino &&
		a->offset - a->start == b->offset - b->start);
}

static void append_piece(struct vma_list *l, const struct vma *v,
			 uint64_t start, uint64_t end)
{
	struct vma *p;

	array_room(l->v, l->nr, &l->cap);
	p = &l->v[l->nr++];
	*p = *v;
	p->start = start;
	p->end = end;
	if (v->kind != VMA_ANON)
		p->offset += start - v->start;
	p->path = v->path ? xstrdup(v->path) : NULL;
}

/* Append the pieces of `of` that `in` does not show. */
static void subtract(const struct vma_list *of, const struct vma_list *in,
		     struct vma_list *ret)
{
	size_t k = 0;

	for (size_t i = 0; i < of->nr; i++) {
		const struct vma *v = &of->v[i];
		uint64_t at = v->start;

		while (k < in->nr && in->v[k].end <= v->start)
			k++;
		for (size_t j = k; j < in->nr && in->v[j].start < v->end; j++) {
			const struct vma *o = &in->v[j];

			if (!same_thing(v, o))
				continue;
			if (o->start > at)
				append_piece(ret, v, at, o->start);
			if (o->end > at)
				at = o->end;
		}
		if (at < v->end)
			append_piece(ret, v, at, v->end);
	}
}

void layout_find_fixed(const struct vma_list *l, struct vma_list *fixed)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct vma *v = &l->v[i];

		if (v->kind == VMA_SPECIAL || v->kind == VMA_LANDING ||
		    (v->kind == VMA_SHARED_FILE && !(v->prot & PROT_WRITE)) ||
		    v->kind == VMA_SHARED_ANON)
			append_piece(fixed, v, v->start, v->end);
	}
}

void layout_diff(const struct vma_list *from, const struct vma_list *to,
		 struct vma_list *gone, struct vma_list *fresh)
{
	subtract(from, to, gone);
	subtract(to, from, fresh);
}

void layout_cut(struct vma_list *l, uint64_t start, uint64_t end)
{
	struct vma_list rest = { 0 };

	for (size_t i = 0; i < l->nr; i++) {
		const struct vma *v = &l->v[i];
		uint64_t below = v->end < start ? v->end : start;
		uint64_t above = v->start > end ? v->start : end;

		if (v->start < below)
			append_piece(&rest, v, v->start, below);
		if (above < v->end)
			append_piece(&rest, v, above, v->end);
	}
	vma_list_clear(l);
	*l = rest;
}

bool layout_copy_advice(const struct vma_list *from, struct vma_list *to)
{
	bool all = true;

	for (size_t i = 0; i < to->nr; i++) {
		const struct vma *v = vma_find(from, to->v[i].start);

		if (v && same_thing(v, &to->v[i]))
			to->v[i].advice |= v->advice;
		else
			all = false;
	}
	return all;
}

int layout_read(pid_t pid, const struct vma_list *known, struct vma_list *ret,
		struct error *err)
{
	int r = proc_read_maps(pid, ret, err);

	if (!r && !layout_copy_advice(known, ret))
		r = proc_read_advice(pid, ret, err);
	return r;
}

Move__Vma *layout_settings(const struct vma *v)
{
	Move__Vma *m = append_new(&move__vma__descriptor);

	m->start = v->start;
	m->end = v->end;
	m->prot = (uint32_t)v->prot;
	m->kind = v->kind;
	m->advice = v->advice;
	return m;
}

Move__Vma *layout_vma(const struct vma *v)
{
	Move__Vma *m = layout_settings(v);

	m->offset = v->kind == VMA_ANON ? 0 : v->offset;
	if (vma_has_object(v)) {
		m->object = append_new(&move__object__descriptor);
		m->object->dev = v->dev;
		m->object->ino = v->ino;
		m->object->name = vma_object_name(v);
	} else if (v->kind != VMA_ANON) {
		m->file = append_new(&move__file__descriptor);
		m->file->path = xstrdup(v->path);
		m->file->shared = vma_writes_file(v);
	}
	return m;
}
