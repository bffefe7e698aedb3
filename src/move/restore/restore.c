/*
 * restore.c - turn the landing process into the one that is described
 *
 * Everything that can fail is done before READY, in lists whose results are
 * checked.  What depends on the instant (timers) comes after the release.
 */
#include "move/restore/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/io.h"
#include "move/fd/fds.h"
#include "move/proc/uapi.h"
#include "move/wire/fault.h"

#define call(l, what, nr, a, b, c, d, e) \
	landing_call(l, what, nr, (uint64_t)(a), b, c, d, (uint64_t)(e), 0, err)

/*
 * L is a copy of the program that landed it. If it is to have the very same executable,
 * it has that already, and the kernel refuses to set it once more while the file is
 * mapped (EBUSY).
 */
static bool has_exe(const struct landing *l, int exe)
{
	char path[64], is[PATH_MAX], wanted[PATH_MAX];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/exe", l->pid);
	n = readlink(path, is, sizeof(is));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", l->pid, exe);
	m = readlink(path, wanted, sizeof(wanted));
	return n > 0 && n == m && !memcmp(is, wanted, (size_t)n);
}

/*
 * The call sets all of the kernel's notes at once; the others get any valid
 * value for now.
 */
int restore_exe(struct landing *l, const char *path, struct error *err)
{
	struct prctl_mm_map m = {
		.start_code = l->area,
		.end_code = l->area + 1,
		.start_data = l->area,
		.end_data = l->area,
		.start_brk = l->area,
		.brk = l->area,
		.start_stack = l->area,
		.arg_start = l->area,
		.arg_end = l->area,
		.env_start = l->area,
		.env_end = l->area,
	};
	uint64_t at;
	int exe = landing_open(l, path, O_RDONLY, err), r;
	bool has;

	if (exe < 0)
		return exe;
	m.exe_fd = (uint32_t)exe;
	has = has_exe(l, exe);
	r = has ? 0 : landing_data(l, &m, sizeof(m), &at, err);
	if (!r && !has)
		r = call(l, "prctl(PR_SET_MM_MAP)", SYS_prctl, PR_SET_MM,
			 PR_SET_MM_MAP, at, sizeof(m), 0);
	if (!r)
		r = landing_flush(l, err);
	landing_close_files(l);
	return r;
}

/* The kernel's notes of where code, data, heap, stack and arguments lie. */
static int restore_mm(struct landing *l, const Move__State *s,
		      struct error *err)
{
	struct prctl_mm_map m = {
		.start_code = s->start_code,
		.end_code = s->end_code,
		.start_data = s->start_data,
		.end_data = s->end_data,
		.start_brk = s->start_brk,
		.brk = s->brk,
		.start_stack = s->start_stack,
		.arg_start = s->arg_start,
		.arg_end = s->arg_end,
		.env_start = s->env_start,
		.env_end = s->env_end,
		.auxv_size = (uint32_t)s->auxv.len,
		.exe_fd = (uint32_t)-1,
	};
	char buf[sizeof(m) + 2048];
	uint64_t at;
	int r;

	if (s->auxv.len > sizeof(buf) - sizeof(m))
		return error_set(err, -E2BIG, "auxv of %zu bytes", s->auxv.len);
	memset(buf, 0, sizeof(buf));
	memcpy(buf + sizeof(m), s->auxv.data, s->auxv.len);
	r = landing_data(l, buf, sizeof(buf), &at, err);
	if (r < 0)
		return r;
	m.auxv = (void *)(uintptr_t)(at + sizeof(m));
	memcpy(landing_here(l, at), &m, sizeof(m));
	return call(l, "prctl(PR_SET_MM_MAP)", SYS_prctl, PR_SET_MM,
		    PR_SET_MM_MAP, at, sizeof(m), 0);
}

