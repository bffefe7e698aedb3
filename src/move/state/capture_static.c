/*
 * capture_static.c - what of a process's state changes rarely
 *
 * Read while the process runs, since some of it is slow to read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "move/state/capture.h"
#include "move/tracee/cpuclock.h"
#include "move/wire/append.h"

#define LIMITS_NAME 26 /* width of the first column */

Move__Creds *capture_creds(const struct proc_status *stopped)
{
	Move__Creds *k = append_new(&move__creds__descriptor);

	k->inheritable = stopped->cap_inh;
	k->permitted = stopped->cap_prm;
	k->effective = stopped->cap_eff;
	k->bounding = stopped->cap_bnd;
	k->ambient = stopped->cap_amb;
	k->no_new_privs = stopped->no_new_privs;
	return k;
}

static void take_mm(Move__State *s, const struct procstat *mm)
{
	s->start_code = mm->start_code;
	s->end_code = mm->end_code;
	s->start_data = mm->start_data;
	s->end_data = mm->end_data;
	s->start_brk = mm->start_brk;
	s->start_stack = mm->start_stack;
	s->arg_start = mm->arg_start;
	s->arg_end = mm->arg_end;
	s->env_start = mm->env_start;
	s->env_end = mm->env_end;
}

static uint64_t limit_of(const char *p, char **end)
{
	p += strspn(p, " ");
	if (strncmp(p, "unlimited", 9))
		return strtoull(p, end, 10);
	*end = (char *)(uintptr_t)p + 9;
	return RLIM_INFINITY;
}

/* A line each, in the order of their numbers; prlimit() wants a privilege. */
static int take_rlimits(pid_t pid, Move__State *s, struct error *err)
{
	char *text, *p, *end;
	ssize_t n = proc_read(pid, "limits", &text, err);
	uint32_t i = 0;

	if (n < 0)
		return (int)n;
	for (p = strchr(text, '\n'); p && p[1] && i < RLIM_NLIMITS;
	     p = strchr(p + 1, '\n')) {
		Move__Rlimit *m = append_new(&move__rlimit__descriptor);

		m->resource = i++;
		m->soft = limit_of(p + 1 + LIMITS_NAME, &end);
		m->hard = limit_of(end, &end);
		append_to(s->rlimit, s->n_rlimit, m);
	}
	free(text);
	return i == RLIM_NLIMITS
		       ? 0
		       : error_set(err, -EPROTO, "limits: cannot read them");
}

/* 0 where there is none. */
static long read_number(pid_t pid, const char *what, int base)
{
	char *text;
	long v;

	if (proc_read(pid, what, &text, NULL) < 0)
		return 0;
	v = strtol(text, NULL, base);
	free(text);
	return v;
}

int capture_changing(pid_t pid, const struct proc_status *stopped,
		     Move__State *s, struct error *err)
{
	int r = proc_read_link(pid, "cwd", &s->cwd, err);
	if (!r)
		r = take_rlimits(pid, s, err);
	s->umask = stopped->umask;
	s->coredump_filter = (uint32_t)read_number(pid, "coredump_filter", 16);
	return r;
}

int capture_static(pid_t pid, Move__State **ret, struct error *err)
{
	Move__State *s = append_new(&move__state__descriptor);
	struct procstat stat;
	char *text;
	ssize_t n;
	int r = proc_read_stat(pid, &stat, err);

	if (r < 0)
		goto fail;
	take_mm(s, &stat);
	n = proc_read(pid, "auxv", &text, err);
	if (n < 0) {
		r = (int)n;
		goto fail;
	}
	s->auxv = (ProtobufCBinaryData){ (size_t)n, (uint8_t *)text };
	s->oom_score_adj = (int32_t)read_number(pid, "oom_score_adj", 10);
	cpuclock_find(pid, s);
	*ret = s;
	return 0;
fail:
	move__state__free_unpacked(s, NULL);
	return r;
}
