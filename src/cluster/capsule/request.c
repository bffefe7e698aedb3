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

static int no_answer(int code, struct error *err)
{
	return error_sys(err, code == -EPIPE ? -ESRCH : code,
			 "the capsule's init does not answer");
}

int request_answer(int sock, struct error *err)
{
	struct answer answer;
	int r = packet_receive(sock, &answer, sizeof(answer), NULL, NULL, 0);

	if (r < 0)
		return no_answer(r, err);
	if (answer.code < 0 && err)
		*err = answer.error;
	return answer.code;
}

int request_call(int ctl, const struct request *req, const int *fds,
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
	if (!r)
		r = packet_receive(pair[0], &answer, sizeof(answer), got, &n,
				   0);
	close(pair[0]);
	if (r < 0)
		return no_answer(r, err);
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

/* ---- what is sent along ---- */

/* A file of it: a descriptor, or -errno. */
static int make_file(const void *text, size_t n, struct error *err)
{
	int fd = memfd_create("stint-request", MFD_CLOEXEC), r;

	if (fd < 0)
		return error_sys(err, -errno, "cannot make a memory file");
	r = io_write_full(fd, text, n);
	if (r < 0)
		close(fd);
	return r < 0 ? error_sys(err, r, "cannot hand over the arguments") : fd;
}

static int send_filed(int ctl, struct request *req, const char *text, int *fds,
		      unsigned nr_fds, struct error *err)
{
	fd_auto file = make_file(text, req->n, err);

	if (file < 0)
		return file;
	req->filed = true;
	fds[nr_fds] = file;
	return packet_send(ctl, req, sizeof(*req), fds, nr_fds + 1);
}

int request_send(int ctl, struct request *req, const char *text, size_t n,
		 int *fds, unsigned nr_fds, struct error *err)
{
	static struct request_packet p;
	int r;

	req->n = n;
	if (n > sizeof(p.text)) {
		r = send_filed(ctl, req, text, fds, nr_fds, err);
	} else {
		p.req = *req;
		memcpy(p.text, text, n);
		r = packet_send(ctl, &p, sizeof(p.req) + n, fds, nr_fds);
	}
	return r < 0 ? no_answer(r, err) : 0;
}

static void put_string(FILE *to, const char *s)
{
	fwrite(s, 1, strlen(s) + 1, to);
}

static char *put_program(const struct capsule_program *prog,
			 struct request *req, size_t *ret_n)
{
	char *text = NULL;
	FILE *to = xmemstream(&text, ret_n);

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
	return text;
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
 * The process says that it is there, and init that the program runs, or that its process
 * has given up; the socket closes then, or
 * when the process was killed, whose end init reports.  Before that the process may bring bad news.
 */
static int await_exec(int fd, struct capsule *c, pid_t *ret, struct error *err)
{
	union {
		struct answer answer;
		struct exec_failure bad;
	} word;
	bool answered = false;
	pid_t pid = 0;
	ssize_t n;

	for (;;) {
		int r = request_await(fd, c->patience, err);

		c->mute = r < 0 && !answered;
		if (r < 0)
			return error_prefix(err, r,
					    "the program does not start");
		n = hear_news(fd, &word, sizeof(word), &pid);
		if (n == 1)
			*ret = pid;
		else if (n != sizeof(word.answer) || word.answer.code < 0)
			break;
		answered |= n > 1;
	}
	if (!n && answered)
		return 0;
	if (n == sizeof(word.answer)) {
		if (err)
			*err = word.answer.error;
		return word.answer.code;
	}
	if (n != sizeof(word.bad))
		return no_answer(n < 0 ? (int)n : n ? -EBADMSG : -EPIPE, err);
	c->asked = false;
	word.bad.why.text[sizeof(word.bad.why.text) - 1] = 0;
	return error_set(err, word.bad.code, "%s", word.bad.why.text);
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
	char *text;
	size_t n;

	r = fill_exec(prog, &req, fds + 1, err);
	if (r < 0 || (r = make_news(news, err)) < 0)
		return r;
	req.uid = c->uid;
	fds[0] = news[1];
	c->asked = true;
	text = put_program(prog, &req, &n);
	r = request_send(c->ctl, &req, text, n, fds, req.nr_fds + 1, err);
	free(text);
	close(news[1]);
	if (!r) {
		*ret = 0;
		r = await_exec(news[0], c, ret, err);
	}
	close(news[0]);
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
	struct request req = {
		.type = REQUEST_SPAWN, .entry = entry, .n = n, .filed = true
	};
	int all[MAX_FDS], pidfd = -1, r;
	fd_auto file = make_file(arg, n, err);

	if (file < 0)
		return file;
	if (nr_fds > REQUEST_FDS)
		return error_set(err, -E2BIG, "more than %d descriptors",
				 REQUEST_FDS);
	req.nr_fds = nr_fds;
	if (nr_fds)
		memcpy(all, fds, nr_fds * sizeof(int));
	all[nr_fds] = file;
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
