/*
 * protect.c - protections and advice of L's mappings, see restore.h
 *
 * Private mappings are writable while pages come.  To those that the process itself
 * may not write to hardly any comes after the first round, and a program of many
 * libraries has hundreds: they are protected at the end of each round, and
 * opened again where a page does come.  What the source tells in the end counts; only
 * what differs from it is changed while the process stands still.
 */
#include "move/restore/restore.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/bisect.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/proc/uapi.h"

#define call(l, what, nr, a, b, c, d, e) \
	landing_call(l, what, nr, (uint64_t)(a), b, c, d, (uint64_t)(e), 0, err)

#define OPEN (PROT_READ | PROT_WRITE)

/* ---- before it stands still ---- */

/* The first that ends behind that address. */
static size_t find_behind(const struct restore_protected *p, uint64_t at)
{
	size_t i;

	bisect(i, p->nr, p->v[i].end <= at);
	return i;
}

static void insert(struct restore_protected *p, size_t i,
		   struct restore_protection e)
{
	array_room(p->v, p->nr, &p->cap);
	memmove(p->v + i + 1, p->v + i, (p->nr++ - i) * sizeof(*p->v));
	p->v[i] = e;
}

/* One that reaches into the range on both sides becomes two. */
void restore_unmapped(struct restore_protected *p, uint64_t start, uint64_t end)
{
	size_t i = find_behind(p, start), k;
	struct restore_protection *v;

	if (i < p->nr && p->v[i].start < start && p->v[i].end > end)
		insert(p, i, p->v[i]);
	v = p->v;
	if (i < p->nr && v[i].start < start)
		v[i++].end = start;
	for (k = i; k < p->nr && v[k].end <= end;)
		k++;
	if (k < p->nr && v[k].start < end)
		v[k].start = end;
	if (k > i)
		memmove(v + i, v + k, (p->nr - k) * sizeof(*v));
	p->nr -= k - i;
}

void restore_mapped(struct restore_protected *p, const Move__Vma *v)
{
	restore_unmapped(p, v->start, v->end);
	if (v->kind <= VMA_FILE && !(v->prot & PROT_WRITE))
		insert(p, find_behind(p, v->start),
		       (struct restore_protection){ .start = v->start,
						    .end = v->end,
						    .prot = v->prot });
}

int restore_protect(struct landing *l, struct restore_protected *p,
		    struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < p->nr && !r; i++) {
		struct restore_protection *e = &p->v[i];

		if (!e->set)
			r = call(l, "mprotect", SYS_mprotect, e->start,
				 e->end - e->start, e->prot, 0, 0);
		e->set = true;
	}
	return r < 0 ? r : landing_flush(l, err);
}

int restore_open_range(struct landing *l, struct restore_protected *p,
		       uint64_t start, uint64_t end, struct error *err)
{
	bool any = false;
	int r = 0;

	for (size_t i = find_behind(p, start);
	     i < p->nr && p->v[i].start < end && !r; i++) {
		struct restore_protection *e = &p->v[i];

		if (!e->set)
			continue;
		r = call(l, "mprotect", SYS_mprotect, e->start,
			 e->end - e->start, OPEN, 0, 0);
		e->set = false;
		any = true;
	}
	return r < 0 || !any ? r : landing_flush(l, err);
}

/* Is the mapping protected so already? */
static bool is_so(const struct restore_protected *p, const Move__Vma *v)
{
	uint64_t at = v->start;

	for (size_t i = find_behind(p, at); i < p->nr && p->v[i].start < v->end;
	     i++) {
		const struct restore_protection *e = &p->v[i];

		if (!e->set)
			continue;
		if (e->prot != v->prot || e->start > at)
			return false;
		at = e->end;
	}
	return at >= v->end || v->prot == OPEN;
}

/* ---- when all pages are in place ---- */

static int restore_advice(struct landing *l, const Move__Vma *v,
			  struct error *err)
{
	static const struct {
		unsigned flag;
		int advice;
	} table[] = {
		{ VMA_DONTFORK, MADV_DONTFORK },
		{ VMA_WIPEONFORK, MADV_WIPEONFORK },
		{ VMA_DONTDUMP, MADV_DONTDUMP },
		{ VMA_HUGEPAGE, MADV_HUGEPAGE },
		{ VMA_NOHUGEPAGE, MADV_NOHUGEPAGE },
		{ VMA_MERGEABLE, MADV_MERGEABLE },
		{ VMA_RANDOM, MADV_RANDOM },
		{ VMA_SEQUENTIAL, MADV_SEQUENTIAL },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table) && !r; i++)
		if (v->advice & table[i].flag)
			/* hints; a kernel may be without some of them */
			r = call(l, NULL, SYS_madvise, v->start,
				 v->end - v->start, (uint64_t)table[i].advice,
				 0, 0);
	if (!r && v->advice & VMA_LOCKED)
		r = call(l, "mlock2", SYS_mlock2, v->start, v->end - v->start,
			 v->advice & VMA_ONFAULT ? MLOCK_ONFAULT : 0, 0, 0);
	return r;
}

/* mseal() is the last that can be done to a mapping. */
static int restore_mapping(struct landing *l, const struct restore_protected *p,
			   const Move__Vma *v, struct error *err)
{
	int r = is_so(p, v) ? 0
			    : call(l, "mprotect", SYS_mprotect, v->start,
				   v->end - v->start, v->prot, 0, 0);

	if (!r)
		r = restore_advice(l, v, err);
	if (!r && v->advice & VMA_SEALED)
		r = call(l, "mseal", SYS_mseal, v->start, v->end - v->start, 0,
			 0, 0);
	return r;
}

int restore_protections(struct landing *l, const Move__State *s,
			const struct restore_protected *p, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_guard && !r; i++)
		r = call(l, "madvise(MADV_GUARD_INSTALL)", SYS_madvise,
			 s->guard[i]->start,
			 s->guard[i]->end - s->guard[i]->start,
			 MADV_GUARD_INSTALL, 0, 0);
	for (size_t i = 0; i < s->n_map && !r; i++)
		r = restore_mapping(l, p, s->map[i], err);
	return r;
}
