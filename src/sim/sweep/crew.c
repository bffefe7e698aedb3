/* crew.c - worker processes that compute independent runs, see crew.h */
#include "sim/sweep/crew.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

struct task {
	uint32_t cell, replication;
};

struct worker {
	pid_t pid; /* 0: not there */
	int fd;
	bool busy;
};

struct crew {
	unsigned nr;
	struct worker worker[];
};

/* A worker's life: a task in, an answer out, until the other end closes. */
static void work_on(int fd, crew_work work, void *arg)
{
	struct task task;

	while (recv(fd, &task, sizeof(task), 0) == (ssize_t)sizeof(task)) {
		struct crew_result r = { .cell = task.cell,
					 .replication = task.replication };

		r.rc = work(arg, task.cell, task.replication, r.value,
			    &r.error);
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != (ssize_t)sizeof(r))
			break;
	}
}

static int worker_start(struct worker *w, crew_work work, void *arg,
			struct error *err)
{
	pid_t maker = getpid();
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return error_sys(err, -errno, "cannot make a socket");
	w->pid = fork();
	if (w->pid < 0) {
		int rc = -errno;

		w->pid = 0;
		close(fd[0]);
		close(fd[1]);
		return error_sys(err, rc, "cannot fork a worker");
	}
	if (!w->pid) {
		close(fd[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == maker)
			work_on(fd[1], work, arg);
		_exit(0);
	}
	close(fd[1]);
	w->fd = fd[0];
	return 0;
}

int crew_create(unsigned nr, crew_work work, void *arg, struct crew **ret,
		struct error *err)
{
	struct crew *crew =
		xcalloc(1, sizeof(*crew) + nr * sizeof(*crew->worker));
	int rc;

	crew->nr = nr;
	for (unsigned i = 0; i < nr; i++)
		crew->worker[i].fd = -1;
	for (unsigned i = 0; i < nr; i++) {
		rc = worker_start(&crew->worker[i], work, arg, err);
		if (rc < 0) {
			crew_destroy(crew);
			return rc;
		}
	}
	*ret = crew;
	return 0;
}

static struct worker *idle_worker(const struct crew *crew)
{
	for (unsigned i = 0; i < crew->nr; i++)
		if (!crew->worker[i].busy)
			return (struct worker *)&crew->worker[i];
	return NULL;
}

bool crew_idle(const struct crew *crew)
{
	return idle_worker(crew) != NULL;
}

int crew_give(struct crew *crew, uint32_t cell, uint32_t replication,
	      struct error *err)
{
	struct worker *w = idle_worker(crew);
	struct task task = { cell, replication };

	if (send(w->fd, &task, sizeof(task), MSG_NOSIGNAL) < 0)
		return error_sys(err, -errno, "cannot give work to worker %d",
				 (int)w->pid);
	w->busy = true;
	return 0;
}

/* It answered nothing: say what became of it. */
static int worker_lost(struct worker *w, struct error *err)
{
	pid_t pid = w->pid;
	int status = 0;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	w->pid = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		return error_set(err, -EIO, "worker %d was ended by signal %d",
				 (int)pid, WTERMSIG(status));
	if (WIFEXITED(status))
		return error_set(
			err, -EIO,
			"worker %d ended by itself: what it ran called "
			"exit()",
			(int)pid);
	return error_set(err, -EIO, "worker %d was killed", (int)pid);
}

int crew_take(struct crew *crew, struct crew_result *ret, struct error *err)
{
	struct pollfd *p = xcalloc(crew->nr, sizeof(*p));
	struct worker *w = NULL;
	struct crew_result r;
	unsigned waiting = 0;
	ssize_t n;

	for (unsigned i = 0; i < crew->nr; i++) {
		bool busy = crew->worker[i].busy;

		p[i] = (struct pollfd){ busy ? crew->worker[i].fd : -1, POLLIN,
					0 };
		waiting += busy;
	}
	while (waiting && poll(p, crew->nr, -1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; waiting && i < crew->nr && !w; i++)
		if (p[i].revents)
			w = &crew->worker[i];
	free(p);
	if (!w)
		return error_set(err, -ENODATA, "no worker has work");
	do
		n = recv(w->fd, &r, sizeof(r), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(r))
		return worker_lost(w, err);
	w->busy = false;
	*ret = r;
	return 0;
}

static int take_one(struct crew *crew, crew_take_fn take, void *arg,
		    struct error *err)
{
	struct crew_result one;
	int rc = crew_take(crew, &one, err);

	if (!rc && one.rc < 0) {
		*err = one.error;
		rc = one.rc;
	}
	if (!rc)
		take(&one, arg);
	return rc;
}

int crew_run_all(struct crew *crew, uint32_t first, uint32_t nr, uint32_t runs,
		 crew_take_fn take, void *arg, struct error *err)
{
	uint64_t all = (uint64_t)nr * runs, given = 0, taken = 0;
	int rc = 0;

	while (!rc && taken < all)
		if (given < all && crew_idle(crew)) {
			rc = crew_give(crew, first + (uint32_t)(given / runs),
				       (uint32_t)(given % runs), err);
			given++;
		} else {
			rc = take_one(crew, take, arg, err);
			taken++;
		}
	return rc;
}

void crew_destroy(struct crew *crew)
{
	if (!crew)
		return;
	for (unsigned i = 0; i < crew->nr; i++) {
		io_close(&crew->worker[i].fd);
		if (crew->worker[i].pid) {
			kill(crew->worker[i].pid, SIGKILL);
			waitpid(crew->worker[i].pid, NULL, 0);
		}
	}
	free(crew);
}
