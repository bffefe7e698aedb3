/*
 * down.c - end and remove testbeds, list them, see testbed.h
 *
 * Processes are found by their cgroups and network namespaces, which are the
 * testbed's own. A pidfd pins each process before it is examined, so no signal
 * can reach an unrelated process.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/testbed/priv.h"
#include "core/io.h"
#include "core/xalloc.h"

#define SERVICE_MS  5000 /* for a service to end by itself */
#define KILL_ROUNDS 200	 /* of 10 ms */
#define DIE_ROUNDS  10	 /* of cgroup_remove()'s two seconds */

/* ---- processes ---- */

static bool is_in(const char *pid, ino_t netns)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.10s/ns/net", pid);
	return !stat(path, &st) && st.st_ino == netns;
}

static bool kill_if_in(const char *pid, ino_t netns)
{
	fd_auto fd = pidfd_open(strtol(pid, NULL, 10), 0);

	if (fd < 0 || !is_in(pid, netns))
		return false;
	return !pidfd_send_signal(fd, SIGKILL, NULL, 0);
}

/* Kill all processes in that network namespace; returns how many there were. */
static unsigned kill_in(ino_t netns)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    is_in(e->d_name, netns))
			n += kill_if_in(e->d_name, netns);
	if (d)
		closedir(d);
	return n;
}

/* A mount, which lasts until the next boot, and not the plain file below it. */
static bool holds_netns(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == 0x6e736673 /* nsfs */;
}

/* Everybody in the namespace that a mount at path holds, if it does. */
static void empty_netns(const char *path)
{
	struct stat st;

	/* Otherwise the inode number would be another file's. */
	if (!holds_netns(path) || stat(path, &st) < 0)
		return;
	for (int i = 0; i < KILL_ROUNDS && kill_in(st.st_ino); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* ---- services ---- */

int testbed_keep(const char *name, const char *service, pid_t pid,
		 struct error *err)
{
	char *path = testbed_path(name, "%s.service", service);
	struct process_id id;
	FILE *f = NULL;
	int r = process_identify(pid, &id);

	if (!r && !(f = fopen(path, "we")))
		r = -errno;
	if (f) {
		fprintf(f, "%d %llu\n", id.pid, (unsigned long long)id.start);
		if (fclose(f))
			r = -errno;
	}
	if (r < 0)
		error_sys(err, r, "cannot note service %s", service);
	free(path);
	return r;
}

static void end_service(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file), *text;
	unsigned long long start;
	int pid;

	if (io_read_file(AT_FDCWD, path, 256, &text) > 0) {
		if (sscanf(text, "%d %llu", &pid, &start) == 2)
			process_end(&(struct process_id){ pid, start }, SIGTERM,
				    SERVICE_MS);
		free(text);
	}
	free(path);
}

static void end_services(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	const char *dot;

	while (d && (e = readdir(d))) {
		dot = strrchr(e->d_name, '.');
		if (dot && !strcmp(dot, ".service"))
			end_service(dir, e->d_name);
	}
	if (d)
		closedir(d);
}

/* ---- removing ---- */

static void unmount(const char *path)
{
	while (!umount2(path, MNT_DETACH))
		;
}

static void remove_netns(const char *path)
{
	empty_netns(path);
	unmount(path);
	unlink(path);
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	return remove(path) < 0 && errno != ENOENT;
}

/* A mount in it stops us: nothing outside can be removed by this. */
static int remove_tree(const char *dir, struct error *err)
{
	if (nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) &&
	    !access(dir, F_OK))
		return error_sys(err, -errno, "cannot remove %s", dir);
	return 0;
}

/*
 * Only of this boot: after a reboot the paths may belong to others. If the
 * record of a testbed was deleted, its cgroups are found by name.
 */
static int remove_cgroups(const char *name, bool made, struct error *err)
{
	struct testbed_record rec = { 0 };
	char boot[PROCESS_BOOT_LEN];
	int r = process_boot_id(boot, err);

	if (r < 0)
		return r;
	if (testbed_record_read(name, &rec) < 0 && made) {
		rec.cgroups = xcalloc(TESTBED_BASES_MAX, sizeof(char *));
		rec.nr_cgroups = testbed_bases(name, rec.cgroups);
		memcpy(rec.boot, boot, sizeof(boot));
	}
	if (!strcmp(boot, rec.boot)) {
		for (int i = 0; i == 0 || (r < 0 && i < DIE_ROUNDS); i++)
			r = cgroup_remove(rec.cgroups, rec.nr_cgroups);
		if (r < 0)
			error_set(err, r,
				  "testbed %s: a process in it does not die; "
				  "later again: stint testbed down --name %s",
				  name, name);
	}
	testbed_record_clear(&rec);
	return r;
}

