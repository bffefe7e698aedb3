/* procstat.c - see procstat.h */
#include "core/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"

#define PF_EXITING 0x4 /* linux/sched.h */

enum { FIRST_NUMBER = 4, NR_FIELDS = 52 };

/* The numbers after the state, each after one space. */
static int read_numbers(const char *text, uint64_t f[NR_FIELDS])
{
	char *end;

	for (int i = FIRST_NUMBER; i < NR_FIELDS; i++, text = end) {
		if (*text != ' ')
			return -EBADMSG;
		errno = 0;
		f[i] = strtoull(text + 1, &end, 10);
		if (errno || end == text + 1)
			return -EBADMSG;
	}
	return 0;
}

int procstat_parse(const char *text, struct procstat *ret)
{
	/* The name may hold anything, also ") R 1"; the last ")" ends it. */
	const char *p = strrchr(text, ')');
	uint64_t f[NR_FIELDS];

	if (!p || p[1] != ' ' || !p[2] || read_numbers(p + 3, f) < 0)
		return -EBADMSG;
	*ret = (struct procstat){
		.state = p[2],
		.pgrp = (pid_t)f[5],
		.session = (pid_t)f[6],
		.flags = f[9],
		.major_faults = f[12],
		.user_ticks = f[14],
		.system_ticks = f[15],
		.start = f[22],
		.resident = f[24],
		.start_code = f[26],
		.end_code = f[27],
		.start_stack = f[28],
		.cpu = (unsigned)f[39],
		.start_data = f[45],
		.end_data = f[46],
		.start_brk = f[47],
		.arg_start = f[48],
		.arg_end = f[49],
		.env_start = f[50],
		.env_end = f[51],
	};
	return 0;
}

int procstat_read(pid_t pid, struct procstat *ret)
{
	char path[64] = "/proc/self/stat", *text;
	ssize_t n;
	int r;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	n = io_read_file(AT_FDCWD, path, 4096, &text);
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	r = procstat_parse(text, ret);
	free(text);
	return r;
}

bool procstat_exiting(const struct procstat *s)
{
	return s->flags & PF_EXITING;
}

int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret)
{
	char path[64], *text;
	ssize_t r;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	r = io_read_file(AT_FDCWD, path, 256, &text);
	if (r < 0)
		return (int)r;
	n = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->ran,
		   &ret->waited, &ret->turns);
	free(text);
	return n == 3 ? 0 : -EBADMSG;
}
