/* layout.c - the mappings of the process; see layout.h */
#include "move/layout.h"

#include <string.h>
#include <sys/mman.h>

#include "core/xalloc.h"
#include "move/capture.h"

bool layout_moves(const struct vma *v, uint64_t area, size_t area_size)
{
	return v->kind != VMA_SPECIAL &&
	       !(v->start >= area && v->end <= area + area_size);
}

Move__Vma *layout_vma(const struct vma *v)
{
	Move__Vma *m = capture_new(&move__vma__descriptor);

	m->start = v->start;
	m->end = v->end;
	m->prot = (uint32_t)v->prot;
	m->kind = v->kind;
	m->advice = v->advice;
	m->offset = v->kind == VMA_ANON ? 0 : v->offset;
	if (v->kind == VMA_FILE || v->kind == VMA_SHARED_FILE) {
		m->file = capture_new(&move__file__descriptor);
		m->file->path = xstrdup(v->path);
		m->file->shared =
			v->kind == VMA_SHARED_FILE && v->prot & PROT_WRITE;
	}
	return m;
}
