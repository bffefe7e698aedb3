/*
 * file.c - opening a file that a rank prints to
 *
 * By the rank's own process, with its user's rights and nothing more.  The
 * folder is as its user wrote it, and may be reached through links as any
 * directory; what comes after it is made of other people's words, in a folder
 * that others may write to: no component may be a link, none leads out, and
 * what is there must be a file.
 *
 * Each of the two is one call, and the second begins where the first ended: who
 * swaps a folder for a link in between changes nothing.  No folder is reached
 * through a descriptor of ours (/proc/self/fd), and nothing of the kernel's is
 * written: the first bytes would be an order to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"

#define FUSECTL_MAGIC	 0x65735543
#define RPC_PIPEFS_MAGIC 0x67596969
#define CONFIGFS_MAGIC	 0x62656570
#define RESCTRL_MAGIC	 0x7655821

static int open_folder(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int open_in(int dir, const char *path)
{
	/* A named pipe without a reader would be waited for. */
	const struct open_how how = {
		.flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK |
			 O_CLOEXEC,
		.mode = 0666,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* A file system in which files are words with the kernel. */
static bool is_kernels(int fd)
{
	static const unsigned long magics[] = {
		PROC_SUPER_MAGIC,    SYSFS_MAGIC,    CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,  TRACEFS_MAGIC,
		SECURITYFS_MAGIC,    SELINUX_MAGIC,  SMACK_MAGIC,
		BPF_FS_MAGIC,	     PSTOREFS_MAGIC, EFIVARFS_MAGIC,
		BINFMTFS_MAGIC,	     FUSECTL_MAGIC,  RPC_PIPEFS_MAGIC,
		CONFIGFS_MAGIC,	     RESCTRL_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if ((unsigned long)fs.f_type == magics[i])
			return true;
	return false;
}

static bool may_be_written(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return (S_ISREG(st.st_mode) && !is_kernels(fd)) ||
	       (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

/* Not -ENOENT or -EACCES, which would say something of the program. */
static int cannot(int code, const char *folder, const char *path,
		  struct error *err)
{
	const char *why = code == -ELOOP   ? "a link on the way is not followed"
			  : code == -EXDEV ? "it is outside of that folder"
			  : code == -ENXIO || code == -ENOTSUP
				  ? "it is no file"
				  : strerror(-code);

	return error_set(err, -EIO, "cannot print to %s in %s: %s", path,
			 folder, why);
}

int file_open(const char *folder, const char *path, struct error *err)
{
	fd_auto dir = open_folder(folder);
	int fd = dir < 0 ? dir : open_in(dir, path);

	if (fd < 0)
		return cannot(fd, folder, path, err);
	if (!may_be_written(fd)) {
		close(fd);
		return cannot(-ENOTSUP, folder, path, err);
	}
	fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}
