/* recheck.c - check that the process can still be moved; see recheck.h */
#include "move/send/recheck.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "core/xalloc.h"
#include "move/check/check.h"
#include "move/fd/fds.h"
#include "move/proc/sysv.h"
#include "move/proc/uapi.h"

int recheck_running(const struct send_process *p, struct error *err)
{
	struct pollfd end = { .fd = p->pidfd, .events = POLLIN };
	pid_t pid = p->pid;

	if (page_sender_alive(p->pages) && poll(&end, 1, 0) == 0)
		return 0;
	/*
	 * a process that exits loses its memory first; one that calls exec gets
	 * another
	 */
	if (!proc_has_memory(pid) || poll(&end, 1, 0) > 0)
		return error_set(err, -ESRCH, "process %d has exited", pid);
	return error_set(
		err, -EBUSY,
		"process %d has started another program (exec) during the move; move that",
		pid);
}

static int refuse_child(pid_t pid, pid_t child, struct error *err)
{
	return child ? error_set(err, -ENOTSUP, "process %d has a child, %d",
				 pid, child)
		     : 0;
}

int recheck_children(pid_t pid, struct error *err)
{
	pid_t child;
	int r = proc_read_child(pid, &child, err);

	return r < 0 ? r : refuse_child(pid, child, err);
}

/* All threads are stopped and known, so no child can come any more. */
static int check_stopped_children(const struct tracee *t, struct error *err)
{
	pid_t *tid = xcalloc(t->nr, sizeof(*tid)), child;
	int r;

	for (size_t i = 0; i < t->nr; i++)
		tid[i] = t->task[i].tid;
	r = proc_child_of(t->pid, tid, t->nr, &child, err);
	free(tid);
	return r < 0 ? r : refuse_child(t->pid, child, err);
}

static int check_room(const struct tracee *t, struct error *err)
{
	if (t->nr <= tracee_room(t))
		return 0;
	return error_set(
		err, -ENOTSUP,
		"process %d has made threads during the move: %zu now, and room for %zu; move it again",
		t->pid, t->nr, tracee_room(t));
}

int recheck_stopped(const struct sending *s, struct send_process *p,
		    struct error *err)
{
	pid_t pid = p->pid;
	int r = recheck_running(p, err);

	if (!r)
		r = proc_read_status(pid, &p->stopped, err);
	if (!r && p->stopped.seccomp)
		r = error_set(err, -ENOTSUP, "process %d has a seccomp filter",
			      pid);
	if (!r)
		r = check_dispatch(p->tracee, err);
	if (!r)
		r = check_room(p->tracee, err);
	if (!r)
		r = check_stopped_children(p->tracee, err);
	if (!r)
		r = sysv_check(pid, err);
	/* there was no pre-copy: check before all memory is copied */
	if (!r && !s->report->tracked)
		r = fds_check(pid, s->src->external, s->src->nr_externals,
			      s->common.trees, err);
	return r;
}
