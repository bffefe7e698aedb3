/*
 * fuzz_fds.c - what a hostile peer may write about descriptors
 *
 * An even first byte: the rest is FRAME_PATHS, or what HELLO tells of files,
 * for a capsule's root with a file, a directory, a named pipe and a link that
 * leads out of it.  Nothing outside is ever found.  An odd one: FRAME_FDS, as
 * it is taken apart before anything is made; what passes names nothing that is
 * not there (move/fd/valid.c).
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/scratch.h"
#include "move/fd/restore.h"
#include "move/fdkit/path.h"
#include "move/kind/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root_path[SCRATCH_MAX];

static int make_root(void)
{
	static const struct timespec epoch[2];
	int root;

	scratch_dir(root_path, "/tmp");
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert(root >= 0);
	assert(!mkdirat(root, "dir", 0755));
	assert(!mkfifoat(root, "dir/fifo", 0600));
	assert(!symlinkat("../../../../etc/passwd", root, "out"));
	close(openat(root, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	assert(!utimensat(root, "file", epoch, 0));
	return root;
}

static void check_inside(int fd)
{
	char link[40], path[256];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	assert(n > 0);
	path[n] = 0;
	assert(!strncmp(path, root_path, strlen(root_path)));
}

static void look_for_paths(const void *p, size_t n)
{
	static int root = -1;
	Fds__Paths *all = fds__paths__unpack(NULL, n, p);
	int r, all_there = 1, fd;
	struct error err;

	if (root < 0)
		root = make_root();
	for (size_t i = 0; all && i < all->n_kind; i++)
		all_there &= fdkinds_named(all->kind[i]) != NULL;
	for (size_t i = 0; all && i < all->n_path; i++) {
		if (all->path[i]->own || all->path[i]->carried)
			continue;
		if (fdpath_find(root, all->path[i], &fd, &err) < 0) {
			assert(*err.text);
			all_there = 0;
			continue;
		}
		check_inside(fd);
		close(fd);
	}
	r = fds_check_dest(root, p, n, NULL, &err);
	assert((r == 0) == (all && all->version == 1 && all_there));
	if (all)
		fds__paths__free_unpacked(all, NULL);
}

static void check_indices(const Fds__Set *set)
{
	for (size_t i = 0; i < set->n_number; i++)
		assert(set->number[i]->file < set->n_file);
	for (size_t i = 0; i < set->n_file; i++) {
		const Fds__File *f = set->file[i];

		if (f->kind_case == FDS__FILE__KIND_PIPE)
			assert(f->pipe->pipe < set->n_pipe);
		if (f->kind_case == FDS__FILE__KIND_MEMFD)
			assert(f->memfd->memfd < set->n_memfd);
		if (f->kind_case == FDS__FILE__KIND_EPOLL)
			for (size_t k = 0; k < f->epoll->n_entry; k++)
				assert(f->epoll->entry[k]->file < set->n_file);
		if (f->kind_case == FDS__FILE__KIND_SOCKET &&
		    f->socket->kind_case == FDS__SOCKET__KIND_UN)
			assert(f->socket->un->peer < (int64_t)set->n_file);
	}
}

static void take_set(const void *p, size_t n)
{
	struct fds_restored *restored = NULL;
	struct fds_lock *locks = NULL;
	size_t nr_locks = 0;
	struct error err;
	Fds__Set *set;
	int r = fdvalid_unpack(p, n, &set, &err);

	if (r < 0) {
		assert(*err.text);
		assert(fds_unpack(p, n, &restored, NULL) == r && !restored);
		assert(fds_locks(p, n, &locks, &nr_locks, NULL) == r);
		return;
	}
	check_indices(set);
	assert(fds_unpack(p, n, &restored, NULL) == 0);
	assert(fds_first_free(restored) == fdvalid_base(set));
	fds_restored_destroy(restored);
	if (!fds_locks(p, n, &locks, &nr_locks, NULL))
		for (size_t i = 0; i < nr_locks; i++)
			assert(locks[i].fd < fdvalid_base(set));
	free(locks);
	fds__set__free_unpacked(set, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data & 1)
		take_set(data + 1, size - 1);
	else
		look_for_paths(data + 1, size - 1);
	return 0;
}
