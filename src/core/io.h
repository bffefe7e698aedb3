/*
 * io.h - whole reads and writes, and descriptors that close themselves
 */
#ifndef CORE_IO_H
#define CORE_IO_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

/* All n bytes, over interruptions; 0, -EPIPE at an early end, or -errno. */
int io_read_full(int fd, void *p, size_t n) must_check;
int io_write_full(int fd, const void *p, size_t n) must_check;

/*
 * A whole small file (procfs, sysfs, configuration), NUL-terminated, in
 * fresh memory for the caller to free.  Returns its length or -errno
 * (-EFBIG above max).  dirfd may be AT_FDCWD.
 */
ssize_t io_read_file(int dirfd, const char *path, size_t max,
		     char **ret) must_check;

/* The same of what is open at fd, from where it stands. */
ssize_t io_read_fd(int fd, size_t max, char **ret) must_check;

/*
 * Refuse (-EACCES) a file with a secret, open at fd and called path, that its
 * group or others may use; as with ssh its group may if it is somebody else's.
 */
int io_check_private(int fd, const char *path, struct error *err) must_check;

/* The first line of such a file, fresh; "" if it cannot be read. */
char *io_read_line(const char *path) must_check;

/* One write of text to an existing file (sysfs, cgroup); 0 or -errno. */
int io_write_file(int dirfd, const char *path, const char *text) must_check;

/*
 * A file that appears whole or not at all, in place of one that is there:
 * written beside it, mode 0600, and renamed.  Not synced to the disk.
 */
int io_replace_file(const char *path, const char *text,
		    struct error *err) must_check;

/*
 * Wait until this process alone has dir, a directory which is made with that
 * mode if it is not there, among all who call this: until the descriptor that
 * is returned is closed.  (A lock of the file .lock in it.)
 */
int io_lock_dir(const char *dir, mode_t mode, struct error *err) must_check;

void io_close(int *fd); /* closes unless negative, and sets -1 */
#define fd_auto __attribute__((cleanup(io_close))) int

#endif
