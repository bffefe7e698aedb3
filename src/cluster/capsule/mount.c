/*
 * mount.c - the file system inside a capsule
 *
 * The host's tree, so that programs and the submitter's files are where they
 * are, with these of its own: /tmp, /dev (with /dev/shm), /proc, /sys (or MPI
 * libraries see the host's network cards), /etc/hosts and /etc/hostname.  What is
 * for people and daemons of the host alone is hidden.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"
#include "core/xalloc.h"

#define KEEP_MAX 16

static int mount_fs(const char *type, const char *where, unsigned long flags,
		    const char *options, struct error *err)
{
	if (mount(type, where, type, flags, options) < 0)
		return error_sys(err, -errno, "cannot mount %s on %s", type,
				 where);
	return 0;
}

/* Let fd, a tree from open_tree(), appear at where. */
static int attach_tree(int fd, const char *where, struct error *err)
{
	if (move_mount(fd, "", AT_FDCWD, where, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_sys(err, -errno, "cannot attach %s", where);
	return 0;
}

static int take_tree(const char *path, struct error *err)
{
	int fd = open_tree(AT_FDCWD, path,
			   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	return fd < 0 ? error_sys(err, -errno, "cannot take %s along", path)
		      : fd;
}

/* An empty file to attach something to. */
static int make_file(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, -errno, "cannot make %s", path);
	close(fd);
	return 0;
}

/* ---- /tmp ---- */

/* What lies in /tmp ends there; "/tmp/../etc" does not. */
static bool is_below_tmp(const char *path)
{
	return !strncmp(path, "/tmp/", 5) && !strstr(path, "/..");
}

const char *const *capsule_own_dirs(const char *const *keep_tmp)
{
	static const char *const all[] = { "/tmp", "/dev/shm", NULL };

	for (; keep_tmp && *keep_tmp; keep_tmp++)
		if (!strcmp(*keep_tmp, "/tmp"))
			return all + 1; /* the host's own is shown */
	return all;
}

/* Directories on the way to path, and path itself as a file, a directory or a
 * link to somewhere. */
static int make_target(const char *path, bool is_dir, const char *link,
		       struct error *err)
{
	char *copy = xstrdup(path);
	int r = 0;

	for (char *p = copy + 5; !r && (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			r = error_sys(err, -errno, "cannot make %s", copy);
	}
	if (!r && link && symlink(link, path) < 0 && errno != EEXIST)
		r = error_sys(err, -errno, "cannot make %s", path);
	else if (!r && !link && !is_dir)
		r = make_file(path, err);
	else if (!r && !link && mkdir(path, 0755) < 0 && errno != EEXIST)
		r = error_sys(err, -errno, "cannot make %s", path);
	free(copy);
	return r;
}

/* Something of the host's /tmp that is to be seen in the capsule's. */
struct kept {
	const char *path;
	int tree;    /* -1 where it leads elsewhere */
	char *where; /* ... there */
	bool is_dir;
};

/* Of an init that lasts, which does not see itself any more; else -1. */
static int own_fds = -1;

static ssize_t read_fd_link(int fd, char *to, size_t n)
{
	char name[32];

	snprintf(name, sizeof(name), own_fds < 0 ? "/proc/self/fd/%d" : "%d",
		 fd);
	return readlinkat(own_fds, name, to, n);
}

/*
 * A link out of /tmp stays a link: what it leads to is shown as the capsule
 * shows it, its own /proc and /dev not the host's.
 */
static int take_kept(const char *path, struct kept *ret, struct error *err)
{
	char where[PATH_MAX];
	fd_auto fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, -errno, "cannot stat %s", path);
	n = read_fd_link(fd, where, sizeof(where) - 1);
	if (n < 0)
		return error_sys(err, -errno, "cannot stat %s", path);
	where[n] = 0;
	*ret = (struct kept){ path, -1, NULL, S_ISDIR(st.st_mode) };
	if (strncmp(where, "/tmp/", 5)) {
		ret->where = xstrdup(where);
		return 0;
	}
	ret->tree = open_tree(fd, "",
			      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
				      AT_RECURSIVE | AT_EMPTY_PATH);
	return ret->tree < 0
		       ? error_sys(err, -errno, "cannot take %s along", path)
		       : 0;
}

static int show_kept(const struct kept *k, struct error *err)
{
	int r;

	/* A path that lies in another kept one is there already. */
	if (!access(k->path, F_OK))
		return 0;
	r = make_target(k->path, k->is_dir, k->where, err);
	return r < 0 || k->where ? r : attach_tree(k->tree, k->path, err);
}

/* A directory comes before what is in it, which would make an empty one. */
static int by_depth(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	size_t n = strlen(x->path), m = strlen(y->path);

	return n != m ? (n < m ? -1 : 1) : strcmp(x->path, y->path);
}

/*
 * What is mounted comes first: at the destination of a move the links are made
 * by the engine, as the inodes with the numbers after those (move/tree/tree.h).
 */
static int show_all(struct kept *kept, unsigned n, bool lands,
		    struct error *err)
{
	int r = 0;

	qsort(kept, n, sizeof(*kept), by_depth);
	for (unsigned i = 0; !r && i < n; i++)
		if (!kept[i].where)
			r = show_kept(&kept[i], err);
	for (unsigned i = 0; !r && !lands && i < n; i++)
		if (kept[i].where)
			r = show_kept(&kept[i], err);
	return r;
}

/* Anybody may write there; whose it is, shows. */
static int mount_memory(const char *where, uid_t uid, struct error *err)
{
	char options[48];

	snprintf(options, sizeof(options), "mode=1777,uid=%u", uid);
	return mount_fs("tmpfs", where, MS_NOSUID | MS_NODEV, options, err);
}

static int mount_tmp(const char *const *keep, bool lands, uid_t uid,
		     struct error *err)
{
	struct kept kept[KEEP_MAX];
	unsigned n = 0;
	int r = 0;

	for (; keep && *keep && n < KEEP_MAX; keep++) {
		if (!strcmp(*keep, "/tmp"))
			goto out; /* the host's own is asked for */
		if (!is_below_tmp(*keep))
			continue;
		r = take_kept(*keep, &kept[n], err);
		/* A path that its user cannot get at counts as missing. */
		if (r == -EACCES || r == -ENOENT)
			continue;
		if (r < 0)
			goto out;
		n++;
	}
	r = mount_memory("/tmp", uid, err);
	if (!r)
		r = show_all(kept, n, lands, err);
out:
	for (unsigned i = 0; i < n; i++) {
		if (kept[i].tree >= 0)
			close(kept[i].tree);
		free(kept[i].where);
	}
	return r < 0 ? r : 0;
}

/* ---- /dev ---- */

static const char *const devices[] = { "null", "zero", "full", "random",
				       "urandom" };
#define NR_DEVICES (sizeof(devices) / sizeof(devices[0]))

static int fill_dev(const int *fds, uid_t uid, struct error *err)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};
	char path[32];
	int r;

	for (unsigned i = 0; i < NR_DEVICES; i++) {
		snprintf(path, sizeof(path), "/dev/%s", devices[i]);
		if ((r = make_file(path, err)) < 0 ||
		    (r = attach_tree(fds[i], path, err)) < 0)
			return r;
	}
	for (unsigned i = 0; i < 4; i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return error_sys(err, -errno, "cannot make %s",
					 links[i][1]);
	if (mkdir("/dev/shm", 0755) < 0)
		return error_sys(err, -errno, "cannot make /dev/shm");
	return mount_memory("/dev/shm", uid, err);
}

static int mount_dev(uid_t uid, struct error *err)
{
	int fds[NR_DEVICES], r = 0;
	unsigned n = 0;
	char path[32];

	for (; r >= 0 && n < NR_DEVICES; n++) {
		snprintf(path, sizeof(path), "/dev/%s", devices[n]);
		fds[n] = r = take_tree(path, err);
	}
	if (r >= 0)
		r = mount_fs("tmpfs", "/dev", MS_NOSUID | MS_NOEXEC,
			     "mode=0755,size=1m", err);
	if (r >= 0)
		r = fill_dev(fds, uid, err);
	for (unsigned i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

/* ---- /proc, /sys, /etc ---- */

/* uid 0 without capabilities would still own the host's settings. */
static int seal(const char *path, struct error *err)
{
	if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
	    mount(NULL, path, NULL,
		  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV |
			  MS_NOEXEC,
		  NULL) < 0)
		return error_sys(err, -errno, "cannot make %s read-only", path);
	return 0;
}

int mount_sysfs(int *ret, struct error *err)
{
	fd_auto fs = fsopen("sysfs", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC,
			     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
				     MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, "cannot mount sysfs");
	*ret = fd;
	return 0;
}

/* sysfs: as mount_sysfs() has it, or -1. */
static int mount_proc_sys(int sysfs, struct error *err)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	int r;

	if ((r = mount_fs("proc", "/proc", flags, NULL, err)) < 0)
		return r;
	r = sysfs >= 0
		    ? attach_tree(sysfs, "/sys", err)
		    : mount_fs("sysfs", "/sys", flags | MS_RDONLY, NULL, err);
	if (r < 0 || (r = seal("/proc/sys", err)) < 0)
		return r;
	return access("/proc/sysrq-trigger", F_OK) < 0
		       ? 0
		       : seal("/proc/sysrq-trigger", err);
}

/* ---- what is not a guest's ---- */

/*
 * By an empty directory of our /dev, in which nobody can make anything; nothing where there
 * is no such path, or none that the submitter gets to.  True in *ret where it is.  A
 * file system of its own for it would have to be made and taken down.
 */
static const char empty[] = "/dev/.empty";

static int hide(const char *path, bool *ret, struct error *err)
{
	const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY |
				    MS_NOSUID | MS_NODEV | MS_NOEXEC;

	*ret = !mount(empty, path, NULL, MS_BIND, NULL);
	if (*ret && mount(NULL, path, NULL, flags, NULL) < 0)
		return error_sys(err, -errno, "cannot hide %s", path);
	if (*ret || errno == ENOENT || errno == EACCES || errno == ENOTDIR)
		return 0;
	return error_sys(err, -errno, "cannot hide %s", path);
}

/*
 * The sockets of agent and keepers, which listen to who has their uid where the
 * agent is not root; and what would start processes outside of the capsule for its user,
 * without limits: her own systemd, by its socket in /run/user, or logind, which anybody may
 * ask over the system's bus for a systemd of her own, now and at each boot (linger).
 */
static int hide_sockets(const struct capsule_spec *spec, struct error *err)
{
	const char *const all[] = { CAPSULE_SESSIONS, "/run/dbus",
				    spec->run_dir };
	const char *first = NULL; /* that same mount again is read-only, too */
	int r = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !r; i++) {
		bool hidden = false;

		if (first && !mount(first, all[i], NULL, MS_BIND, NULL))
			continue;
		r = hide(all[i], &hidden, err);
		if (hidden && !first)
			first = all[i];
	}
	return r;
}

