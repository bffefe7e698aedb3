/* files.c - are mapped files the same at both ends; see files.h */
#include "move/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/capture.h"

#define FILES_END (4u << 20)

/* Relative to root, since openat() takes an absolute path from "/". */
static int open_in(int root, const char *path)
{
	int fd = openat(root, path + strspn(path, "/"),
			O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int hash_part(XXH3_state_t *state, int fd, off_t at, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, at);

	if (p == MAP_FAILED)
		return -errno;
	XXH3_64bits_update(state, p, n);
	munmap(p, n);
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
		if (r == 0)
			r = hash_part(&state, fd,
				      (off_t)((size - FILES_END) & ~4095ul),
				      FILES_END);
	}
	*ret = XXH3_64bits_digest(&state);
	return r;
}

static int describe_file(int fd, Move__File *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	f->size = (uint64_t)st.st_size;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->mtime = st.st_mtim.tv_sec * 1000000000L + st.st_mtim.tv_nsec;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static bool is_carried(const Move__Hello *h, uint64_t dev)
{
	for (size_t i = 0; i < h->n_tree; i++)
		if (h->tree[i]->dev == dev)
			return true;
	return false;
}

static Move__File *find_file(const Move__Hello *h, const char *path)
{
	for (size_t i = 0; i < h->n_file; i++)
		if (!strcmp(h->file[i]->path, path))
			return h->file[i];
	return NULL;
}

static int add_file(int root, const char *path, bool shared, Move__Hello *h,
		    struct error *err)
{
	Move__File *f = find_file(h, path);
	int r;
	fd_auto fd = -1;

	if (f) {
		f->shared |= shared;
		return 0;
	}
	fd = open_in(root, path);
	if (fd < 0)
		return error_sys(err, fd, "%s, which the process maps", path);
	f = capture_new(&move__file__descriptor);
	f->path = xstrdup(path);
	f->shared = shared;
	capture_add(h->file, h->n_file, f);
	r = describe_file(fd, f);
	f->carried = is_carried(h, f->dev);
	/* what is written to through the mapping has no hash */
	if (r == 0 && !shared && !f->carried)
		r = hash_file(fd, f->size, &f->hash);
	return r < 0 ? error_sys(err, r, "%s, which the process maps", path)
		     : 0;
}

static int open_root(pid_t pid, struct error *err)
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
	fd_auto root = open_root(pid, err);
	int r;

	if (root < 0)
		return root;
	r = add_file(root, exe, false, h, err);
	for (size_t i = 0; i < maps->nr && r == 0; i++) {
		const struct vma *v = &maps->v[i];
		bool shared = v->kind == VMA_SHARED_FILE;

		if (!vma_shows_file(v))
			continue;
		r = add_file(root, v->path, shared && v->advice & VMA_MAYWRITE,
			     h, err);
		/* deleted since maps was read */
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

static int check_file(int root, const Move__File *f, struct error *err)
{
	Move__File here = MOVE__FILE__INIT;
	fd_auto fd = open_in(root, f->path);
	uint64_t hash;
	int r = fd < 0 ? fd : describe_file(fd, &here);

	if (r < 0)
		return error_sys(err, r, "%s, which the process maps", f->path);
	if (here.dev == f->dev && here.ino == f->ino &&
	    (f->shared || (here.size == f->size && here.mtime == f->mtime)))
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

int files_check(int root, const Move__Hello *h, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < h->n_file && r == 0; i++)
		if (!h->file[i]->carried)
			r = check_file(root, h->file[i], err);
	return r;
}

int files_describe_new(pid_t pid, Move__Hello *h, Move__File *f,
		       struct error *err)
{
	const Move__File *known = find_file(h, f->path);
	fd_auto root = -1;
	int r;

	if (known)
		return 0;
	root = open_root(pid, err);
	if (root < 0)
		return root;
	r = add_file(root, f->path, f->shared, h, err);
	if (r < 0)
		return r;
	known = find_file(h, f->path);
	f->size = known->size;
	f->hash = known->hash;
	f->dev = known->dev;
	f->ino = known->ino;
	f->mtime = known->mtime;
	f->carried = known->carried;
	return 0;
}

int files_check_new(const char *root, const Move__File *f, struct error *err)
{
	fd_auto dir = -1;

	if (!f->ino || f->carried)
		return 0;
	dir = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? error_sys(err, -errno, "%s", root)
		       : check_file(dir, f, err);
}
