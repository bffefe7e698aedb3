/*
 * request.c - the keeper's side of talking to init
 *
 * Each request brings the socket for its own answer along, so requests of the
 * keeper and of its engines cannot take each other's, and one whose sender
 * died leaves nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "cluster/host/arguments.h"
#include "cluster/host/process.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/xalloc.h"

#define MAX_FDS (REQUEST_FDS + 3)

_Static_assert(MAX_FDS <= PACKET_FDS, "a request fits into a packet");

int request_call_for(int ms, int ctl, const struct request *req, const int *fds,
		     unsigned nr_fds, int *ret_fd, struct error *err)
{
	int all[MAX_FDS], pair[2], got[1], r;
	struct answer answer;
	unsigned n = 1;

	if (nr_fds + 1 > MAX_FDS)
		return error_set(err, -E2BIG, "more than %d descriptors",
				 REQUEST_FDS);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, -errno, "cannot make a socket pair");
	all[0] = pair[1];
	if (nr_fds)
		memcpy(all + 1, fds, nr_fds * sizeof(int));
	r = packet_send(ctl, req, sizeof(*req), all, nr_fds + 1);
	close(pair[1]);
	if (!r && ms >= 0 && request_await(pair[0], ms, err) < 0) {
		close(pair[0]);
		return -ETIMEDOUT;
	}
	if (!r)
		r = packet_receive(pair[0], &answer, sizeof(answer), got, &n,
				   0);
	close(pair[0]);
	if (r < 0)
		return error_sys(err, r == -EPIPE ? -ESRCH : r,
				 "the capsule's init does not answer");
	if (answer.code < 0) {
		if (err)
			*err = answer.error;
		r = answer.code;
	}
	if (n && (r < 0 || !ret_fd))
		close(got[0]);
	else if (ret_fd)
		*ret_fd = n ? got[0] : -1;
	return r;
}

int request_call(int ctl, const struct request *req, const int *fds,
		 unsigned nr_fds, int *ret_fd, struct error *err)
{
	return request_call_for(-1, ctl, req, fds, nr_fds, ret_fd, err);
}

/* ---- what is sent along in a file ---- */

int request_file(struct error *err)
{
	int fd = memfd_create("stint-request", MFD_CLOEXEC);

	return fd < 0 ? error_sys(err, -errno, "cannot make a memory file")
		      : fd;
}

static void put_string(FILE *to, const char *s)
{
	fwrite(s, 1, strlen(s) + 1, to);
}

static int put_program(int fd, const struct capsule_program *prog,
		       struct request *req)
{
	char *text = NULL;
	FILE *to = xmemstream(&text, &req->n);
	int r;

	for (; prog->argv[req->nr_argv]; req->nr_argv++)
		put_string(to, prog->argv[req->nr_argv]);
	for (; prog->env[req->nr_env]; req->nr_env++)
		put_string(to, prog->env[req->nr_env]);
	put_string(to, prog->cwd ? prog->cwd : "/");
	for (size_t i = 0; i < prog->nr_files; i++) {
		put_string(to, prog->files[i].folder);
		put_string(to, prog->files[i].path);
	}
	if (fclose(to))
		abort(); /* out of memory */
	r = io_write_full(fd, text, req->n);
	free(text);
	return r;
}

/* The pid, in this namespace, of the process of a pidfd. */
static int pid_of(int pidfd, pid_t *ret, struct error *err)
{
	int64_t pid;
	int r = process_fdinfo(pidfd, "Pid", &pid);

	if (r < 0)
		return error_sys(err, r, "cannot tell the new process's pid");
	/* Dead and reaped already: init will report its end all the same. */
	*ret = pid > 0 ? pid : 0;
	return 0;
}

int request_await(int fd, int ms, struct error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r ? 0
		 : error_set(err, -ETIMEDOUT,
			     "no progress for %d s: a file system that its "
			     "files are on does not answer, or somebody holds "
			     "one of them or has stopped its process",
			     ms / 1000);
}

/* One packet of the new process, by SO_PASSCRED with its pid in this namespace; as recv(). */
static ssize_t hear_news(int fd, void *to, size_t room, pid_t *ret)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = { .iov_base = to, .iov_len = room };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n;
	struct cmsghdr *c;
	struct ucred cred;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_type == SCM_CREDENTIALS) {
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		*ret = cred.pid;
	}
	return n < 0 ? -errno : n;
}

/*
 * First the process says that it is there; the socket closes when the program runs, or
 * when the process was killed, whose end init reports.  Before that it may bring bad news.
 */
static int await_exec(int fd, struct capsule *c, pid_t *ret, struct error *err)
{
	struct exec_failure bad;
	ssize_t n;

	do {
		int r = request_await(fd, c->patience, err);

		if (r < 0)
			return error_prefix(err, r,
					    "the program does not start");
		n = hear_news(fd, &bad, sizeof(bad), ret);
	} while (n == 1);
	if (!n)
		return 0;
	if (n != sizeof(bad))
		return error_sys(err, n < 0 ? (int)n : -EBADMSG,
				 "cannot hear from the new process");
	c->asked = false;
	bad.why.text[sizeof(bad.why.text) - 1] = 0;
	return error_set(err, bad.code, "%s", bad.why.text);
}

