/* proc.c - what /proc tells about the process to move, see proc.h */
#include "move/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

#define PROC_FILE_MAX (256u << 20)

ssize_t proc_read(pid_t pid, const char *what, char **ret, struct error *err)
{
	char path[128];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = io_read_file(AT_FDCWD, path, PROC_FILE_MAX, ret);
	if (n < 0)
		return error_sys(err, (int)n, "%s", path);
	return n;
}

int proc_read_link(pid_t pid, const char *what, char **ret, struct error *err)
{
	char path[128], to[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return error_sys(err, -errno, "%s", path);
	to[n] = '\0';
	*ret = xstrdup(to);
	return 0;
}

void vma_list_clear(struct vma_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct vma_list){ 0 };
}

const struct vma *vma_find(const struct vma_list *l, uint64_t addr)
{
	size_t lo = 0, hi = l->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < l->nr && l->v[lo].start <= addr ? &l->v[lo] : NULL;
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

/* Shared memory without a name of its own shows as one of these. */
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

/* One line of maps: "start-end perms offset major:minor inode  path". */
static int parse_map_line(const char *line, size_t n, struct vma *ret)
{
	char perm[5], text[128];
	unsigned long start, end, off, ino;
	unsigned maj, min;
	size_t head = n < sizeof(text) - 1 ? n : sizeof(text) - 1;
	int used = 0;

	memcpy(text, line, head);
	text[head] = '\0';
	if (sscanf(text, "%lx-%lx %4s %lx %x:%x %lu%n", &start, &end, perm,
		   &off, &maj, &min, &ino, &used) < 7 ||
	    start >= end || strlen(perm) != 4)
		return -EPROTO;
	while ((size_t)used < n && line[used] == ' ')
		used++;
	*ret = (struct vma){
		.start = start,
		.end = end,
		.offset = off,
		.dev = makedev(maj, min),
		.ino = ino,
		.prot = (perm[0] == 'r' ? PROT_READ : 0) |
			(perm[1] == 'w' ? PROT_WRITE : 0) |
			(perm[2] == 'x' ? PROT_EXEC : 0),
	};
	if ((size_t)used < n)
		ret->path =
			xasprintf("%.*s", (int)(n - (size_t)used), line + used);
	ret->kind = vma_classify(ret, perm[3] == 's');
	return 0;
}

/*
 * The kernel tells a piece at a time, and what comes later is newer: make room
 * for it where a mapping has grown or come into being over one just told.
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
	};
	unsigned flags = 0;

	for (; s + 2 <= end; s += 3)
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			if (!memcmp(s, table[i].name, 2))
				flags |= table[i].flag;
	return flags;
}

int proc_parse_advice(char *text, struct vma_list *l, struct error *err)
{
	static const char key[] = "VmFlags: ";
	unsigned long start = 0, end = 0, kib, held = 0;
	struct vma *v = l->v, *last = l->v + l->nr;

	for (char *line = text; *line;) {
		char *eol = line + strcspn(line, "\n");

		if (!strncmp(line, key, sizeof(key) - 1)) {
			unsigned flags =
				parse_vm_flags(line + sizeof(key) - 1, eol);

			while (v < last && v->start < start)
				v++;
			for (; v < last && v->end <= end; v++) {
				v->advice = flags;
				v->empty = !held;
			}
		} else if (sscanf(line, "Rss: %lu", &kib) == 1 ||
			   sscanf(line, "Swap: %lu", &kib) == 1) {
			held += kib;
		} else if (line[0] < 'A' || line[0] > 'Z') {
			if (sscanf(line, "%lx-%lx ", &start, &end) != 2)
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

static const char *status_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : p)
		if (!strncmp(p, name, n) && p[n] == ':')
			return p + n + 1;
	return NULL;
}

static unsigned long status_number(const char *text, const char *name, int base)
{
	const char *p = status_field(text, name);

	return p ? strtoul(p, NULL, base) : 0;
}

int proc_parse_status(const char *text, struct proc_status *ret,
		      struct error *err)
{
	const char *state = status_field(text, "State");
	const char *ids = status_field(text, "NSpid"), *features;
	struct proc_status s = { 0 };

	if (!state || !status_field(text, "Threads"))
		return error_set(err, -EPROTO, "status: cannot read it");
	s.state = state[strspn(state, " \t")];
	s.ns_pid = (pid_t)status_number(text, "Pid", 10);
	for (char *end; ids; ids = end, s.nr_ns++) {
		long id = strtol(ids, &end, 10);

		if (end == ids || memchr(ids, '\n', (size_t)(end - ids)))
			break;
		s.ns_pid = (pid_t)id;
	}
	s.tgid = (pid_t)status_number(text, "Tgid", 10);
	s.swapped = status_number(text, "VmSwap", 10) << 10;
	s.memory = s.swapped + (status_number(text, "VmRSS", 10) << 10);
	features = status_field(text, "x86_Thread_features");
	s.shadow_stack = features &&
			 memmem(features, strcspn(features, "\n"), "shstk", 5);
	s.ppid = (pid_t)status_number(text, "PPid", 10);
	s.tracer = (pid_t)status_number(text, "TracerPid", 10);
	s.threads = (unsigned)status_number(text, "Threads", 10);
	s.umask = (unsigned)status_number(text, "Umask", 8);
	s.no_new_privs = status_number(text, "NoNewPrivs", 10);
	s.seccomp = status_number(text, "Seccomp", 10);
	s.cap_inh = status_number(text, "CapInh", 16);
	s.cap_prm = status_number(text, "CapPrm", 16);
	s.cap_eff = status_number(text, "CapEff", 16);
	s.cap_bnd = status_number(text, "CapBnd", 16);
	s.cap_amb = status_number(text, "CapAmb", 16);
	s.sig_caught = status_number(text, "SigCgt", 16);
	*ret = s;
	return 0;
}

int proc_read_status(pid_t pid, struct proc_status *ret, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "status", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_parse_status(text, ret, err);
	free(text);
	return r;
}

int proc_parse_stat(const char *text, struct proc_mm *ret, struct error *err)
{
	/* the name may hold anything, so count from its last parenthesis */
	const char *p = strrchr(text, ')');
	uint64_t f[53] = { 0 };
	int i = 3;

	if (!p || p[1] != ' ' || !p[2])
		return error_set(err, -EPROTO, "stat: cannot read it");
	p += 3; /* past the state, field 3 */
	for (char *end; i < 52; p = end) {
		uint64_t x = strtoull(p, &end, 10);

		if (end == p)
			break;
		f[++i] = x;
	}
	if (i < 51)
		return error_set(err, -EPROTO, "stat: too few fields");
	*ret = (struct proc_mm){
		.pgrp = (pid_t)f[5],
		.session = (pid_t)f[6],
		.flags = f[9],
		.cpu = (unsigned)f[39],
		.start_code = f[26],
		.end_code = f[27],
		.start_stack = f[28],
		.start_data = f[45],
		.end_data = f[46],
		.start_brk = f[47],
		.arg_start = f[48],
		.arg_end = f[49],
		.env_start = f[50],
		.env_end = f[51],
	};
	return 0;
}