static int make_empty(struct error *err)
{
	return mkdir(empty, 0555) < 0 && errno != EEXIST
		       ? error_sys(err, -errno, "cannot make %s", empty)
		       : 0;
}

/* What a program could learn of init: when it was born, what it and its children used. */
static int hide_init(struct error *err)
{
	bool hidden;

	own_fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return own_fds < 0 ? error_sys(err, -errno, "/proc/self/fd")
			   : hide("/proc/1", &hidden, err);
}

/*
 * By the rights of the submitter, whose files are looked for.  What is made is then whoever's
 * that we are.
 */
static void look_as(uid_t uid)
{
	setfsuid(uid);
}

static int fill(const struct capsule_spec *spec, int sysfs, uid_t own,
		struct error *err)
{
	int r;

	look_as(spec->uid);
	r = mount_tmp(spec->keep_tmp, spec->lands, own, err);
	look_as(own);
	if (!r)
		r = mount_dev(own, err);
	if (!r)
		r = mount_proc_sys(sysfs, err);
	umask(022);
	if (!r)
		r = etc_cover(spec, false, err);
	if (!r)
		r = make_empty(err);
	if (r)
		return r;
	look_as(spec->uid);
	r = hide_sockets(spec, err);
	look_as(own);
	return r;
}

int mount_all(const struct capsule_spec *spec, int sysfs, bool lasting,
	      struct error *err)
{
	mode_t mask = umask(0);
	int r = 0;

	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		r = error_sys(err, -errno, "cannot detach the mount tree");
	if (!r)
		r = fill(spec, sysfs, lasting ? LASTING_UID : spec->uid, err);
	if (!r && lasting)
		r = hide_init(err);
	umask(mask);
	return r;
}

/* Not there where the host's is shown. */
int mount_tidy(void)
{
	if (umount2("/dev/shm", MNT_DETACH) < 0 ||
	    (umount2("/tmp", MNT_DETACH) < 0 && errno != EINVAL))
		return -errno;
	return 0;
}

int mount_renew(const struct capsule_spec *spec, struct error *err)
{
	mode_t mask = umask(0);
	bool hidden;
	int r;

	look_as(spec->uid);
	r = mount_tmp(spec->keep_tmp, spec->lands, LASTING_UID, err);
	/* Elsewhere it is hidden still. */
	if (!r && is_below_tmp(spec->run_dir))
		r = hide(spec->run_dir, &hidden, err);
	look_as(LASTING_UID);
	if (!r)
		r = mount_memory("/dev/shm", LASTING_UID, err);
	umask(mask);
	return r < 0 ? r : etc_cover(spec, true, err);
}
