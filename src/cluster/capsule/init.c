/*
 * init.c - pid 1 of a capsule
 *
 * Forked from the keeper, it runs no program.  It makes the inside ready, then
 * starts processes as it is asked, reaps, and reports.  When the keeper has
 * died it ends everything: first SIGKILL to all, then thaw, so that a frozen
 * copy dies without running on.  It trusts the keeper's side of the sockets,
 * and nothing else has them.
 *
 * Programs have its uid, yet cannot touch it: they lack its capabilities, and a
 * signal from inside its pid namespace that it does not handle is dropped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "cluster/host/process.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/procstat.h"
#include "core/signals.h"
#include "core/units.h"
#include "core/xalloc.h"

/* Helpers get pids from here downwards, far from where programs get theirs. */
#define HELPER_PID 32000

struct init {
	const struct init_args *args;
	int signals;
	struct capsule_event *queue; /* ends not yet told */
	size_t nr_queue, cap_queue;
};

static _Noreturn void die(const struct init *init)
{
	const struct capsule_cgroup *cg = init->args->cg;

	kill(-1, SIGKILL);
	if (cg->state >= 0)
		(void)!cgroup_thaw(cg, NULL);
	_exit(0);
}

/* ---- reaping ---- */

static void flush_queue(struct init *init)
{
	size_t i;

	if (!init->nr_queue)
		return;
	for (i = 0; i < init->nr_queue; i++)
		if (send(init->args->events, &init->queue[i],
			 sizeof(init->queue[i]),
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	init->nr_queue -= i;
	memmove(init->queue, init->queue + i,
		init->nr_queue * sizeof(init->queue[0]));
}

static void reap(struct init *init)
{
	struct capsule_event e = { .what = CAPSULE_EXIT };
	struct signalfd_siginfo info;

	while (read(init->signals, &info, sizeof(info)) > 0)
		;
	while ((e.ns_pid = wait4(-1, &e.status, WNOHANG | __WALL, &e.usage)) >
	       0) {
		e.at = clock_usec(CLOCK_REALTIME);
		array_room(init->queue, init->nr_queue, &init->cap_queue);
		init->queue[init->nr_queue++] = e;
	}
}

/* ---- starting ---- */

/* A child with that pid inside (0: any); its pidfd in *ret_fd. */
static pid_t fork_as(pid_t ns_pid, int *ret_fd)
{
	pid_t tid[1] = { ns_pid };
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)ret_fd,
		.exit_signal = SIGCHLD,
		.set_tid = ns_pid ? (uintptr_t)tid : 0,
		.set_tid_size = ns_pid ? 1 : 0,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	return pid < 0 ? -errno : pid;
}

/*
 * The same in a user namespace of its own, whose ids only init can say: then it has to
 * look, as another uid's, like who may be looked at, for as long as it is one that nobody else has.
 */
static pid_t clone_into_own(const struct init *init, pid_t ns_pid, void *prog,
			    struct error *err)
{
	pid_t pid;
	int r;

	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	pid = lent_begin(ns_pid, CLONE_NEWUSER | CLONE_NEWIPC, program_main,
			 prog);
	r = pid < 0 ? error_sys(err, pid, "cannot start a process as pid %d",
				ns_pid)
		    : ids_map_program(pid, init->args->spec, err);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (pid < 0)
		return r;
	if (r < 0)
		kill(pid, SIGKILL);
	lent_finish();
	return r < 0 ? r : pid;
}

/*
 * What the child has of ours, with the environment of our agent, is not to be in a
 * core file, nor anybody's to trace.  If the keeper dies before we listen again, so do we:
 * nothing is frozen then.
 */
static int start_program(const struct init *init, const struct request *req,
			 char *text, const int *fds, struct error *err)
{
	bool lasting = init->args->lasting;
	struct program *prog = program_prepare(req, text, fds, init->args);
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	pid = lasting ? clone_into_own(init, req->ns_pid, prog, err)
		      : lent_run(req->ns_pid, program_main, prog);
	if (!lasting)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	program_free(prog);
	if (pid < 0 && !lasting)
		error_sys(err, pid, "cannot start a process as pid %d",
			  req->ns_pid);
	return pid < 0 ? pid : 0;
}

/* The helper: its descriptors, its argument, and nothing else of ours. */
static _Noreturn void helper_main(const struct init *init,
				  const struct request *req, const char *text,
				  const int *fds)
{
	char *arg = xmalloc(req->n + 1);
	int keep[REQUEST_FDS];
	sigset_t none;

	if (init->args->cg->join >= 0 &&
	    write(init->args->cg->join, "0", 1) < 0)
		_exit(126);
	memcpy(arg, text, req->n);
	memcpy(keep, fds, sizeof(keep));
	fds_keep(keep, req->nr_fds);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(req->entry(arg, req->n, keep, req->nr_fds));
}

static int start_helper(const struct init *init, const struct request *req,
			const char *text, const int *fds, int *ret_fd,
			struct error *err)
{
	pid_t pid = -EEXIST;

	for (pid_t try = HELPER_PID; pid == -EEXIST && try > HELPER_PID / 2;
	     try--)
		pid = fork_as(try, ret_fd);
	if (!pid)
		helper_main(init, req, text, fds);
	return pid < 0 ? error_sys(err, pid, "cannot start a helper") : 0;
}

/* ---- standing still, by signals ---- */

static bool is_stopped(const char *pid)
{
	struct procstat s;

	if (procstat_read((pid_t)strtol(pid, NULL, 10), &s) < 0)
		return true; /* it has just gone */
	return procstat_exiting(&s) || strchr("TtZX", s.state);
}

static bool all_stopped(void)
{
	bool stopped = true;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && stopped && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    strcmp(e->d_name, "1"))
			stopped = is_stopped(e->d_name);
	if (d)
		closedir(d);
	return d && stopped;
}

