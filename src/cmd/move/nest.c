/* nest.c - a pid namespace for one moved process; see nest.h */
#include "cmd/move/nest.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io.h"
#include "core/signals.h"
#include "core/xalloc.h"
#include "move/move.h"

#define NEST_FDS 4

enum nest_verb { NEST_SPAWN, NEST_KEEP };

struct nest_request {
	enum nest_verb verb;
	pid_t keep;
	uint32_t size;
	char arg[MOVE_LAND_ARG];
};

struct nest {
	pid_t init;
	int sock;
	bool kept;
};

/* ---- inside ---- */

struct init_state {
	int sock;
	pid_t kept;  /* the process, once it is to be kept */
	int landing; /* its memory: with it a copy can be released */
};

static int recv_request(int sock, struct nest_request *q, int *fds)
{
	char room[CMSG_SPACE(NEST_FDS * sizeof(int))];
	struct iovec iov = { q, sizeof(*q) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = room,
			      .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int n = 0;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != sizeof(*q))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)n * sizeof(int));
	}
	return n;
}

static int init_fork(struct init_state *s, const struct nest_request *q,
		     int *fds, int nr)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(s->sock);
		_exit(move_land(q->arg, q->size, fds, (size_t)nr));
	}
	for (int i = 0; i < nr; i++) {
		if (i == 0)
			s->landing = fds[i];
		else
			close(fds[i]);
	}
	return pid < 0 ? -errno : 0;
}

/* false: the other side has gone. */
static bool init_serve(struct init_state *s)
{
	struct nest_request q;
	int fds[NEST_FDS], nr = recv_request(s->sock, &q, fds), result = 0;

	if (nr < 0)
		return false;
	if (q.verb == NEST_KEEP) {
		s->kept = q.keep;
		return true;
	}
	result = init_fork(s, &q, fds, nr);
	return send(s->sock, &result, sizeof(result), MSG_NOSIGNAL) > 0;
}

/* Reap; true once the process that is kept has ended. */
static bool init_reap(struct init_state *s, int *ret)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid == s->kept) {
			*ret = status;
			return true;
		}
	}
	return false;
}

/* What people may tell it; see `stint move release` and `discard`. */
static void init_signal(struct init_state *s, int sig)
{
	struct error err;

	if (sig == NEST_RELEASE && s->landing >= 0 &&
	    move_release(s->landing, &err) < 0)
		_exit(1);
	if (sig == NEST_DISCARD)
		_exit(1); /* and all that is in here ends */
	if (sig == SIGTERM && s->kept)
		kill(s->kept, SIGTERM);
}

static _Noreturn void init_main(int sock)
{
	struct init_state s = { .sock = sock, .landing = -1 };
	struct pollfd p[2] = { { .fd = sock, .events = POLLIN } };
	int status = 0;
	sigset_t all;

	prctl(PR_SET_NAME, "stint-nest");
	/* the peer must see the connection end when the receiver does */
	if (sock > 3)
		close_range(3, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0u, 0);
	setsid();
	signals_block_all();
	signals_fill(&all);
	p[1].fd = signalfd(-1, &all, SFD_CLOEXEC);
	p[1].events = POLLIN;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(1);
	while (!init_reap(&s, &status)) {
		struct signalfd_siginfo info;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[1].revents && read(p[1].fd, &info, sizeof(info)) > 0)
			init_signal(&s, (int)info.ssi_signo);
		if (p[0].revents && !init_serve(&s)) {
			if (!s.kept)
				_exit(1); /* and all that is in here ends */
			p[0].fd = -1;
		}
	}
	send(sock, &status, sizeof(status), MSG_NOSIGNAL);
	_exit(0);
}

/* ---- outside ---- */

int nest_create(struct nest **ret, struct error *err)
{
	struct nest *n;
	int pair[2];
	long pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, -errno, "socketpair");
	pid = syscall(SYS_clone, SIGCHLD | CLONE_NEWPID | CLONE_NEWNS, NULL,
		      NULL, NULL, NULL);
	if (pid == 0) {
		close(pair[0]);
		init_main(pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		int r = -errno;

		close(pair[0]);
		return error_sys(
			err, r, "new pid and mount namespaces (are you root?)");
	}
	n = xcalloc(1, sizeof(*n));
	n->init = (pid_t)pid;
	n->sock = pair[0];
	*ret = n;
	return 0;
}

static int nest_tell(struct nest *n, const struct nest_request *q,
		     const int *fds, size_t nr_fds, struct error *err)
{
	char room[CMSG_SPACE(NEST_FDS * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)(uintptr_t)q, sizeof(*q) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nr_fds) {
		struct cmsghdr *c = (struct cmsghdr *)room;

		msg.msg_control = room;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	return sendmsg(n->sock, &msg, MSG_NOSIGNAL) < 0
		       ? error_set(err, -EPIPE, "the nest's init has died")
		       : 0;
}

int nest_spawn(struct nest *n, const void *arg, size_t size, const int *fds,
	       size_t nr_fds, struct error *err)
{
	struct nest_request q = { .verb = NEST_SPAWN, .size = (uint32_t)size };
	int result, r;

	if (size > sizeof(q.arg) || nr_fds > NEST_FDS)
		return error_set(err, -E2BIG, "nest: argument too long");
	memcpy(q.arg, arg, size);
	r = nest_tell(n, &q, fds, nr_fds, err);
	if (r < 0)
		return r;
	if (recv(n->sock, &result, sizeof(result), 0) != sizeof(result))
		return error_set(err, -EPIPE, "the nest's init has died");
	return result < 0 ? error_sys(err, result, "the nest's init") : 0;
}

/*
 * The process stands still meanwhile, so no answer is waited for: what lies in
 * init's socket is read by init, whatever becomes of us.
 */
int nest_keep(struct nest *n, pid_t ns_pid, struct error *err)
{
	struct nest_request q = { .verb = NEST_KEEP, .keep = ns_pid };
	int r = nest_tell(n, &q, NULL, 0, err);

	n->kept = !r;
	return r;
}

int nest_wait(struct nest *n, int *ret, struct error *err)
{
	ssize_t got;

	do
		got = recv(n->sock, ret, sizeof(*ret), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(*ret))
		return error_set(err, -EPIPE, "the nest's init has died");
	waitpid(n->init, NULL, 0);
	n->init = 0;
	return 0;
}

pid_t nest_pid(const struct nest *n)
{
	return n->init;
}

void nest_destroy(struct nest *n)
{
	if (!n)
		return;
	if (n->init > 0 && !n->kept) {
		kill(n->init, SIGKILL);
		waitpid(n->init, NULL, 0);
	}
	io_close(&n->sock);
	free(n);
}
