/*
 * check.c - can this process be moved at all?
 *
 * Every refusal names the reason.  What a move asks the process itself before
 * its first round is asked here as well; else nothing is touched.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "move/check/check.h"
#include "move/fd/fds.h"
#include "move/move.h"
#include "move/proc/layout.h"
#include "move/proc/proc.h"
#include "move/proc/share.h"
#include "move/proc/sysv.h"
#include "move/wire/fault.h"

#define SHARED_MOST ((uint64_t)16 << 30)

static int check_status(pid_t pid, struct proc_status *st, struct error *err)
{
	pid_t child;
	int r = proc_read_status(pid, st, err);

	if (r < 0)
		return r;
	if (st->tgid != pid)
		return error_set(err, -EINVAL,
				 "%d is a thread of process %d; name that", pid,
				 st->tgid);
	if (st->state == 'Z' || st->state == 'X')
		return proc_running(pid, err);
	if (st->tracer)
		return error_set(
			err, -EBUSY,
			"process %d is traced by process %d (a debugger?)", pid,
			st->tracer);
	if (st->state == 'T')
		return error_set(
			err, -EBUSY,
			"process %d is stopped; continue it first (kill -CONT %d)",
			pid, pid);
	if (st->seccomp)
		return error_set(err, -ENOTSUP,
				 "process %d has a seccomp filter", pid);
	if (st->shadow_stack)
		return error_set(err, -ENOTSUP,
				 "process %d uses a shadow stack", pid);
	r = proc_read_child(pid, &child, err);
	if (!r && child)
		r = error_set(err, -ENOTSUP, "process %d has a child, %d", pid,
			      child);
	return r;
}

/*
 * Some capsules make a user namespace for their program (cluster/capsule/lasting.c), as
 * nobody can who has the program's uid: it belongs to another. Nor can who is in it make any
 * other that is not in one of its own.
 */
static bool is_given_by_capsule(const struct proc_status *st, pid_t pid)
{
	struct proc_status init;
	char path[64];
	uid_t whose;
	fd_auto ns = -1;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	return ns >= 0 && ioctl(ns, NS_GET_OWNER_UID, &whose) == 0 &&
	       proc_read_status(st->ppid, &init, NULL) == 0 &&
	       init.ns_pid == 1 && init.nr_ns > 1 && whose == init.uid &&
	       st->uid != init.uid;
}

