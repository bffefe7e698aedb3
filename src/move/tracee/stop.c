/* stop.c - stop all threads of a process, and let them go; tracee.h */
#include "move/tracee/tracee.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "core/claim.h"
#include "core/hurry.h"
#include "core/xalloc.h"
#include "move/move.h"
#include "move/proc/proc.h"
#include "move/proc/watch.h"
#include "move/tracee/task.h"

/*
 * A signal that the process ignores, so that it has no effect if no tracer is
 * there to take it; at worst one that it handles as spurious (Go's SIGURG).
 */
static int choose_stop_sig(uint64_t caught)
{
	static const int harmless[] = { SIGURG, SIGWINCH, SIGCHLD, SIGCONT };

	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (!(caught & UINT64_C(1) << (harmless[i] - 1)))
			return harmless[i];
	return SIGURG;
}

struct tracee *tracee_create(pid_t pid, struct error *err)
{
	struct proc_status s;
	struct tracee *t;

	if (proc_read_status(pid, &s, err) < 0)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->pid = pid;
	t->stop_sig = choose_stop_sig(s.sig_caught);
	return t;
}

void tracee_abandon(struct tracee *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->task[i].xstate);
	free(t->task);
	free(t->seen);
	free(t);
}

void tracee_destroy(struct tracee *t)
{
	if (t)
		tracee_resume(t);
	tracee_abandon(t);
}

static struct task *task_find(struct tracee *t, pid_t tid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->task[i].tid == tid)
			return &t->task[i];
	return NULL;
}

static void forget_gone(struct tracee *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (!t->task[i].gone)
			t->task[n++] = t->task[i];
		else
			free(t->task[i].xstate);
	t->nr = n;
}

static void stir(const struct tracee *t, bool on)
{
	if (t->stir)
		t->stir(t->stir_ctx, on);
}

int tracee_stop_leader(struct tracee *t, struct error *err)
{
	int r;

	watch_stands(t->watch, true);
	stir(t, true);
	r = task_seize(t, t->pid, err);
	if (r > 0)
		r = task_take_stop(t, &t->task[0], err);
	else if (!r)
		r = error_set(err, -ESRCH, "process %d has exited", t->pid);
	forget_gone(t);
	if (!r && !t->nr)
		r = error_set(err, -ESRCH, "process %d has exited", t->pid);
	return r;
}

/* Seize the threads not known yet; returns how many, or -errno. */
static int seize_new(struct tracee *t, struct error *err)
{
	pid_t *tid;
	ssize_t n = proc_read_tasks(t->pid, &tid, err);
	int found = 0, r = 0;

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n && r >= 0; i++) {
		if (task_find(t, tid[i]))
			continue;
		r = task_seize(t, tid[i], err);
		found += r > 0;
	}
	free(tid);
	return r < 0 ? r : found;
}

/*
 * A thread can make another one until it has stopped, so look again until a
 * look at stopped threads alone finds nothing new.
 */
int tracee_stop(struct tracee *t, struct error *err)
{
	size_t done = 0;
	int r;

	watch_stands(t->watch, true);
	stir(t, true);
	while ((r = seize_new(t, err)) > 0) {
		for (; done < t->nr; done++)
			if ((r = task_take_stop(t, &t->task[done], err)) < 0)
				return r;
	}
	for (size_t i = 0; t->leave_vdso && i < t->nr && !r; i++)
		r = task_leave_vdso(t, &t->task[i], err);
	if (r < 0)
		return r;
	forget_gone(t);
	if (!task_find(t, t->pid))
		return error_set(err, -ESRCH, "the main thread has exited");
	if (t->task[0].tid != t->pid) {
		struct task *k = task_find(t, t->pid), tmp = *k;

		*k = t->task[0];
		t->task[0] = tmp;
	}
	return 0;
}

/* The leader last: if killed, it can be waited for after all the others. */
void tracee_resume(struct tracee *t)
{
	for (size_t i = t->nr; i-- > 0;) {
		if (t->task[i].hurried)
			hurry_end(t->task[i].tid);
		if (t->task[i].stirred)
			(void)claim_settle(t->task[i].tid);
		if (t->task[i].going)
			continue;
		if (t->task[i].seized)
			tracee_resume_call(t, i);
		task_leave(&t->task[i]);
	}
	stir(t, false);
	watch_stands(t->watch, false);
	for (size_t i = t->nr; i-- > 0;)
		if (t->task[i].seized)
			task_leave_late(t, &t->task[i]);
	for (size_t i = 0; i < t->nr; i++)
		free(t->task[i].xstate);
	t->nr = 0;
}