int proc_read_stat(pid_t pid, struct proc_mm *ret, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "stat", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_parse_stat(text, ret, err);
	free(text);
	return r;
}

ssize_t proc_read_tasks(pid_t pid, pid_t **ret, struct error *err)
{
	char path[64];
	struct dirent *e;
	size_t nr = 0, cap = 0;
	pid_t *tid = NULL;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return error_sys(err, -errno, "%s", path);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		array_room(tid, nr, &cap);
		tid[nr++] = (pid_t)strtol(e->d_name, NULL, 10);
	}
	closedir(d);
	*ret = tid;
	return (ssize_t)nr;
}

/*
 * Without CONFIG_PROC_CHILDREN all processes have to be asked for their
 * parent.
 */
static int search_child(pid_t pid, pid_t *ret, struct error *err)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	if (!d)
		return error_sys(err, -errno, "/proc");
	while (!found && (e = readdir(d))) {
		pid_t other = (pid_t)strtol(e->d_name, NULL, 10);
		struct proc_status s;

		if (other > 0 && other != pid &&
		    proc_read_status(other, &s, NULL) == 0 && s.ppid == pid)
			found = other;
	}
	closedir(d);
	*ret = found;
	return 0;
}

int proc_read_child(pid_t pid, pid_t *ret, struct error *err)
{
	pid_t *tid, found = 0;
	ssize_t n = proc_read_tasks(pid, &tid, err);
	bool known = true;

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n && !found && known; i++) {
		char what[48], *text;

		snprintf(what, sizeof(what), "task/%d/children", tid[i]);
		if (proc_read(pid, what, &text, NULL) >= 0) {
			found = (pid_t)strtol(text, NULL, 10);
			free(text);
		} else {
			/* the thread may have ended, but not the main one */
			known = tid[i] != pid;
		}
	}
	free(tid);
	if (!known)
		return search_child(pid, ret, err);
	*ret = found;
	return 0;
}
