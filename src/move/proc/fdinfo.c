/*
 * fdinfo.c - the descriptors of another process, seen through /proc and kcmp
 */
#include "move/proc/fdinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"

/* An epoll set of 100 000 entries has 10 MB of text. */
#define FDINFO_MAX ((size_t)64 << 20)

static int compare_int(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

int fdinfo_list(int proc, int **ret, size_t *ret_n, struct error *err)
{
	int fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = 0, cap = 0;
	int *list = NULL;
	struct dirent *de;
	DIR *dir;

	if (fd < 0)
		return error_sys(err, -errno, "cannot list descriptors");
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close(fd);
		return error_sys(err, r, "cannot list descriptors");
	}
	while ((de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		array_room(list, n, &cap);
		list[n++] = (int)strtol(de->d_name, NULL, 10);
	}
	closedir(dir);
	if (n > 1)
		qsort(list, n, sizeof(*list), compare_int);
	*ret = list;
	*ret_n = n;
	return 0;
}

const char *fdinfo_field(const char *text, const char *key, int base,
			 uint64_t *ret)
{
	size_t n = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, n) && text[n] == ':') {
			*ret = strtoull(text + n + 1, NULL, base);
			return text + n + 1;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

int fdinfo_read(int proc, int fd, struct fdinfo *ret, struct error *err)
{
	char path[32], *text;
	ssize_t n;

	snprintf(path, sizeof(path), "fdinfo/%d", fd);
	n = io_read_file(proc, path, FDINFO_MAX, &text);
	if (n < 0)
		return error_sys(err, (int)n, "fd %d: cannot read fdinfo", fd);
	return fdinfo_parse(text, fd, ret, err);
}

int fdinfo_parse(char *text, int fd, struct fdinfo *ret, struct error *err)
{
	uint64_t flags, pos;

	if (!fdinfo_field(text, "flags", 8, &flags) ||
	    !fdinfo_field(text, "pos", 10, &pos)) {
		free(text);
		return error_set(err, -EPROTO, "fd %d: odd fdinfo", fd);
	}
	*ret = (struct fdinfo){
		.text = text,
		.flags = (unsigned)flags & ~(unsigned)O_CLOEXEC,
		.cloexec = flags & O_CLOEXEC,
		.pos = pos,
	};
	return 0;
}

int fdinfo_link(int proc, int fd, char *ret, size_t size, struct error *err)
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "fd/%d", fd);
	n = readlinkat(proc, path, ret, size);
	if (n < 0)
		return error_sys(err, -errno, "fd %d: cannot read its link",
				 fd);
	if ((size_t)n >= size)
		return error_set(err, -ENAMETOOLONG, "fd %d: path too long",
				 fd);
	ret[n] = '\0';
	return 0;
}

int fdinfo_compare(pid_t pid_a, int a, pid_t pid_b, int b)
{
	switch (syscall(SYS_kcmp, pid_a, pid_b, KCMP_FILE, (unsigned long)a,
			(unsigned long)b)) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2:
		return 1;
	default:
		return INT_MIN;
	}
}

int fdinfo_watches(pid_t pid, int efd, int tfd, unsigned toff, int fd)
{
	struct kcmp_epoll_slot slot = { .efd = (uint32_t)efd,
					.tfd = (uint32_t)tfd,
					.toff = toff };
	long r = syscall(SYS_kcmp, pid, pid, KCMP_EPOLL_TFD, (unsigned long)fd,
			 &slot);

	return r < 0 ? -errno : r == 0;
}

int fdinfo_ns_pid(pid_t pid, pid_t *ret, struct error *err)
{
	struct proc_status st;
	int r = proc_read_status(pid, &st, err);

	if (!r)
		*ret = st.ns_pid;
	return r;
}

/*
 * If source and destination are one machine, a process that is being made there may
 * have open what this one had a moment ago (fdkit/early.c).
 */
static bool is_landing(int proc, const char *pid)
{
	char path[300], *text;
	bool is;

	snprintf(path, sizeof(path), "%s/comm", pid);
	if (io_read_file(proc, path, 64, &text) < 0)
		return false;
	is = !strcmp(text, LANDING_NAME "\n");
	free(text);
	return is;
}

pid_t fdinfo_other_holder(pid_t pid, const struct stat *st,
			  struct strangers *strangers)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (d && !found && (e = readdir(d))) {
		pid_t its = (pid_t)strtol(e->d_name, NULL, 10);

		/*
		 * We ourselves have the file open: it is the copy just taken.
		 */
		if (its > 0 && its != pid && its != getpid() &&
		    strangers_have_open(strangers, its, st) &&
		    !is_landing(dirfd(d), e->d_name))
			found = its;
	}
	if (d)
		closedir(d);
	return found;
}
