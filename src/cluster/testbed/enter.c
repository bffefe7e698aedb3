/* enter.c - become a process on a test host, see testbed.h */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/testbed/priv.h"
#include "core/io.h"
#include "core/xalloc.h"

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static int no_testbed(const char *name, int r, struct error *err)
{
	return error_set(err, r, "no testbed %s; see: stint testbed list",
			 name);
}

static int no_host(const char *name, const char *host, struct error *err)
{
	return error_set(err, -ENOENT, "testbed %s has no host %s", name, host);
}

int testbed_check_host(const char *name, const char *host, struct error *err)
{
	struct testbed_record rec = { 0 };
	int r = testbed_record_read(name, &rec);
	char *path = testbed_path(name, "%s/netns", host);

	if (r < 0)
		no_testbed(name, r, err);
	else if (access(path, F_OK) < 0)
		r = no_host(name, host, err);
	free(path);
	testbed_record_clear(&rec);
	return r;
}

/* cgroup v2 has processes in leaves only. */
static char *procs_of(const char *group)
{
	char *leaf = cgroup_leaf(group);
	char *path =
		xasprintf("%s/cgroup.procs", access(leaf, F_OK) ? group : leaf);

	free(leaf);
	return path;
}

static int join_cgroups(const char *name, const char *host, struct error *err)
{
	char *end = xasprintf("/%s", host);
	struct testbed_record rec = { 0 };
	int r = testbed_record_read(name, &rec);

	if (r < 0)
		no_testbed(name, r, err);
	for (size_t i = 0; !r && i < rec.nr_cgroups; i++) {
		char *path = procs_of(rec.cgroups[i]);

		if (ends_with(rec.cgroups[i], end) &&
		    (r = io_write_file(AT_FDCWD, path, "0")) < 0)
			error_sys(err, r, "cannot enter %s", path);
		free(path);
	}
	testbed_record_clear(&rec);
	free(end);
	return r;
}

static int join_network(const char *name, const char *host, struct error *err)
{
	char *path = testbed_path(name, "%s/netns", host);
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		r = no_host(name, host, err);
	else if (setns(fd, CLONE_NEWNET) < 0)
		r = error_sys(err, -errno, "cannot enter host %s", host);
	free(path);
	return r;
}

/* /sys shows the links of the namespace it was mounted in: mount our own. */
static int mount_sys(struct error *err)
{
	const char *cg = "/sys/fs/cgroup";
	fd_auto tree =
		open_tree(AT_FDCWD, cg,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL) < 0)
		return error_sys(err, -errno, "cannot mount /sys");
	if (tree >= 0 &&
	    move_mount(tree, "", AT_FDCWD, cg, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, -errno, "cannot keep %s", cg);
	return 0;
}

static int own_names(const char *name, const char *host, struct error *err)
{
	char *hosts = testbed_path(name, "%s/hosts", host);
	int r = 0;

	if (unshare(CLONE_NEWUTS | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    sethostname(host, strlen(host)) < 0)
		r = error_sys(err, -errno, "cannot become host %s", host);
	else if (mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL) < 0)
		r = errno == ENOENT
			    ? error_set(
				      err, -ENOENT,
				      "/etc/hosts, over which the hosts' names are "
				      "mounted, does not exist: touch /etc/hosts")
			    : error_sys(err, -errno, "cannot cover /etc/hosts");
	free(hosts);
	return r < 0 ? r : mount_sys(err);
}

static int set_environment(const char *name, const char *host)
{
	char *run = testbed_run_dir(name, host);
	int r = setenv("STINT_TESTBED", name, 1) |
		setenv("STINT_HOST", host, 1) | setenv("STINT_RUN_DIR", run, 1);

	free(run);
	return r;
}

int testbed_enter(const char *name, const char *host, struct error *err)
{
	int r;

	if (geteuid())
		return error_set(err, -EPERM, "only root can enter a testbed");
	if ((r = testbed_check_name(name, err)) < 0)
		return r;
	if (strchr(host, '/') || host[0] == '.')
		return error_set(err, -EINVAL, "'%s' is not a host", host);
	if ((r = join_cgroups(name, host, err)) < 0 ||
	    (r = join_network(name, host, err)) < 0 ||
	    (r = own_names(name, host, err)) < 0)
		return r;
	return set_environment(name, host);
}
