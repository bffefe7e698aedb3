/*
 * io.h - whole reads and writes, and descriptors that close themselves
 */
#ifndef CORE_IO_H
#define CORE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

struct ucred; /* <sys/socket.h>, with _GNU_SOURCE */

/*
 * Transfer all n bytes, resuming after EINTR: 0, -EPIPE at an early end of
 * file, or -errno.
 */
int io_read_full(int fd, void *p, size_t n) must_check;
int io_write_full(int fd, const void *p, size_t n) must_check;

/*
 * A whole small file (procfs, sysfs, configuration), NUL-terminated, in
 * fresh memory for the caller to free.  Returns its length or -errno
 * (-EFBIG above max).  dirfd may be AT_FDCWD.
 */
ssize_t io_read_file(int dirfd, const char *path, size_t max,
		     char **ret) must_check;

/* The same for an open file, from its current offset. */
ssize_t io_read_fd(int fd, size_t max, char **ret) must_check;

/*
 * Is what was read, of size bytes and a NUL behind them, a text?  -EINVAL if there is a NUL
 * in it; name stands for the file.
 */
int io_check_text(const char *text, size_t size, const char *name,
		  struct error *err) must_check;

/*
 * Refuse (-EACCES) a file with a secret (open at fd; path is for messages) that
 * its group or others may access.  As ssh does, group access is accepted for a
 * file that another user owns.
 */
int io_check_private(int fd, const char *path, struct error *err) must_check;

/* The first line of such a file, fresh; "" if it cannot be read. */
char *io_read_line(const char *path) must_check;

/*
 * The number after "KEY:" in a file of such lines (/proc/PID/status, a fdinfo): 0,
 * -ENODATA if no line has that key, or why it cannot be read.
 */
int io_read_key(const char *path, const char *key, int64_t *ret) must_check;

/* One write of text to an existing file (sysfs, cgroup); 0 or -errno. */
int io_write_file(int dirfd, const char *path, const char *text) must_check;

/*
 * Replace or create a file atomically: written beside it, mode 0600, and
 * renamed.  Not synced to the disk.
 */
int io_replace_file(const char *path, const char *text,
		    struct error *err) must_check;

/*
 * Take an exclusive lock on a directory (on the file .lock in it), waiting for
 * it; the directory is created with that mode if missing.  Returns a
 * descriptor: closing it releases the lock.
 */
int io_lock_dir(const char *dir, mode_t mode, struct error *err) must_check;

/*
 * Who made the other end of a connected Unix socket, as the kernel has it
 * (SO_PEERCRED): 0 or -errno, which leaves *ret as it was.  The pid is 0 if it
 * is of a pid namespace that ours does not see.
 */
int io_peer_cred(int fd, struct ucred *ret) must_check;

void io_close(int *fd); /* closes unless negative, and sets -1 */
#define fd_auto __attribute__((cleanup(io_close))) int

#endif