static bool await_stopped(int ms)
{
	while (!all_stopped()) {
		if (ms-- == 0)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	}
	return true;
}

/*
 * A parent in vfork() cannot stop before its child has gone on, which it does
 * not if it was stopped first: then all run for a moment, and it is tried
 * again.
 */
static int stop_all(struct error *err)
{
	for (int ms = 20; ms <= 200; ms += 20) {
		if (kill(-1, SIGSTOP) < 0 && errno != ESRCH)
			return error_sys(err, -errno,
					 "cannot stop the capsule");
		if (await_stopped(ms))
			return 0;
		kill(-1, SIGCONT);
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	}
	return error_set(err, -ETIMEDOUT,
			 "a process in the capsule does not stop");
}

/* ---- requests ---- */

static int send_signal(pid_t pid, int sig, struct error *err)
{
	if (kill(pid ? pid : -1, sig) < 0 && !(errno == ESRCH && !pid))
		return error_sys(err, -errno, "cannot signal pid %d", pid);
	return 0;
}

static int obey(struct init *init, const struct request *req, char *text,
		int *fds, int *ret_fd, struct error *err)
{
	switch (req->type) {
	case REQUEST_EXEC:
		return start_program(init, req, text, fds, err);
	case REQUEST_SPAWN:
		return init->args->lasting
			       ? error_set(err, -EOPNOTSUPP,
					   "nothing lands in this capsule")
			       : start_helper(init, req, text, fds + 1, ret_fd,
					      err);
	case REQUEST_KILL:
		return send_signal(req->ns_pid, req->sig, err);
	case REQUEST_STOP:
		return stop_all(err);
	case REQUEST_CONT:
		return send_signal(0, SIGCONT, err);
	case REQUEST_DIE:
		die(init);
	case REQUEST_CLEAN:
		init->nr_queue = 0; /* nobody asks for them any more */
		return renew_clean(init->signals, err);
	case REQUEST_RENEW:
		return renew_begin(init->args, req, text, fds + 1, err);
	}
	return error_set(err, -EBADMSG, "init knows no request %d", req->type);
}

/* The text of a packet of that length, perhaps mapped; NULL: there is something wrong. */
static char *find_text(struct request_packet *p, size_t len, const int *fds,
		       unsigned nr_fds)
{
	const struct request *req = &p->req;
	char *text;

	if (req->nr_fds > REQUEST_FDS ||
	    nr_fds != 1 + req->nr_fds + req->filed ||
	    len != sizeof(*req) + (req->filed ? 0 : req->n))
		return NULL;
	if (!req->filed || !req->n)
		return p->text;
	text = mmap(NULL, req->n, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    fds[nr_fds - 1], 0);
	return text == MAP_FAILED ? NULL : text;
}