/* The near end tells who speaks by the other one. */
static int make_news(int news[2], struct error *err)
{
	int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, news) < 0)
		return error_sys(err, -errno, "cannot make a socket pair");
	if (!setsockopt(news[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return 0;
	close(news[0]);
	close(news[1]);
	return error_sys(err, -errno, "SO_PASSCRED");
}

static size_t count_words(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* It is kept in memory until the program runs: no more than one can have. */
static int check_texts(const struct capsule_program *prog, struct error *err)
{
	struct arguments sum = { .bytes = 0 };
	int r = arguments_add(&sum, (char *const *)prog->argv,
			      count_words(prog->argv), err);

	if (!r)
		r = arguments_add(&sum, (char *const *)prog->env,
				  count_words(prog->env), err);
	if (!r && prog->cwd && strlen(prog->cwd) >= PATH_MAX)
		r = error_set(err, -ENAMETOOLONG,
			      "a working directory of %zu bytes",
			      strlen(prog->cwd));
	for (size_t i = 0; i < prog->nr_files && !r; i++)
		if (strlen(prog->files[i].folder) >= PATH_MAX ||
		    strlen(prog->files[i].path) >= PATH_MAX)
			r = error_set(err, -ENAMETOOLONG,
				      "the name of a file to print to");
	return r;
}

static int fill_exec(const struct capsule_program *prog, struct request *req,
		     int *fds, struct error *err)
{
	if (!prog->argv || !prog->argv[0] || !prog->env)
		return error_set(err, -EINVAL, "no program given");
	if (prog->nr_files > 2 || prog->nr_limits > CAPSULE_RLIMITS)
		return error_set(err, -E2BIG, "too many files or limits");
	if (prog->nr_fds > REQUEST_FDS)
		return error_set(err, -E2BIG, "more than %d descriptors",
				 REQUEST_FDS);
	for (unsigned i = 0; i < prog->nr_fds; i++) {
		fds[i] = prog->fds[i].fd;
		req->as[i] = prog->fds[i].as;
	}
	req->type = REQUEST_EXEC;
	req->nr_fds = prog->nr_fds;
	req->ns_pid = prog->ns_pid;
	req->own_group = prog->own_group;
	req->nr_files = prog->nr_files;
	for (size_t i = 0; i < prog->nr_files; i++)
		req->file_as[i] = prog->files[i].as;
	req->nr_limits = prog->nr_limits;
	if (prog->nr_limits)
		memcpy(req->limits, prog->limits,
		       prog->nr_limits * sizeof(*prog->limits));
	req->umask = prog->umask;
	return check_texts(prog, err);
}

int capsule_exec(struct capsule *c, const struct capsule_program *prog,
		 pid_t *ret, struct error *err)
{
	int fds[MAX_FDS], r, news[2];
	struct request req = { 0 };
	fd_auto file = request_file(err);
	pid_t pid = 0;

	if (file < 0)
		return file;
	r = fill_exec(prog, &req, fds + 2, err);
	if (r < 0)
		return r;
	req.uid = c->uid;
	r = put_program(file, prog, &req);
	if (r < 0)
		return error_sys(err, r, "cannot hand over the arguments");
	if ((r = make_news(news, err)) < 0)
		return r;
	fds[0] = file;
	fds[1] = news[1];
	c->asked = true;
	/* Init answers when the program runs, or its process has given up. */
	r = request_call_for(c->patience, c->ctl, &req, fds, req.nr_fds + 2,
			     NULL, err);
	c->mute = r == -ETIMEDOUT;
	close(news[1]);
	if (c->mute)
		error_prefix(err, r, "the program does not start");
	if (!r)
		r = await_exec(news[0], c, &pid, err);
	close(news[0]);
	if (!r)
		*ret = pid;
	return r;
}

bool capsule_not_begun(const struct capsule *c)
{
	return !c->asked;
}

int capsule_spawn(struct capsule *c, capsule_entry *entry, const void *arg,
		  size_t n, const int *fds, size_t nr_fds, pid_t *ret,
		  struct error *err)
{
	struct request req = { .type = REQUEST_SPAWN, .entry = entry, .n = n };
	int all[MAX_FDS], pidfd = -1, r;
	fd_auto file = request_file(err);

	if (file < 0)
		return file;
	if (nr_fds > REQUEST_FDS)
		return error_set(err, -E2BIG, "more than %d descriptors",
				 REQUEST_FDS);
	r = io_write_full(file, arg, n);
	if (r < 0)
		return error_sys(err, r, "cannot hand over the argument");
	req.nr_fds = nr_fds;
	all[0] = file;
	if (nr_fds)
		memcpy(all + 1, fds, nr_fds * sizeof(int));
	r = request_call(c->ctl, &req, all, nr_fds + 1, &pidfd, err);
	if (!r)
		r = pid_of(pidfd, ret, err);
	io_close(&pidfd);
	return r;
}

int capsule_kill(struct capsule *c, pid_t ns_pid, int sig, struct error *err)
{
	struct request req = {
		.type = REQUEST_KILL,
		.ns_pid = ns_pid,
		.sig = sig,
	};

	if (ns_pid < 0 || ns_pid == 1)
		return error_set(err, -EINVAL, "no pid %d to signal", ns_pid);
	return request_call(c->ctl, &req, NULL, 0, NULL, err);
}

int capsule_next_event(struct capsule *c, struct capsule_event *ret)
{
	int r;

	if (c->gone_told)
		return 0;
	r = packet_receive(c->events, ret, sizeof(*ret), NULL, NULL,
			   MSG_DONTWAIT);
	if (r == -EAGAIN)
		return 0;
	if (r == -EPIPE || r == -ECONNRESET) {
		c->gone_told = true;
		*ret = (struct capsule_event){
			.what = CAPSULE_GONE,
			.at = clock_usec(CLOCK_REALTIME),
		};
		return 1;
	}
	return r < 0 ? r : 1;
}