/* L has set all signals to the default action (land/helper.c). */
static int restore_actions(struct landing *l, const Move__State *s,
			   struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_action && !r; i++) {
		const Move__Action *a = s->action[i];
		uint64_t act[4] = { a->handler, a->flags, a->restorer,
				    a->mask };
		uint64_t at;

		if (a->signo == SIGKILL || a->signo == SIGSTOP)
			continue;
		r = landing_data(l, act, sizeof(act), &at, err);
		if (!r)
			r = call(l, "rt_sigaction", SYS_rt_sigaction, a->signo,
				 at, 0, 8, 0);
	}
	return r;
}

static int restore_string(struct landing *l, const char *what, long nr,
			  const char *text, struct error *err)
{
	uint64_t at;
	int r = landing_data(l, text, strlen(text) + 1, &at, err);

	return r < 0 ? r : call(l, what, nr, at, 0, 0, 0, 0);
}

static int put_limit(struct landing *l, uint32_t resource, uint64_t soft,
		     uint64_t hard, struct error *err)
{
	uint64_t lim[2] = { soft, hard }, at;
	int r = landing_data(l, lim, sizeof(lim), &at, err);

	return r < 0 ? r : call(l, NULL, SYS_prlimit64, 0, resource, at, 0, 0);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A process that may not raise the hard limit here cannot set any limit above it: so
 * first set as much as anybody may, and then the former value.
 */
static int restore_limits(struct landing *l, const Move__State *s,
			  const struct restore_ids *ids, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_rlimit && !r; i++) {
		const Move__Rlimit *m = s->rlimit[i];
		uint64_t most;

		/* when all signals that wait are queued */
		if (m->resource == RLIMIT_SIGPENDING)
			continue;
		most = m->resource < RLIM_NLIMITS ? ids->most[m->resource]
						  : RLIM_INFINITY;
		if (most < m->hard)
			r = put_limit(l, m->resource, lesser(m->soft, most),
				      most, err);
		if (!r)
			r = put_limit(l, m->resource, m->soft, m->hard, err);
	}
	return r;
}

/*
 * Written from outside.  A lower value than here needs a privilege; without
 * that it stays as it is here.
 */
static void restore_proc(const struct landing *l, const char *file, int64_t v)
{
	char path[64], text[24];

	snprintf(path, sizeof(path), "/proc/%d/%s", l->pid, file);
	snprintf(text, sizeof(text), "%" PRId64, v);
	(void)!io_write_file(AT_FDCWD, path, text);
}

/*
 * Components of the XSAVE image that the process may use and not every process may. A
 * kernel that cannot be asked has none.
 */
static uint64_t asked_for(const Move__State *s)
{
	uint64_t anybodys = 0;

	if (syscall(SYS_arch_prctl, ARCH_GET_XCOMP_PERM, &anybodys) < 0)
		return 0;
	return s->xcomp_perm & ~anybodys;
}

static int restore_process(struct landing *l, const Move__State *s,
			   const struct restore_ids *ids, struct error *err)
{
	uint64_t ask = asked_for(s);
	int r = restore_actions(l, s, err);

	if (!r)
		r = restore_string(l, "chdir", SYS_chdir, s->cwd, err);
	if (!r)
		r = call(l, NULL, SYS_umask, s->umask, 0, 0, 0, 0);
	if (!r)
		r = call(l, "personality", SYS_personality, s->personality, 0,
			 0, 0, 0);
	if (!r)
		r = restore_limits(l, s, ids, err);
	for (int bit = 0; bit < 64 && !r; bit++)
		/*
		 * the commands by which a process registers are those that the mask
		 * shows
		 */
		if (s->membarrier >> bit & 1)
			r = call(l, NULL, SYS_membarrier, 1 << bit, 0, 0, 0, 0);
	for (int bit = 0; bit < 64 && !r; bit++)
		if (ask >> bit & 1)
			r = call(l, "arch_prctl(ARCH_REQ_XCOMP_PERM)",
				 SYS_arch_prctl, ARCH_REQ_XCOMP_PERM,
				 (uint64_t)bit, 0, 0, 0);
	return r;
}

/* All threads but the leader, which is L itself. */
static int restore_threads(struct landing *l, const Move__State *s,
			   struct error *err)
{
	int r = 0;