static void answer_request(struct init *init, struct request_packet *p,
			   size_t len, int *fds, unsigned nr_fds)
{
	struct request *req = &p->req;
	bool by_ctl = req->type == REQUEST_RENEW || req->type == REQUEST_CLEAN;
	char *text = find_text(p, len, fds, nr_fds);
	struct answer answer = { 0 };
	int pidfd = -1;

	answer.code = text ? obey(init, req, text, fds, &pidfd, &answer.error)
			   : error_set(&answer.error, -EBADMSG,
				       "init got a request it does not "
				       "understand");
	if (text && text != p->text)
		munmap(text, req->n);
	/* If the requester has died, nobody needs the answer. */
	(void)!packet_send(by_ctl ? init->args->ctl : fds[0], &answer,
			   sizeof(answer), &pidfd, pidfd >= 0);
	io_close(&pidfd);
	/* Nobody waits for that. */
	if (req->type == REQUEST_CLEAN && !answer.code)
		renew_tidy();
}

static void serve(struct init *init)
{
	static struct request_packet p;
	int fds[REQUEST_FDS + 3];
	unsigned nr_fds = REQUEST_FDS + 3;
	ssize_t n = packet_receive_some(init->args->ctl, &p, sizeof(p), fds,
					&nr_fds, 0);

	if (n == -EPIPE)
		die(init);
	if (n >= (ssize_t)sizeof(p.req) && nr_fds)
		answer_request(init, &p, (size_t)n, fds, nr_fds);
	for (unsigned i = 0; i < nr_fds; i++)
		close(fds[i]);
}

static _Noreturn void serve_forever(struct init *init)
{
	struct pollfd p[] = {
		{ .fd = init->args->ctl, .events = POLLIN },
		{ .fd = init->signals, .events = POLLIN },
		{ .fd = init->args->keeper, .events = POLLIN },
		{ .fd = init->args->events },
	};

	for (;;) {
		p[3].events = init->nr_queue ? POLLOUT : 0;
		if (poll(p, 4, -1) < 0 && errno != EINTR)
			die(init);
		if (p[2].revents)
			die(init);
		if (p[1].revents)
			reap(init);
		if (p[0].revents)
			serve(init);
		flush_queue(init);
	}
}

/* ---- setting up ---- */

/*
 * Inherited by all that runs in the capsule: no exec gives any privilege, and
 * address spaces are the same everywhere, so that mappings can be made again.
 */
static int set_attributes(struct error *err)
{
	int old = personality(0xffffffff);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, -errno, "cannot set no_new_privs");
	if (old < 0 || personality(old | ADDR_NO_RANDOMIZE) < 0)
		return error_sys(err, -errno,
				 "cannot switch address randomization off");
	prctl(PR_SET_NAME, "stint-init", 0, 0, 0);
	return drop_bounding_set(err);
}

/* What the link needs; the keeper makes it while we go on. */
static int set_up_first(struct init *init, struct error *err)
{
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	init->signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init->signals < 0)
		return error_sys(err, -errno, "cannot listen to signals");
	setsid();
	return init->args->in_spare ? 0 : link_init_inside(err);
}

static int set_up(const struct init_args *args, struct error *err)
{
	const struct capsule_spec *spec = args->spec;
	const char *host = spec->hostname ? spec->hostname : spec->name;
	int r;

	if (sethostname(host, strlen(host)) < 0)
		return error_sys(err, -errno, "cannot set the host name %s",
				 host);
	if (args->lasting)
		renew_prepare();
	r = mount_all(spec, args->sysfs, args->lasting, err);
	if (r < 0)
		return r;
	if (chdir("/") < 0)
		return error_sys(err, -errno, "cannot enter /");
	return set_attributes(err);
}

static void tell_answer(const struct init_args *args,
			const struct answer *answer)
{
	if (packet_send(args->ctl, answer, sizeof(*answer), NULL, 0) < 0 ||
	    answer->code < 0)
		_exit(1);
}

void init_main(const struct init_args *args)
{
	struct init init = { .args = args };
	struct answer answer = { 0 };
	int keep[6 + 5] = { args->ctl,	    args->events,    args->keeper,
			    args->cg->join, args->cg->state, args->sysfs };
	unsigned nr_keep = 6;

	/*
	 * This holds until init polls the keeper's pidfd; up to then there
	 * is nothing here to thaw.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	signals_reset_all();
	signals_block_all();
	for (unsigned i = 0; args->lasting && i < args->cg->nr_whole; i++)
		keep[nr_keep++] = args->cg->doors[i];
	fds_keep(keep, nr_keep);
	answer.code = set_up_first(&init, &answer.error);
	if (answer.code < 0 || !args->in_spare)
		tell_answer(args, &answer);
	answer.code = set_up(args, &answer.error);
	if (args->sysfs >= 0)
		close(args->sysfs);
	tell_answer(args, &answer);
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	serve_forever(&init);
}
