/* host_load.c - how busy this host is, and how fast, see host_load.h */
#include "cluster/host_load.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>

#include <systemd/sd-login.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"

#define AVERAGE_OVER (10 * USEC_PER_SEC)

struct host_load {
	const struct owner_ops *owner;
	char *group; /* our cpu cgroup as in /proc/PID/cgroup; "/" for all */
	double load;
	usec_t last; /* 0: never sampled */
};

/*
 * The path of a process in the cpu hierarchy (v1) or the unified one; static
 * buffer.  NULL when it has ended.
 */
static const char *group_of(int proc, const char *pid)
{
	static char path[512];
	char name[64], *text, *line, *next;
	ssize_t n;

	snprintf(name, sizeof(name), "%s/cgroup", pid);
	n = io_read_file(proc, name, 1 << 16, &text);
	if (n < 0)
		return NULL;
	*path = 0;
	for (line = text; *line; line = next) {
		char *which = strchr(line, ':'), *where;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		where = which ? strchr(which + 1, ':') : NULL;
		if (!where)
			continue;
		*where++ = 0;
		which++;
		if (!strcmp(which, "cpu") || !strncmp(which, "cpu,", 4) ||
		    strstr(which, ",cpu") == which + strlen(which) - 4)
			snprintf(path, sizeof(path), "%s", where);
		else if (!*which && !*path)
			snprintf(path, sizeof(path), "%s", where);
	}
	free(text);
	return *path ? path : "/";
}

struct host_load *host_load_create(void)
{
	struct host_load *l = xcalloc(1, sizeof(*l));
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *group = group_of(proc, "self");

	l->group = xstrdup(group ? group : "/");
	l->owner = &owner_logind;
	close(proc);
	return l;
}

void host_load_destroy(struct host_load *l)
{
	if (!l)
		return;
	free(l->group);
	free(l);
}

void host_load_set_owner(struct host_load *l, const struct owner_ops *ops)
{
	l->owner = ops;
}

/* 'R' and the like of /proc/PID/stat; 0 when it has ended. */
static char state_of(int proc, const char *pid)
{
	char name[64], buf[512], *end;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/stat", pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = 0;
	end = strrchr(buf, ')');
	return end && end[1] ? end[2] : 0;
}

/* Part of our group, and not of a capsule (a group below it)? */
static bool counts(const struct host_load *l, const char *group)
{
	size_t n = strlen(l->group);

	if (!strcmp(l->group, "/"))
		return !strstr(group, "/stint-");
	return !strncmp(group, l->group, n) && !group[n];
}

static double count_runnable(const struct host_load *l)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	const char *group;
	unsigned n = 0;

	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]) ||
		    state_of(dirfd(dir), e->d_name) != 'R' ||
		    strtol(e->d_name, NULL, 10) == getpid())
			continue;
		group = group_of(dirfd(dir), e->d_name);
		n += group && counts(l, group);
	}
	closedir(dir);
	return n;
}

static uint64_t meminfo(const char *key)
{
	char *text, *at;
	uint64_t kib = 0;

	if (io_read_file(AT_FDCWD, "/proc/meminfo", 1 << 16, &text) < 0)
		return 0;
	at = strstr(text, key);
	if (at)
		kib = strtoull(at + strlen(key), NULL, 10);
	free(text);
	return kib << 10;
}

static double memory_pressure(void)
{
	char *text, *at;
	double v = 0;

	if (io_read_file(AT_FDCWD, "/proc/pressure/memory", 4096, &text) < 0)
		return 0;
	at = strstr(text, "avg10=");
	if (at)
		v = strtod(at + 6, NULL);
	free(text);
	return v;
}

void host_load_sample(struct host_load *l, struct host_sample *ret)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	double keep;

	ret->runnable = count_runnable(l);
	keep = l->last ? exp(-(double)(now - l->last) / AVERAGE_OVER) : 0;
	l->load = keep * l->load + (1 - keep) * ret->runnable;
	l->last = now;
	ret->load = l->load;
	ret->memory_free = meminfo("MemAvailable:");
	ret->pressure = memory_pressure();
	l->owner->sense(&ret->users, &ret->idle);
}

uint32_t host_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_COUNT(&set))
		return 1;
	return CPU_COUNT(&set);
}

uint64_t host_memory(void)
{
	return meminfo("MemTotal:");
}

double host_score(void)
{
	static double cells[4096];
	usec_t begin = clock_usec(CLOCK_THREAD_CPUTIME_ID), spent;
	uint64_t steps = 0, x = 88172645463325252u;
	double sum = 0;

	for (size_t i = 0; i < 4096; i++)
		cells[i] = i;
	do {
		for (int i = 0; i < 20000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			cells[x & 4095] = cells[x >> 20 & 4095] * 0.5 + 1;
			sum += cells[x >> 40 & 4095];
		}
		steps += 20000;
		spent = clock_usec(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (spent < USEC_PER_SEC / 5);
	/* sum is used, so that none of the work can be left out. */
	return sum >= 0 ? (double)steps / spent : 0;
}

/* ---- users ---- */

static void terminal_idle(const char *line, usec_t *idle)
{
	char path[64];
	struct stat st;
	usec_t since;

	snprintf(path, sizeof(path), "/dev/%.40s", line);
	if (stat(path, &st) < 0)
		return;
	since = clock_usec(CLOCK_REALTIME) - st.st_atime * USEC_PER_SEC;
	if (since < *idle)
		*idle = since < 0 ? 0 : since;
}

/* An entry stays behind when whoever made it was killed. */
static bool is_over(const struct utmpx *u)
{
	return u->ut_pid > 0 && kill(u->ut_pid, 0) < 0 && errno == ESRCH;
}

static void read_utmp(uint32_t *users, usec_t *idle)
{
	const struct utmpx *u;
	char line[sizeof(u->ut_line) + 1];

	setutxent();
	while ((u = getutxent())) {
		if (u->ut_type != USER_PROCESS || is_over(u))
			continue;
		++*users;
		snprintf(line, sizeof(line), "%.*s", (int)sizeof(u->ut_line),
			 u->ut_line);
		terminal_idle(line, idle);
	}
	endutxent();
}

/* True when there is a logind to ask. */
static bool sense_logind(uint32_t *users, usec_t *idle)
{
	char **sessions, *what;
	int n = access("/run/systemd/sessions", F_OK) < 0
			? -1
			: sd_get_sessions(&sessions);

	if (n < 0)
		return false;
	for (int i = 0; i < n; i++) {
		if (sd_session_get_class(sessions[i], &what) >= 0) {
			*users += !strcmp(what, "user");
			free(what);
		}
		if (sd_session_get_tty(sessions[i], &what) >= 0) {
			terminal_idle(what, idle);
			free(what);
		}
		free(sessions[i]);
	}
	if (n)
		free(sessions);
	return true;
}

static void sense_utmp(uint32_t *users, usec_t *idle)
{
	*users = 0;
	*idle = USEC_MAX;
	read_utmp(users, idle);
}

static void sense_owner(uint32_t *users, usec_t *idle)
{
	*users = 0;
	*idle = USEC_MAX;
	if (!sense_logind(users, idle))
		read_utmp(users, idle);
}

const struct owner_ops owner_utmp = { .sense = sense_utmp };
const struct owner_ops owner_logind = { .sense = sense_owner };
