/* proc.c - what /proc tells about the process to move, see proc.h */
#include "move/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/move.h"

#define PROC_FILE_MAX (256u << 20)

ssize_t proc_read(pid_t pid, const char *what, char **ret, struct error *err)
{
	char path[128];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = io_read_file(AT_FDCWD, path, PROC_FILE_MAX, ret);
	if (n < 0)
		return error_sys(err, (int)n, "%s", path);
	return n;
}

int proc_read_link(pid_t pid, const char *what, char **ret, struct error *err)
{
	char path[128], to[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return error_sys(err, -errno, "%s", path);
	to[n] = '\0';
	*ret = xstrdup(to);
	return 0;
}

bool proc_has_memory(pid_t pid)
{
	char *text;
	ssize_t n = proc_read(pid, "statm", &text, NULL);

	if (n < 0)
		return false;
	n = strncmp(text, "0 ", 2);
	free(text);
	return n;
}

static const char *status_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : p)
		if (!strncmp(p, name, n) && p[n] == ':')
			return p + n + 1;
	return NULL;
}

static unsigned long status_number(const char *text, const char *name, int base)
{
	const char *p = status_field(text, name);

	return p ? strtoul(p, NULL, base) : 0;
}

int proc_parse_status(const char *text, struct proc_status *ret,
		      struct error *err)
{
	const char *state = status_field(text, "State");
	const char *ids = status_field(text, "NSpid"), *features;
	struct proc_status s = { 0 };

	if (!state || !status_field(text, "Threads"))
		return error_set(err, -EPROTO, "status: cannot read it");
	s.state = state[strspn(state, " \t")];
	s.ns_pid = (pid_t)status_number(text, "Pid", 10);
	for (char *end; ids; ids = end, s.nr_ns++) {
		long id = strtol(ids, &end, 10);

		if (end == ids || memchr(ids, '\n', (size_t)(end - ids)))
			break;
		s.ns_pid = (pid_t)id;
	}
	s.tgid = (pid_t)status_number(text, "Tgid", 10);
	s.uid = (uid_t)status_number(text, "Uid", 10);
	s.swapped = status_number(text, "VmSwap", 10) << 10;
	s.memory = s.swapped + (status_number(text, "VmRSS", 10) << 10);
	s.locked = status_number(text, "VmLck", 10) << 10;
	s.queued = status_number(text, "SigQ", 10); /* USED/LIMIT */
	features = status_field(text, "x86_Thread_features");
	s.shadow_stack = features &&
			 memmem(features, strcspn(features, "\n"), "shstk", 5);
	s.ppid = (pid_t)status_number(text, "PPid", 10);
	s.tracer = (pid_t)status_number(text, "TracerPid", 10);
	s.threads = (unsigned)status_number(text, "Threads", 10);
	s.umask = (unsigned)status_number(text, "Umask", 8);
	s.no_new_privs = status_number(text, "NoNewPrivs", 10);
	s.seccomp = status_number(text, "Seccomp", 10);
	s.cap_inh = status_number(text, "CapInh", 16);
	s.cap_prm = status_number(text, "CapPrm", 16);
	s.cap_eff = status_number(text, "CapEff", 16);
	s.cap_bnd = status_number(text, "CapBnd", 16);
	s.cap_amb = status_number(text, "CapAmb", 16);
	s.sig_caught = status_number(text, "SigCgt", 16);
	*ret = s;
	return 0;
}

int proc_read_status(pid_t pid, struct proc_status *ret, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "status", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_parse_status(text, ret, err);
	free(text);
	return r;
}

int proc_read_stat(pid_t pid, struct procstat *ret, struct error *err)
{
	int r = procstat_read(pid, ret);

	return r < 0 ? error_sys(err, r, "/proc/%d/stat", pid) : 0;
}

ssize_t proc_read_tasks(pid_t pid, pid_t **ret, struct error *err)
{
	char path[64];
	struct dirent *e;
	size_t nr = 0, cap = 0;
	pid_t *tid = NULL;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return error_sys(err, -errno, "%s", path);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		array_room(tid, nr, &cap);
		tid[nr++] = (pid_t)strtol(e->d_name, NULL, 10);
	}
	closedir(d);
	*ret = tid;
	return (ssize_t)nr;
}

/* Without CONFIG_PROC_CHILDREN every process has to be asked for its parent. */
static int search_child(pid_t pid, pid_t *ret, struct error *err)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	if (!d)
		return error_sys(err, -errno, "/proc");
	while (!found && (e = readdir(d))) {
		pid_t other = (pid_t)strtol(e->d_name, NULL, 10);
		struct proc_status s;

		if (other > 0 && other != pid &&
		    proc_read_status(other, &s, NULL) == 0 && s.ppid == pid)
			found = other;
	}
	closedir(d);
	*ret = found;
	return 0;
}

int proc_child_of(pid_t pid, const pid_t *tid, size_t n, pid_t *ret,
		  struct error *err)
{
	pid_t found = 0;
	bool known = true;

	for (size_t i = 0; i < n && !found && known; i++) {
		char what[48], *text;

		snprintf(what, sizeof(what), "task/%d/children", tid[i]);
		if (proc_read(pid, what, &text, NULL) >= 0) {
			found = (pid_t)strtol(text, NULL, 10);
			free(text);
		} else {
			/* the thread may have ended, but not the main thread */
			known = tid[i] != pid;
		}
	}
	if (!known)
		return search_child(pid, ret, err);
	*ret = found;
	return 0;
}

int proc_read_child(pid_t pid, pid_t *ret, struct error *err)
{
	pid_t *tid;
	ssize_t n = proc_read_tasks(pid, &tid, err);
	int r;

	if (n < 0)
		return (int)n;
	r = proc_child_of(pid, tid, (size_t)n, ret, err);
	free(tid);
	return r;
}

pid_t move_pid_inside(pid_t pid)
{
	struct proc_status st;

	return proc_read_status(pid, &st, NULL) < 0 ? -1 : st.ns_pid;
}

int proc_running(pid_t pid, struct error *err)
{
	struct proc_status st = { 0 };
	struct procstat stat;

	/*
	 * a process that we may not look at (hidepid) is not known; one without memory
	 * has ended
	 */
	if (!(kill(pid, 0) < 0 && errno == ESRCH) &&
	    (proc_read_status(pid, &st, NULL) < 0 ||
	     (st.state != 'Z' && st.state != 'X')) &&
	    (procstat_read(pid, &stat) < 0 || !procstat_exiting(&stat)))
		return 0;
	return error_set(err, -ESRCH, "process %d has exited%s", pid,
			 st.threads > 1 ? ", but for its threads" : "");
}