/* Is the process in namespaces that its parent, or the capsule, is not in? */
static int check_namespaces(pid_t pid, const struct proc_status *st,
			    struct error *err)
{
	static const char *const names[] = { "mnt",    "net", "pid", "uts",
					     "cgroup", "ipc", "user" };
	const size_t given = is_given_by_capsule(st, pid) ? 3 : 0;
	const pid_t parent = st->ppid;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) - given; i++) {
		char path[32], *mine = NULL, *its;
		int r;

		snprintf(path, sizeof(path), "ns/%s", names[i]);
		if (proc_read_link(parent, path, &its, NULL) < 0)
			return 0;
		r = proc_read_link(pid, path, &mine, err);
		if (!r && strcmp(mine, its))
			r = error_set(
				err, -ENOTSUP,
				"process %d has a %s namespace of its own", pid,
				names[i]);
		free(its);
		free(mine);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_root(pid_t pid, pid_t parent, struct error *err)
{
	struct stat mine, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", parent);
	if (stat(path, &its) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (stat(path, &mine) < 0)
		return error_sys(err, -errno, "%s", path);
	return mine.st_dev == its.st_dev && mine.st_ino == its.st_ino
		       ? 0
		       : error_set(
				 err, -ENOTSUP,
				 "process %d has a root directory of its own (chroot)",
				 pid);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static const char *refusal(pid_t pid, const struct vma *v)
{
	const char *path = v->path ? v->path : "";

	if (v->kind == VMA_SPECIAL || v->kind == VMA_LANDING)
		return NULL;
	if (v->advice & VMA_HUGETLB)
		return "huge pages (hugetlb)";
	if (!strncmp(path, "anon_inode:[io_uring", 20))
		return "an io_uring instance";
	if (!strncmp(path, "/secretmem", 10))
		return "secret memory (memfd_secret)";
	if (!strncmp(path, "/SYSV", 5))
		return "SysV shared memory";
	if (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) &&
	    v->kind != VMA_SHARED_ANON)
		return "a device";
	if (v->advice & VMA_IO || !strncmp(path, "anon_inode:", 11))
		return "memory of a device";
	/* reading it allocates pages where there were holes */
	if (vma_is_nameless(v) && v->end - v->start > SHARED_MOST)
		return "more than 16 GiB of shared memory";
	/* its content is not written through such a mapping */
	if (vma_has_object(v) &&
	    (v->kind != VMA_SHARED_ANON || !vma_carries_pages(v)) &&
	    !share_has_descriptor(pid, v))
		return "a memfd whose descriptor is closed, privately or for reading";
	if (!vma_has_object(v) && ends_with(path, " (deleted)"))
		return "a deleted file";
	return NULL;
}

int check_mappings(pid_t pid, const struct vma_list *maps, struct error *err)
{
	for (size_t i = 0; i < maps->nr; i++) {
		const struct vma *v = &maps->v[i];
		const char *why = refusal(pid, v);

		if (why)
			return error_set(err, -ENOTSUP,
					 "process %d maps %s (%#llx, %s)", pid,
					 why, (unsigned long long)v->start,
					 v->path ? v->path : "anonymous");
	}
	return 0;
}

void check_drop_unmovable(pid_t pid, struct vma_list *maps)
{
	size_t n = 0;

	for (size_t i = 0; i < maps->nr; i++)
		if (refusal(pid, &maps->v[i]))
			free(maps->v[i].path);
		else
			maps->v[n++] = maps->v[i];
	maps->nr = n;
}

static int check_maps(pid_t pid, struct vma_list *seen, struct error *err)
{
	struct vma_list maps = { 0 };
	int r = layout_read(pid, seen, &maps, err);

	if (!r && !maps.nr)
		r = error_set(err, -ENOTSUP, "process %d is a kernel thread",
			      pid);
	if (!r)
		r = check_mappings(pid, &maps, err);
	if (!r)
		r = share_check(pid, &maps, err);
	vma_list_clear(seen);
	*seen = maps;
	return r;
}

static int check_class(pid_t pid, struct error *err)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	f = fopen(path, "re");
	if (!f)
		return error_sys(err, -errno, "%s (is the process yours?)",
				 path);
	if (fread(ident, 1, sizeof(ident), f) == sizeof(ident) &&
	    ident[EI_CLASS] != ELFCLASS64) {
		fclose(f);
		return error_set(err, -ENOTSUP, "process %d is a 32-bit one",
				 pid);
	}
	fclose(f);
	return 0;
}

int check_process(pid_t pid, const struct move_external *external,
		  size_t nr_externals, const struct tree_set *trees,
		  struct vma_list *seen, struct error *err)
{
	struct proc_status st;
	int r = check_status(pid, &st, err);

	if (!r)
		r = check_namespaces(pid, &st, err);
	if (!r)
		r = check_root(pid, st.ppid, err);
	if (!r)
		r = check_threads(pid, err);
	if (!r)
		r = check_maps(pid, seen, err);
	if (!r)
		r = check_class(pid, err);
	if (!r)
		r = sysv_check(pid, err);
	if (!r)
		r = fds_check(pid, external, nr_externals, trees, err);
	return r;
}

/*
 * A check is as patient as a move before its freeze: it waits for the same
 * obstacles to pass.
 */
static int check_passing(struct fds_source *s, struct error *err)
{
	usec_t end = clock_usec(CLOCK_MONOTONIC) + CHECK_PATIENCE;
	uint8_t *news = NULL;
	size_t n;
	int r;

	while ((r = fds_look(s, false, &news, &n, err)) < 0 &&
	       (r == -EAGAIN || r == -ENOTSUP) &&
	       clock_usec(CLOCK_MONOTONIC) < end)
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	free(news);
	return r < 0 ? r : 0;
}

/* Facts about its sockets that only its network namespace shows. */
static int check_sockets(pid_t pid, const struct move_external *external,
			 size_t nr_externals, struct error *err)
{
	fd_auto pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct fds_source *s = NULL;
	int r;

	if (pidfd < 0)
		return error_sys(err, -errno, "process %d", pid);
	r = fds_prepare(pid, pidfd, external, nr_externals, NULL, &s, err);
	if (!r)
		r = check_passing(s, err);
	fds_source_destroy(s);
	return r;
}

/*
 * Find obstacles that cannot be seen from outside, by calls of its leader. All
 * threads are stopped meanwhile, because each of them could handle its system
 * calls itself.
 */
static int check_stopped(pid_t pid, struct error *err)
{
	struct tracee *t = tracee_create(pid, err);
	int r;

	if (!t)
		return -ESRCH;
	tracee_look(t);
	r = check_stop_all(t, err);
	if (!r)
		r = check_dispatch(t, err);
	if (!r)
		r = check_asked_alone(t, err);
	tracee_destroy(t);
	return r;
}

int move_check(pid_t pid, const struct move_external *external,
	       size_t nr_externals, struct error *err)
{
	struct vma_list maps = { 0 };
	int r = check_process(pid, external, nr_externals, NULL, &maps, err);
	int gone;

	vma_list_clear(&maps);
	if (!r)
		r = move_fault(MF_SOURCE_CHECKED, err);
	if (!r)
		r = check_sockets(pid, external, nr_externals, err);
	if (!r)
		r = check_stopped(pid, err);
	gone = r < 0 ? proc_running(pid, NULL) : 0;
	return gone < 0 ? proc_running(pid, err) : r;
}
