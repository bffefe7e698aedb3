/* tree.c - the trees of the process that moves, at the source; see tree.h */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/tree/source.h"

/* A kernel's clock for files may stand still for so long. */
#define COARSE (20 * NSEC_PER_MSEC)

static int open_root(int root, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int add_tree(struct tree_set *set, int root, const char *path,
		    struct error *err)
{
	struct tree *t = &set->tree[set->nr];
	struct stat st;
	int fd = open_root(root, path);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return error_sys(err, fd, "%s", path);
	if (fstat(fd, &st) < 0) {
		int r = error_sys(err, -errno, "%s", path);

		close(fd);
		return r;
	}
	*t = (struct tree){ .path = path, .root = fd, .dev = st.st_dev };
	set->nr++;
	return 0;
}

int tree_open(pid_t pid, const char *const *paths, struct tree_set **ret,
	      struct error *err)
{
	struct tree_set *set = xcalloc(1, sizeof(*set));
	fd_auto root = -1;
	char proc[40];
	size_t n = 0;
	int r = 0;

	while (paths && paths[n])
		n++;
	set->tree = xcalloc(n + 1, sizeof(*set->tree));
	snprintf(proc, sizeof(proc), "/proc/%d/root", (int)pid);
	root = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		r = error_sys(err, -errno, "%s", proc);
	for (size_t i = 0; i < n && !r; i++)
		r = add_tree(set, root, paths[i], err);
	if (r < 0) {
		tree_close(set);
		return r;
	}
	*ret = set;
	return 0;
}

static void free_nodes(struct tree *t)
{
	struct tree_node *n, *next;

	HASH_ITER (hh, t->node, n, next)
		tree_forget(t, n);
}

void tree_close(struct tree_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->nr; i++) {
		struct tree *t = &set->tree[i];

		free_nodes(t);
		for (size_t k = 0; k < t->nr_names; k++)
			free(t->name[k].name);
		free(t->name);
		io_close(&t->root);
	}
	free(set->tree);
	free(set->buffer);
	free(set);
}

static int walk_all(struct tree_set *set, struct error *err)
{
	int r = 0;

	set->bytes = 0;
	for (size_t i = 0; i < set->nr && !r; i++) {
		struct tree *t = &set->tree[i];

		t->began = clock_nsec(CLOCK_REALTIME);
		r = tree_walk(t, err);
		set->bytes += t->bytes;
	}
	if (!r && set->bytes > TREE_BYTES)
		r = error_set(
			err, -ENOTSUP,
			"files of %llu MiB in %s and the like would have to move with the process; the most is %llu MiB",
			(unsigned long long)(set->bytes >> 20),
			set->tree[0].path,
			(unsigned long long)(TREE_BYTES >> 20));
	return r;
}

int tree_measure(struct tree_set *set, uint64_t *ret_bytes, struct error *err)
{
	int r = walk_all(set, err);

	if (!r)
		*ret_bytes = set->bytes;
	return r;
}

static bool is_mapped(const struct vma_list *maps, const struct tree *t,
		      uint64_t ino)
{
	for (size_t i = 0; i < maps->nr; i++) {
		const struct vma *v = &maps->v[i];

		if (v->kind == VMA_SHARED_FILE && v->ino == ino &&
		    v->dev == t->dev)
			return true;
	}
	return false;
}

/*
 * Files that the process maps may change without any trace, until they are
 * unmapped.
 */
static void mark_mapped(struct tree *t, const struct vma_list *maps)
{
	for (size_t i = 0; i < maps->nr; i++) {
		const struct vma *v = &maps->v[i];
		struct tree_node *n;

		if (v->kind == VMA_SHARED_FILE && v->dev == t->dev &&
		    (n = tree_find(t, v->ino)))
			n->changed = true;
	}
}

/* After a file was told: may the next look take it for unchanged? */
static void mark_unsure(struct tree *t, const struct vma_list *maps)
{
	for (struct tree_node *n = t->node; n; n = n->hh.next) {
		const struct timespec *ts = &n->st.st_ctim;
		int64_t at = ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;

		n->unsure |=
			at + COARSE >= t->began || is_mapped(maps, t, n->ino);
	}
}

/* Of files that are looked into in this pass. */
static uint64_t bytes_to_read(const struct tree *t)
{
	uint64_t sum = 0;

	for (const struct tree_node *n = t->node; n; n = n->hh.next)
		if (n->changed && S_ISREG(n->st.st_mode))
			sum += (uint64_t)n->st.st_blocks * 512;
	return sum;
}

static int check_last(const struct tree_set *set, struct error *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->nr; i++)
		sum += bytes_to_read(&set->tree[i]);
	if (sum <= TREE_LAST_BYTES)
		return 0;
	return error_set(
		err, -EAGAIN,
		"files of %llu MiB in %s and the like are being written to, which would be read while the process stands still; the most is %llu MiB",
		(unsigned long long)(sum >> 20), set->tree[0].path,
		(unsigned long long)(TREE_LAST_BYTES >> 20));
}

int tree_pass(struct tree_set *set, const struct vma_list *maps, bool last,
	      tree_emit *emit, void *ctx, struct error *err)
{
	int r = walk_all(set, err);

	for (size_t i = 0; i < set->nr && !r; i++)
		mark_mapped(&set->tree[i], maps);
	if (!r && last)
		r = check_last(set, err);
	for (size_t i = 0; i < set->nr && !r; i++) {
		r = tree_send(set, &set->tree[i], emit, ctx, err);
		mark_unsure(&set->tree[i], maps);
	}
	return r;
}

bool tree_holds(const struct tree_set *set, dev_t dev)
{
	for (size_t i = 0; set && i < set->nr; i++)
		if (set->tree[i].dev == dev)
			return true;
	return false;
}

bool tree_has(const struct tree_set *set, dev_t dev, uint64_t ino)
{
	for (size_t i = 0; set && i < set->nr; i++)
		if (set->tree[i].dev == dev && tree_find(&set->tree[i], ino))
			return true;
	return false;
}

size_t tree_count(const struct tree_set *set)
{
	return set ? set->nr : 0;
}

const char *tree_path(const struct tree_set *set, size_t i, dev_t *ret_dev)
{
	*ret_dev = set->tree[i].dev;
	return set->tree[i].path;
}

uint64_t tree_bytes_sent(const struct tree_set *set)
{
	return set ? set->bytes_sent : 0;
}
