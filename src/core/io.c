/* io.c - whole reads and writes, see io.h */
#include "core/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/xalloc.h"

int io_read_full(int fd, void *p, size_t n)
{
	ssize_t r;

	while (n) {
		r = read(fd, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EPIPE;
		p = (char *)p + r;
		n -= r;
	}
	return 0;
}

int io_write_full(int fd, const void *p, size_t n)
{
	ssize_t r;

	while (n) {
		r = write(fd, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		p = (const char *)p + r;
		n -= r;
	}
	return 0;
}

ssize_t io_read_fd(int fd, size_t max, char **ret)
{
	size_t n = 0, cap = 0;
	char *buf = NULL;
	ssize_t r;

	do {
		if (n + 4096 > cap)
			buf = xrealloc(buf, cap = cap ? cap * 2 : 8192);
		r = read(fd, buf + n, cap - n - 1);
		if (r > 0)
			n += r;
	} while ((r > 0 && n <= max) || (r < 0 && errno == EINTR));
	if (r < 0 || n > max) {
		r = r < 0 ? -errno : -EFBIG;
		free(buf);
		return r;
	}
	buf[n] = 0;
	*ret = buf;
	return n;
}

ssize_t io_read_file(int dirfd, const char *path, size_t max, char **ret)
{
	fd_auto fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : io_read_fd(fd, max, ret);
}

char *io_read_line(const char *path)
{
	char *text;

	if (io_read_file(AT_FDCWD, path, 4096, &text) < 0)
		return xstrdup("");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

int io_read_key(const char *path, const char *key, int64_t *ret)
{
	size_t len = strlen(key);
	int r = -ENODATA;
	char *text, *p;
	ssize_t n = io_read_file(AT_FDCWD, path, 1 << 16, &text);

	if (n < 0)
		return (int)n;
	for (p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : p) {
		if (strncmp(p, key, len) || p[len] != ':')
			continue;
		*ret = strtoll(p + len + 1, NULL, 10);
		r = 0;
		break;
	}
	free(text);
	return r;
}

int io_check_text(const char *text, size_t size, const char *name,
		  struct error *err)
{
	return strlen(text) == size
		       ? 0
		       : error_set(
				 err, -EINVAL,
				 "%s: this is not a text file: there is a NUL in it",
				 name);
}

int io_check_private(int fd, const char *path, struct error *err)
{
	mode_t much = S_IRWXO;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, -errno, "%s", path);
	if (st.st_uid == geteuid())
		much |= S_IRWXG;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & much))
		return 0;
	return error_set(err, -EACCES,
			 "%s: other users can access it (mode %04o): "
			 "run `chmod 600 %s`",
			 path, st.st_mode & 07777, path);
}

int io_write_file(int dirfd, const char *path, const char *text)
{
	fd_auto fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int io_replace_file(const char *path, const char *text, struct error *err)
{
	char *beside = xasprintf("%s.new", path);
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));
	int made = fd >= 0;

	io_close(&fd);
	if (!r && rename(beside, path) < 0)
		r = -errno;
	if (r < 0 && made)
		unlink(beside); /* half of it, where the disk is full */
	free(beside);
	return r < 0 ? error_sys(err, r, "cannot write %s", path) : 0;
}

int io_lock_dir(const char *dir, mode_t mode, struct error *err)
{
	char *path = xasprintf("%s/.lock", dir);
	int fd = -1, r = 0;

	if (mkdir(dir, mode) < 0 && errno != EEXIST) {
		r = error_sys(err, -errno, "cannot make %s", dir);
	} else {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		while (fd >= 0 && (r = flock(fd, LOCK_EX)) < 0 &&
		       errno == EINTR)
			;
		if (fd < 0 || r < 0)
			r = error_sys(err, -errno, "cannot lock %s", path);
	}
	free(path);
	if (r < 0)
		io_close(&fd);
	return r < 0 ? r : fd;
}

int io_peer_cred(int fd, struct ucred *ret)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return -errno;
	if (n != sizeof(cred))
		return -EPROTO;
	*ret = cred;
	return 0;
}

void io_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
