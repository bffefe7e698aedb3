/* files.c - are mapped files the same at both ends; see files.h */
#include "move/proc/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/wire/append.h"

#define FILES_END (4u << 20)

/* Relative to root, since openat() takes an absolute path from "/". */
static int open_in(int root, const char *path)
{
	int fd = openat(root, path + strspn(path, "/"),
			O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	return fd;
}

/*
 * By read(): the file may be cut meanwhile, and a mapping of it would fault then.
 */
static int hash_part(XXH3_state_t *state, int fd, off_t at, size_t n)
{
	static char buf[1 << 18];
	ssize_t k = 1;

	for (; n && k; n -= (size_t)k, at += k) {
		k = pread(fd, buf, n < sizeof(buf) ? n : sizeof(buf), at);
		if (k < 0)
			return -errno;
		XXH3_64bits_update(state, buf, (size_t)k);
	}
	return 0;
}

static int hash_file(int fd, uint64_t size, uint64_t *ret)
{
	XXH3_state_t state;
	int r = 0;

	XXH3_64bits_reset(&state);
	if (size && size <= FILES_WHOLE) {
		r = hash_part(&state, fd, 0, size);
	} else if (size) {
		r = hash_part(&state, fd, 0, FILES_END);
		if (!r)
			r = hash_part(&state, fd,
				      (off_t)((size - FILES_END) & ~4095ul),
				      FILES_END);
	}
	*ret = XXH3_64bits_digest(&state);
	return r;
}

/* path as for statx(): "" for the open file at itself. */
static int look_at_file(int at, const char *path, Move__File *f)
{
	struct statx st;

	if (statx(at, path, *path ? 0 : AT_EMPTY_PATH,
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return -errno;
	f->size = st.stx_size;
	f->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	f->ino = st.stx_ino;
	f->mtime = st.stx_mtime.tv_sec * NSEC_PER_SEC + st.stx_mtime.tv_nsec;
	f->btime = st.stx_mask & STATX_BTIME
			   ? st.stx_btime.tv_sec * NSEC_PER_SEC +
				     st.stx_btime.tv_nsec
			   : 0;
	return S_ISREG(st.stx_mode) ? 0 : -EINVAL;
}

static bool same_inode(const Move__File *a, const Move__File *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime == b->btime;
}

static bool same_content(const Move__File *a, const Move__File *b)
{
	return a->size == b->size && a->mtime == b->mtime;
}

static bool is_carried(const Move__Hello *h, uint64_t dev)
{
	for (size_t i = 0; i < h->n_tree; i++)
		if (h->tree[i]->dev == dev)
			return true;
	return false;
}

static Move__File *find_file(const Move__Hello *h, const char *path,
			     bool shared)
{
	for (size_t i = 0; i < h->n_file; i++)
		if (h->file[i]->shared == shared &&
		    !strcmp(h->file[i]->path, path))
			return h->file[i];
	return NULL;
}

bool files_known(const Move__Hello *h, const char *path, bool shared)
{
	return find_file(h, path, shared);
}

static int add_file(int root, const char *path, bool shared, Move__Hello *h,
		    struct error *err)
{
	fd_auto fd = -1;
	Move__File *f;
	int r;

	if (find_file(h, path, shared))
		return 0;
	fd = open_in(root, path);
	if (fd < 0)
		return error_sys(err, fd, "%s, which the process maps", path);
	f = append_new(&move__file__descriptor);
	f->path = xstrdup(path);
	f->shared = shared;
	r = look_at_file(fd, "", f);
	f->carried = is_carried(h, f->dev);
	/* a file that is written through the mapping has no hash */
	if (!r && !shared && !f->carried)
		r = hash_file(fd, f->size, &f->hash);
	if (r < 0) {
		move__file__free_unpacked(f, NULL);
		return error_sys(err, r, "%s, which the process maps", path);
	}
	append_to(h->file, h->n_file, f);
	return 0;
}

int files_root(pid_t pid, struct error *err)
{
	char path[64];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? error_sys(err, -errno, "%s", path) : root;
}

int files_describe(pid_t pid, const struct vma_list *maps, const char *exe,
		   Move__Hello *h, struct error *err)
{
	fd_auto root = files_root(pid, err);
	int r;

	if (root < 0)
		return root;
	r = add_file(root, exe, false, h, err);
	for (size_t i = 0; i < maps->nr && !r; i++) {
		const struct vma *v = &maps->v[i];

		if (!vma_shows_file(v))
			continue;
		r = add_file(root, v->path, vma_writes_file(v), h, err);
		/* deleted since maps was read */
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

static bool is_changed(int root, const Move__File *f)
{
	Move__File now = MOVE__FILE__INIT;

	if (look_at_file(root, f->path + strspn(f->path, "/"), &now) < 0 ||
	    !same_inode(f, &now))
		return true;
	return !f->shared && !f->carried && !same_content(f, &now);
}

size_t files_forget_changed(int root, Move__Hello *h)
{
	size_t n = 0, had = h->n_file;

	for (size_t i = 0; i < had; i++)
		if (is_changed(root, h->file[i]))
			move__file__free_unpacked(h->file[i], NULL);
		else
			h->file[n++] = h->file[i];
	h->n_file = n;
	return had - n;
}

int files_describe_new(int root, Move__Hello *h, Move__File *f,
		       struct error *err)
{
	const Move__File *known;
	int r = add_file(root, f->path, f->shared, h, err);

	if (r < 0)
		return r;
	known = find_file(h, f->path, f->shared);
	f->size = known->size;
	f->hash = known->hash;
	f->dev = known->dev;
	f->ino = known->ino;
	f->mtime = known->mtime;
	f->btime = known->btime;
	f->carried = known->carried;
	return 0;
}

int files_check_new(int root, const Move__File *f, struct error *err)
{
	Move__File here = MOVE__FILE__INIT;
	uint64_t hash;
	fd_auto fd = -1;
	int r;

	if (f->carried)
		return 0;
	fd = open_in(root, f->path);
	r = fd < 0 ? fd : look_at_file(fd, "", &here);
	if (r < 0)
		return error_sys(err, r, "%s, which the process maps", f->path);
	if (same_inode(f, &here) && (f->shared || same_content(f, &here)))
		return 0;
	if (f->shared && (here.ino != f->ino || here.size != f->size))
		return error_set(
			err, -ENOTSUP,
			"%s is mapped shared and writable, and is not the same file here",
			f->path);
	if (here.size != f->size)
		return error_set(
			err, -ENOTSUP,
			"%s has %llu bytes here and %llu at the source",
			f->path, (unsigned long long)here.size,
			(unsigned long long)f->size);
	if (f->shared)
		return 0;
	r = hash_file(fd, here.size, &hash);
	if (r < 0)
		return error_sys(err, r, "%s", f->path);
	if (hash != f->hash)
		return error_set(err, -ENOTSUP,
				 "%s has other content here than at the source",
				 f->path);
	return 0;
}

int files_check(int root, const Move__Hello *h, const Move__File **ret,
		struct error *err)
{
	for (size_t i = 0; i < h->n_file; i++) {
		int r = files_check_new(root, h->file[i], err);

		if (r < 0) {
			*ret = h->file[i];
			return r;
		}
	}
	return 0;
}
