/* maps.c - the mappings of the process to move, see proc.h */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "core/bisect.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"

void vma_list_clear(struct vma_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct vma_list){ 0 };
}

const struct vma *vma_find(const struct vma_list *l, uint64_t addr)
{
	size_t at;

	bisect(at, l->nr, l->v[at].end <= addr);
	return at < l->nr && l->v[at].start <= addr ? &l->v[at] : NULL;
}

bool vma_meets(const struct vma_list *l, const struct vma *v)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].start < v->end && l->v[i].end > v->start)
			return true;
	return false;
}

const struct vma *vma_named(const struct vma_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].path && !strcmp(l->v[i].path, name))
			return &l->v[i];
	return NULL;
}

static bool vma_is_special(const char *path)
{
	return !strncmp(path, "[vvar", 5) || !strcmp(path, "[vdso]") ||
	       !strcmp(path, "[uprobes]");
}

/* Shared memory without a name of its own appears as one of these. */
static bool path_is_nameless(const char *path)
{
	return !strcmp(path, "/memfd:" OBJECT_NAMELESS " (deleted)") ||
	       !strcmp(path, "/dev/zero (deleted)") ||
	       !strncmp(path, "[anon_shmem:", 12);
}

static bool path_is_memfd(const char *path)
{
	return !strncmp(path, "/memfd:", 7);
}

bool vma_has_object(const struct vma *v)
{
	return v->kind == VMA_SHARED_ANON ||
	       (v->kind == VMA_FILE && v->path && path_is_memfd(v->path));
}

bool vma_shows_file(const struct vma *v)
{
	return (v->kind == VMA_FILE || v->kind == VMA_SHARED_FILE) &&
	       !vma_has_object(v);
}

bool vma_writes_file(const struct vma *v)
{
	return v->kind == VMA_SHARED_FILE && v->advice & VMA_MAYWRITE;
}

bool vma_is_nameless(const struct vma *v)
{
	return v->path && path_is_nameless(v->path);
}

char *vma_object_name(const struct vma *v)
{
	static const char tail[] = " (deleted)";
	const char *name =
		vma_is_nameless(v) ? "" : v->path + strlen("/memfd:");
	size_t n = strlen(name), m = strlen(tail);

	if (n >= m && !strcmp(name + n - m, tail))
		n -= m;
	return xasprintf("%.*s", (int)n, name);
}

bool vma_carries_pages(const struct vma *v)
{
	return v->kind != VMA_SHARED_FILE &&
	       (v->kind != VMA_SHARED_ANON || v->advice & VMA_MAYWRITE);
}

static enum vma_kind vma_classify(const struct vma *v, bool shared)
{
	const char *path = v->path ? v->path : "";

	if (vma_is_special(path))
		return VMA_SPECIAL;
	if (!strcmp(path, "/memfd:stint-landing (deleted)"))
		return VMA_LANDING;
	if (shared)
		return path_is_nameless(path) || path_is_memfd(path)
			       ? VMA_SHARED_ANON
			       : VMA_SHARED_FILE;
	return v->ino || *path == '/' ? VMA_FILE : VMA_ANON;
}

static char *copy_text(const char *p, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

/* The number at *p, which that character ends; *p is then behind it. */
static bool take_number(const char **p, int base, char end, uint64_t *ret)
{
	char *stop;

	if (!isxdigit((unsigned char)**p))
		return false;
	*ret = strtoull(*p, &stop, base);
	*p = stop + 1;
	return *stop == end;
}

/*
 * One line of maps: "start-end perms offset major:minor inode  path".  By hand, as a
 * process of many libraries has a thousand, and sscanf() would take a microsecond
 * for each while it stands still.
 */
static int parse_map_line(const char *line, size_t n, struct vma *ret)
{
	const char *p = line, *perm, *end = line + n;
	struct vma v = { 0 };
	uint64_t maj, min;

	if (!take_number(&p, 16, '-', &v.start) ||
	    !take_number(&p, 16, ' ', &v.end) || v.start >= v.end ||
	    end - p < 5 || p[4] != ' ')
		return -EPROTO;
	perm = p;
	p += 5;
	if (!take_number(&p, 16, ' ', &v.offset) ||
	    !take_number(&p, 16, ':', &maj) ||
	    !take_number(&p, 16, ' ', &min) ||
	    !take_number(&p, 10, ' ', &v.ino))
		return -EPROTO;
	v.dev = makedev((unsigned)maj, (unsigned)min);
	v.prot = (perm[0] == 'r' ? PROT_READ : 0) |
		 (perm[1] == 'w' ? PROT_WRITE : 0) |
		 (perm[2] == 'x' ? PROT_EXEC : 0);
	v.advice = perm[1] == 'w' ? VMA_MAYWRITE : 0;
	while (p < end && *p == ' ')
		p++;
	if (p < end)
		v.path = copy_text(p, (size_t)(end - p));
	v.kind = vma_classify(&v, perm[3] == 's');
	*ret = v;
	return 0;
}

/*
 * The kernel reports one piece at a time, and a later piece is newer: make room for it
 * where a mapping has grown, or has come into being over one just reported.
 */
static void cut_overlap(struct vma_list *l, uint64_t start)
{
	while (l->nr && l->v[l->nr - 1].end > start) {
		struct vma *last = &l->v[l->nr - 1];

		if (last->start < start) {
			last->end = start;
			return;
		}
		free(last->path);
		l->nr--;
	}
}

int proc_parse_maps(const char *text, struct vma_list *ret, struct error *err)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct vma v;

		if (parse_map_line(text, n, &v) < 0)
			return error_set(err, -EPROTO,
					 "maps: cannot read '%.*s'",
					 (int)(n < 99 ? n : 99), text);
		/* the legacy page outside user space comes with the kernel */
		if (v.path && !strcmp(v.path, "[vsyscall]")) {
			free(v.path);
		} else {
			cut_overlap(ret, v.start);
			array_room(ret->v, ret->nr, &ret->cap);
			ret->v[ret->nr++] = v;
		}
		text += n + (text[n] == '\n');
	}
	return 0;
}

