/* process.c - who a process is, see process.h */
#include "cluster/host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "core/io.h"
#include "core/procstat.h"
#include "core/units.h"

int process_boot_id(char ret[PROCESS_BOOT_LEN], struct error *err)
{
	static char known[PROCESS_BOOT_LEN]; /* it stays */
	const char *path = "/proc/sys/kernel/random/boot_id";
	char *text;
	ssize_t n;

	if (!*known) {
		n = io_read_file(AT_FDCWD, path, 256, &text);
		if (n < 0)
			return error_sys(err, n, "cannot read %s", path);
		snprintf(known, sizeof(known), "%.36s", text);
		free(text);
	}
	memcpy(ret, known, sizeof(known));
	return 0;
}

/* PID's identity; *ret_alive is false if it has exited or is exiting. */
static int identify(pid_t pid, struct process_id *ret, bool *ret_alive)
{
	struct procstat s;
	int r = procstat_read(pid, &s);

	if (r < 0)
		return r;
	*ret = (struct process_id){ .pid = pid, .start = s.start };
	*ret_alive = s.state != 'Z' && s.state != 'X' && !procstat_exiting(&s);
	return 0;
}

int process_identify(pid_t pid, struct process_id *ret)
{
	bool alive;

	return identify(pid, ret, &alive);
}

int process_self(struct process_id *ret)
{
	static struct process_id known; /* a fork is another */
	struct process_id id;
	int r = 0;

	if (known.pid != getpid()) {
		r = process_identify(getpid(), &id);
		if (!r)
			known = id;
	}
	if (!r)
		*ret = known;
	return r;
}

bool process_alive(const struct process_id *id)
{
	struct process_id now;
	bool alive;

	return id->pid > 0 && !identify(id->pid, &now, &alive) &&
	       now.start == id->start && alive;
}

int process_open(const struct process_id *id)
{
	int fd;

	if (id->pid <= 0)
		return -ESRCH;
	fd = pidfd_open(id->pid, 0);
	if (fd < 0)
		return -errno;
	if (process_alive(id))
		return fd;
	close(fd);
	return -ESRCH;
}

int process_end(const struct process_id *id, int sig, int timeout_ms)
{
	fd_auto fd = process_open(id);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	if (pidfd_send_signal(fd, sig, NULL, 0) < 0)
		return errno == ESRCH ? 0 : -errno;
	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	return r > 0 ? 0 : -EAGAIN;
}

static int open_oom_score(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	return geteuid() ? -EPERM : open(path, O_RDWR | O_CLOEXEC);
}

void process_spare(void)
{
	fd_auto fd = open_oom_score(getpid());

	(void)!pwrite(fd, "-900", 4, 0);
}

/*
 * To set it, the kernel looks at each process of the host, if this one has ever lent its
 * memory.
 */
void process_spare_no_more(pid_t pid)
{
	fd_auto fd = open_oom_score(pid);
	char is[2] = "";

	if (pread(fd, is, 2, 0) != 2 || memcmp(is, "0\n", 2))
		(void)!pwrite(fd, "0", 1, 0);
}

int process_fdinfo(int fd, const char *key, int64_t *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return io_read_key(path, key, ret);
}

int process_status(pid_t pid, const char *key, int64_t *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return io_read_key(path, key, ret);
}
