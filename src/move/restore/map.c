/*
 * map.c - the landing process's memory, see restore.h
 *
 * Its old mappings go, the vdso takes its place, and what the process has is
 * mapped as the source tells it.
 */
#include "move/restore/restore.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "move/proc/proc.h"
#include "move/proc/uapi.h"
#include "move/tracee/tracee.h"

#define call(l, what, nr, a, b, c, d, e) \
	landing_call(l, what, nr, (uint64_t)(a), b, c, d, (uint64_t)(e), 0, err)

static bool in_area(const struct landing *l, const struct vma *v)
{
	return v->start >= l->area && v->end <= l->area + l->size;
}

/* vvar and vdso lie next to each other and keep their distances. */
static int move_vdso(struct landing *l, const struct vma_list *maps,
		     uint64_t vdso, struct error *err)
{
	const struct vma *from = vma_named(maps, "[vdso]");
	int r = 0;

	if (!from || !vdso || from->start == vdso)
		return 0;
	for (size_t i = 0; i < maps->nr && !r; i++) {
		const struct vma *v = &maps->v[i];
		uint64_t n = v->end - v->start;

		if (v->kind == VMA_SPECIAL)
			r = landing_call(l, "mremap of the vdso", SYS_mremap,
					 v->start, n, n,
					 MREMAP_MAYMOVE | MREMAP_FIXED,
					 v->start - from->start + vdso, 0, err);
	}
	return r;
}

/*
 * Make the vdso writable, to be changed when the process stands still: cpu.c.
 */
static int open_vdso(struct landing *l, const struct vma_list *maps,
		     uint64_t vdso, struct error *err)
{
	const struct vma *v = vma_named(maps, "[vdso]");

	if (!v || !vdso)
		return 0;
	l->vdso = vdso;
	l->vdso_size = v->end - v->start;
	return call(l, NULL, SYS_mprotect, vdso, l->vdso_size,
		    PROT_READ | PROT_WRITE, 0, 0);
}

int restore_clear(struct landing *l, uint64_t vdso, struct error *err)
{
	struct vma_list maps = { 0 };
	int r = proc_read_maps(l->pid, &maps, err);

	for (size_t i = 0; i < maps.nr && !r; i++) {
		const struct vma *v = &maps.v[i];

		if (!in_area(l, v) && (v->kind != VMA_SPECIAL || !vdso))
			r = call(l, "munmap", SYS_munmap, v->start,
				 v->end - v->start, 0, 0, 0);
	}
	if (!r)
		r = move_vdso(l, &maps, vdso, err);
	if (!r)
		r = open_vdso(l, &maps, vdso, err);
	if (!r)
		r = landing_flush(l, err);
	vma_list_clear(&maps);
	return r;
}

int restore_vdso(struct landing *l, uint64_t at, const void *image, size_t n,
		 struct error *err)
{
	int r = landing_call(l, "mmap of the vdso", SYS_mmap, at, n,
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			     (uint64_t)-1, 0, err);

	if (!r)
		r = landing_flush(l, err);
	if (r < 0)
		return r;
	r = tracee_write(l->pid, at, image, n);
	if (r < 0)
		return error_sys(err, r, "writing the vdso");
	l->vdso = at;
	l->vdso_size = n;
	return 0;
}

static uint64_t map_flags(const Move__Vma *v)
{
	uint64_t flags = MAP_FIXED;

	switch (v->kind) {
	case VMA_ANON:
		flags |= MAP_ANONYMOUS;
		flags |=
			v->advice & VMA_DROPPABLE ? MAP_DROPPABLE : MAP_PRIVATE;
		break;
	case VMA_FILE:
		flags |= MAP_PRIVATE;
		break;
	default:
		flags |= MAP_SHARED;
	}
	if (v->advice & VMA_GROWSDOWN)
		flags |= MAP_GROWSDOWN;
	if (v->advice & VMA_NORESERVE ||
	    (v->kind <= VMA_FILE && !(v->prot & PROT_WRITE)))
		flags |= MAP_NORESERVE;
	return flags;
}

/* A memfd that was sealed or opened for reading, see vma_carries_pages(). */
static bool is_readonly(const Move__Vma *v)
{
	return v->kind == VMA_SHARED_ANON && !(v->advice & VMA_MAYWRITE);
}

/*
 * A mapping made through a descriptor for reading does not stand in the way of a seal
 * against writing.
 */
static int open_object(struct landing *l, const Move__Vma *v, struct error *err)
{
	int fd = landing_object(l, v->object->dev, v->object->ino,
				v->object->name,
				v->offset + (v->end - v->start), err);
	char path[40];

	if (fd < 0 || !is_readonly(v))
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return landing_open(l, path, O_RDONLY, err);
}

int restore_open(struct landing *l, const Move__Vma *v, struct error *err)
{
	bool write = v->kind == VMA_SHARED_FILE && v->file->shared;

	return landing_open(l, v->file->path,
			    (write ? O_RDWR : O_RDONLY) | O_NONBLOCK, err);
}

int restore_map(struct landing *l, const Move__Vma *v, int fd,
		struct error *err)
{
	bool shared = v->kind == VMA_SHARED_FILE || is_readonly(v);
	uint64_t prot = shared ? v->prot : PROT_READ | PROT_WRITE;
	int r;

	if (v->object) {
		fd = open_object(l, v, err);
		if (fd < 0)
			return fd;
	}
	r = landing_call(l, "mmap", SYS_mmap, v->start, v->end - v->start, prot,
			 map_flags(v), (uint64_t)fd, v->offset, err);
	/* before the pages come, so that they are made in huge ones */
	if (!r && v->advice & VMA_HUGEPAGE)
		r = call(l, NULL, SYS_madvise, v->start, v->end - v->start,
			 MADV_HUGEPAGE, 0, 0);
	return r;
}