	for (size_t i = 1; i < s->n_thread && !r; i++) {
		size_t xsave = s->thread[i]->xstate.len;
		struct stub_thread *slot = landing_slot_here(l, i, xsave);
		uint64_t at = landing_slot(l, i, xsave), first = at;
		struct {
			struct clone_args args;
			int32_t tid;
		} a = { .args = {
				.flags = CLONE_VM | CLONE_FS | CLONE_FILES |
					 CLONE_SIGHAND | CLONE_THREAD |
					 CLONE_SYSVSEM,
				.set_tid_size = 1,
			} };

		/* its stack holds one word: where its list begins */
		memcpy(slot->data, &first, sizeof(first));
		a.args.stack = at + offsetof(struct stub_thread, data) - 64;
		a.args.stack_size = 64;
		a.tid = s->thread[i]->tid;
		memcpy(slot->data + 64, &a, sizeof(a));
		at += offsetof(struct stub_thread, data) + 64;
		((struct clone_args *)(void *)(slot->data + 64))->set_tid =
			at + offsetof(typeof(a), tid);
		r = call(l, "clone3", STUB_SPAWN, at, sizeof(a.args), 0, 0, 0);
	}
	return r;
}

static int check_threads(struct landing *l, const Move__State *s,
			 struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->n_thread && !r; i++)
		r = restore_thread_check(l, s, i, err);
	return r;
}

/* No other process may take this thread's own priority for a raised one. */
static void note_priorities(struct landing *l, const Move__State *s)
{
	for (size_t i = 0; i < s->n_thread; i++)
		if (hurry_is_like(s->thread[i]->policy, s->thread[i]->priority,
				  s->thread[i]->nice))
			landing_own_ahead(l);
}

/*
 * In an order in which each step finds what it needs, and takes nothing away from
 * others.
 */
static int restore_all(struct landing *l, const Move__State *s,
		       const struct restore_ids *ids,
		       struct restore_protected *p, struct error *err)
{
	int r = restore_cpu_clocks(l, s, p, err);

	if (!r)
		r = restore_protections(l, s, p, err);
	if (!r)
		r = restore_mm(l, s, err);
	if (!r)
		r = restore_process(l, s, ids, err);
	if (!r)
		r = landing_write_code(l, s->thread[0]->tid, err);
	if (!r)
		r = restore_threads(l, s, err);
	if (!r)
		r = restore_many_signals(l, s, err);
	if (!r)
		r = restore_timers(l, s, err);
	if (!r)
		r = restore_locks(l, err);
	return r;
}

/*
 * One list for L to walk; at its end L and its threads stand before the word
 * `released`. Each further list would cost two more context switches.
 */
int restore_state(struct landing *l, const Move__State *s,
		  const struct restore_ids *ids, struct restore_protected *p,
		  struct error *err)
{
	int r = s->thread[0]->creds
			? 0
			: error_set(err, -EPROTO, "a process without owner");

	note_priorities(l, s);
	if (s->snippets.len == STUB_PAGE - STUB_SNIPPETS)
		memcpy(l->code + STUB_SNIPPETS, s->snippets.data,
		       s->snippets.len);
	/* first, because the room that these take is kept for good */
	for (size_t i = 0; i < s->n_thread && !r; i++)
		r = restore_thread_list(l, s, i, ids, err);
	landing_tick(l);
	if (!r)
		r = restore_all(l, s, ids, p, err);
	if (!r)
		r = landing_start(
			l, landing_slot(l, 0, s->thread[0]->xstate.len), err);
	if (r < 0)
		return r;
	restore_proc(l, "oom_score_adj", s->oom_score_adj);
	restore_proc(l, "coredump_filter", s->coredump_filter);
	r = landing_wait_ready(l, (unsigned)s->n_thread, err);
	if (!r)
		r = move_fault(MF_DEST_THREADS, err);
	if (!r)
		r = check_threads(l, s, err);
	return r < 0 ? r : landing_late_fds(l, err);
}