int proc_read_maps(pid_t pid, struct vma_list *ret, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "maps", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_parse_maps(text, ret, err);
	free(text);
	return r;
}

static unsigned parse_vm_flags(const char *s, const char *end)
{
	static const struct {
		char name[3];
		unsigned flag;
	} table[] = {
		{ "gd", VMA_GROWSDOWN },  { "lo", VMA_LOCKED },
		{ "dc", VMA_DONTFORK },	  { "wf", VMA_WIPEONFORK },
		{ "dd", VMA_DONTDUMP },	  { "hg", VMA_HUGEPAGE },
		{ "nh", VMA_NOHUGEPAGE }, { "mg", VMA_MERGEABLE },
		{ "nr", VMA_NORESERVE },  { "sl", VMA_SEALED },
		{ "io", VMA_IO },	  { "pf", VMA_IO },
		{ "ht", VMA_HUGETLB },	  { "mw", VMA_MAYWRITE },
		{ "lf", VMA_ONFAULT },	  { "rr", VMA_RANDOM },
		{ "sr", VMA_SEQUENTIAL }, { "dp", VMA_DROPPABLE },
	};
	unsigned flags = 0;

	for (; s + 2 <= end; s += 3)
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			if (!memcmp(s, table[i].name, 2))
				flags |= table[i].flag;
	return flags;
}

/* sscanf() would measure all of the text that follows, at each line. */
static bool starts_with(const char *line, const char *key)
{
	return !strncmp(line, key, strlen(key));
}

static int parse_range(const char *line, unsigned long *ret_start,
		       unsigned long *ret_end)
{
	char *p;
	unsigned long start = strtoul(line, &p, 16), end;

	if (p == line || *p != '-')
		return -EPROTO;
	line = p + 1;
	end = strtoul(line, &p, 16);
	if (p == line || *p != ' ')
		return -EPROTO;
	*ret_start = start;
	*ret_end = end;
	return 0;
}

int proc_parse_advice(char *text, struct vma_list *l, struct error *err)
{
	static const char key[] = "VmFlags: ";
	unsigned long start = 0, end = 0, held = 0;
	struct vma *v = l->v, *last = l->v + l->nr;

	for (char *line = text; *line;) {
		char *eol = line + strcspn(line, "\n");

		if (starts_with(line, key)) {
			unsigned flags =
				parse_vm_flags(line + sizeof(key) - 1, eol);

			while (v < last && v->start < start)
				v++;
			for (; v < last && v->end <= end; v++) {
				v->advice = flags;
				v->empty = !held;
			}
		} else if (starts_with(line, "Rss:") ||
			   starts_with(line, "Swap:")) {
			held += strtoul(strchr(line, ':') + 1, NULL, 10);
		} else if (line[0] < 'A' || line[0] > 'Z') {
			if (parse_range(line, &start, &end) < 0)
				return error_set(err, -EPROTO,
						 "smaps: cannot read it");
			held = 0;
		}
		line = eol + (*eol == '\n');
	}
	return 0;
}

int proc_read_advice(pid_t pid, struct vma_list *l, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "smaps", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_parse_advice(text, l, err);
	free(text);
	return r;
}