/*
 * Without its directory nothing tells whether a testbed of that name in another
 * STINT_TESTBED_DIR has them.
 */
static int tell_cgroups(const char *name, struct error *err)
{
	char *bases[TESTBED_BASES_MAX];
	unsigned n = testbed_bases(name, bases);
	int r = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!r && !access(bases[i], F_OK))
			r = error_set(
				err, -EEXIST,
				"%s is there, but no directory of this testbed: it is up in another STINT_TESTBED_DIR, or that was deleted; then find /sys/fs/cgroup -depth -type d '(' -path '*/stint-testbed.%s' -o -path '*/stint-testbed.%s/*' ')' -exec rmdir {} +",
				bases[i], name, name);
		free(bases[i]);
	}
	return r;
}

static bool is_there(const char *name)
{
	char *dir = testbed_dir(name);
	bool there = !access(dir, F_OK);

	free(dir);
	return there;
}

static int remove_host(const char *name, unsigned number, struct error *err)
{
	char *path = testbed_path(name, "h%u/netns", number);
	char *run = testbed_path(name, "h%u/run", number);
	int r = 0;

	if (!access(path, F_OK))
		empty_netns(path);
	if (!access(run, F_OK))
		r = capsule_sweep(run, err);
	if (!r)
		unmount(run);
	remove_netns(path);
	free(run);
	free(path);
	return r < 0 ? r : 0;
}

/* What they have of capsules was needed until those were gone. */
static void unmount_run_dirs(const char *name)
{
	for (unsigned h = 1; h <= TESTBED_HOSTS_MAX; h++) {
		char *run = testbed_path(name, "h%u/run", h);

		unmount(run);
		free(run);
	}
}

/* Remove as much as possible; the first failure is returned. */
int testbed_remove(const char *name, struct error *err)
{
	char *dir = testbed_dir(name), *mark = testbed_path(name, "up");
	char *lan = testbed_path(name, "lan");
	bool made = holds_netns(lan);
	int r = 0, k;

	if (!access(dir, F_OK)) {
		unlink(mark); /* from now on it is a broken one */
		end_services(dir);
		for (unsigned h = 1; h <= TESTBED_HOSTS_MAX; h++) {
			k = remove_host(name, h, r ? NULL : err);
			r = r ? r : k;
		}
		remove_netns(lan);
		k = remove_cgroups(name, made, r ? NULL : err);
		r = r ? r : k;
		/* The record last: what is left is found by the next. */
		if (!r) {
			unmount_run_dirs(name);
			r = remove_tree(dir, err);
		}
	}
	free(lan);
	free(mark);
	free(dir);
	return r;
}

int testbed_down(const char *name, struct error *err)
{
	fd_auto lock = -1;
	int r = testbed_check_name(name, err);

	if (r < 0)
		return r;
	if (geteuid())
		return error_set(err, -EPERM, "only root can end a testbed");
	lock = testbed_lock(err);
	if (lock < 0)
		return lock;
	return is_there(name) ? testbed_remove(name, err)
			      : tell_cgroups(name, err);
}

/* ---- listing ---- */

static void look_at_bed(const char *name, const char *boot,
			struct testbed_info *info)
{
	char *mark = testbed_path(name, "up");
	struct testbed_record rec;

	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%.*s", TESTBED_NAME_MAX,
		 name);
	if (!testbed_record_read(name, &rec)) {
		info->nr_hosts = rec.nr_hosts;
		info->up = !strcmp(rec.boot, boot) && !access(mark, F_OK);
		testbed_record_clear(&rec);
	}
	free(mark);
}

static int by_name(const void *a, const void *b)
{
	const struct testbed_info *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int testbed_list(struct testbed_info **ret, size_t *ret_n, struct error *err)
{
	struct testbed_info *list = NULL;
	size_t n = 0, cap = 0;
	char boot[PROCESS_BOOT_LEN];
	char *dir = testbed_path(".", "%s", "");
	struct dirent *e;
	int r = process_boot_id(boot, err);
	DIR *d = r < 0 ? NULL : opendir(dir);

	while (d && (e = readdir(d))) {
		if (testbed_check_name(e->d_name, NULL) < 0)
			continue; /* also skips ".", ".." and ".lock" */
		array_room(list, n, &cap);
		look_at_bed(e->d_name, boot, &list[n++]);
	}
	if (d)
		closedir(d);
	free(dir);
	if (r < 0)
		return r;
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*ret = list;
	*ret_n = n;
	return 0;
}
