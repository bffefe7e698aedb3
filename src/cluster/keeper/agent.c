/*
 * agent.c - the keeper's end of cluster/conn/keeper.proto
 *
 * Requests are a table; the order of events is that of keeper_tell().
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/keeper/priv.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

/* ---- what it is doing */

static void fill_status(struct keeper *k, Keeper__Status *st)
{
	struct keeper_rank *rank = &k->rank;
	bool waits;

	st->state = rank->state;
	st->pid = (uint32_t)rank->pid;
	st->epoch = k->move.last_epoch;
	st->committed = k->move.committed_epoch;
	st->stdin_offset = rank->io.in_offset;
	st->stdin_room = sizeof(rank->io.in) - rank->io.nr_in;
	st->stdout_offset = rank->io.out_offset[0];
	st->stderr_offset = rank->io.out_offset[1];
	st->unacked = keeper_queue_kept(k->agent.queue);
	st->signals = rank->signals;
	if (rank->pmi) {
		st->pmi = (Keeper__Phase)pmi_server_phase(rank->pmi);
		st->pmi_generation = pmi_server_generation(rank->pmi, &waits);
		st->pmi_waits = waits;
	}
	if (rank->pid)
		keeper_usage(rank->pid, &st->cpu_usec, &st->memory);
}

static void on_status(struct keeper *k, const Keeper__Request *req)
{
	Keeper__Status st = KEEPER__STATUS__INIT;

	fill_status(k, &st);
	keeper_tell(k, req->id, KEEPER__EVENT__BODY_STATUS, &st, false);
}

static void say_hello(struct keeper *k)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__Hello hello = KEEPER__HELLO__INIT;
	Keeper__Status st = KEEPER__STATUS__INIT;
	uint8_t buf[1024];
	size_t n;

	fill_status(k, &st);
	hello.version = KEEPER__VERSION__MAJOR;
	hello.job = (char *)k->rank.id.job;
	hello.rank = k->rank.id.rank;
	hello.pid = (uint32_t)getpid();
	hello.status = &st;
	ev.body_case = KEEPER__EVENT__BODY_HELLO;
	ev.hello = &hello;
	n = keeper__event__get_packed_size(&ev);
	if (n > sizeof(buf)) /* a job name is 32 bytes at most */
		return;
	keeper__event__pack(&ev, buf);
	/*
	 * Sent directly, not through the queue, which waits for the agent's
	 * HELLO.
	 */
	if (send(k->agent.fd, buf, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		keeper_hang_up(k);
}

/* ---- requests */

static void on_hello(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	struct error err;

	if (req->hello->version != KEEPER__VERSION__MAJOR) {
		log_warnx("agent speaks version %u, this keeper %d",
			  req->hello->version, KEEPER__VERSION__MAJOR);
		keeper_hang_up(k);
		return;
	}
	if (k->agent.ready) {
		keeper_answer_failed(
			k, req->id,
			error_set(&err, -EALREADY, "a second HELLO"), &err);
		return;
	}
	keeper_queue_restart(k->agent.queue, req->hello->acked);
	k->agent.ready = true;
	keeper_answer_ok(k, req->id);
	keeper_tell_doubt(k);
	if (rank->pmi && !rank->quiet)
		pmi_server_refence(rank->pmi);
	keeper_io_update(rank);
	keeper_maybe_end(k);
}

static void on_ack(struct keeper *k, const Keeper__Request *req)
{
	keeper_queue_ack(k->agent.queue, req->ack->seq);
	keeper_io_update(&k->rank);
	keeper_maybe_end(k);
}

static void on_signal(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	uint32_t signo = req->signal->signo;
	struct error err = ERROR_INIT;
	int r;

	if (!rank->pid || rank->have_exit)
		r = error_set(&err, -ESRCH, "no rank runs here");
	else if (rank->quiet)
		r = error_set(&err, -EAGAIN,
			      "the rank is just changing hosts; signal it "
			      "again where it is then");
	else if (!signo || signo > 64)
		r = error_set(&err, -EINVAL, "%u: no such signal", signo);
	else
		r = capsule_kill(rank->capsule, 0, (int)signo, &err);
	if (r < 0) {
		keeper_answer_failed(k, req->id, r, &err);
		return;
	}
	rank->signals = req->signal->number;
	keeper_answer_ok(k, req->id);
}

static void on_kill(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	keeper_answer_ok(k, req->id);
	if (!rank->ending)
		rank->ending_at = clock_usec(CLOCK_REALTIME);
	rank->ending = true;
	if (k->move.pid)
		keeper_engine_kill(k);
	if (rank->state == KEEPER__STATE__DOUBT)
		keeper_end_doubt(k);
	else if (rank->capsule && rank->pid && !rank->have_exit)
		keeper_kill_rank(rank);
	if (rank->state == KEEPER__STATE__SUSPENDED)
		(void)!capsule_thaw(rank->capsule, NULL);
	keeper_maybe_end(k);
}

static void on_suspend(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	bool on = req->suspend->on;
	Keeper__State from =
		on ? KEEPER__STATE__RUNNING : KEEPER__STATE__SUSPENDED;
	Keeper__State to =
		on ? KEEPER__STATE__SUSPENDED : KEEPER__STATE__RUNNING;
	struct error err = ERROR_INIT;
	int r = 0;

	if (rank->state == to) {
		keeper_answer_ok(k, req->id);
		return;
	}
	if (rank->state != from)
		r = error_set(&err, -EBUSY, "the rank is not %s",
			      on ? "running" : "suspended");
	else
		r = on ? capsule_freeze(rank->capsule, &err)
		       : capsule_thaw(rank->capsule, &err);
	if (r < 0) {
		keeper_answer_failed(k, req->id, r, &err);
		return;
	}
	rank->state = to;
	keeper_answer_ok(k, req->id);
}

static const struct {
	Keeper__Request__BodyCase body;
	void (*run)(struct keeper *k, const Keeper__Request *req);
} requests[] = {
	{ KEEPER__REQUEST__BODY_HELLO, on_hello },
	{ KEEPER__REQUEST__BODY_ACK, on_ack },
	{ KEEPER__REQUEST__BODY_START, keeper_on_start },
	{ KEEPER__REQUEST__BODY_STDIN_DATA, keeper_on_stdin },
	{ KEEPER__REQUEST__BODY_SIGNAL, on_signal },
	{ KEEPER__REQUEST__BODY_KILL, on_kill },
	{ KEEPER__REQUEST__BODY_STATUS, on_status },
	{ KEEPER__REQUEST__BODY_PMI_RELEASE, keeper_on_pmi_release },
	{ KEEPER__REQUEST__BODY_RECEIVE, keeper_on_receive },
	{ KEEPER__REQUEST__BODY_MIGRATE_OUT, keeper_on_migrate_out },
	{ KEEPER__REQUEST__BODY_MIGRATE_CANCEL, keeper_on_migrate_cancel },
	{ KEEPER__REQUEST__BODY_VERDICT, keeper_on_verdict },
	{ KEEPER__REQUEST__BODY_SUSPEND, on_suspend },
};

static void dispatch(struct keeper *k, const Keeper__Request *req)
{
	struct error err;

	if (!k->agent.ready && req->body_case != KEEPER__REQUEST__BODY_HELLO) {
		log_warnx("the agent's first message is not HELLO");
		keeper_hang_up(k);
		return;
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (requests[i].body == req->body_case) {
			requests[i].run(k, req);
			return;
		}
	keeper_answer_failed(k, req->id,
			     error_set(&err, -EOPNOTSUPP,
				       "no such request in version %d",
				       KEEPER__VERSION__MAJOR),
			     &err);
}

/* One packet; false when there is no more now. */
static bool receive_one(struct keeper *k)
{
	static uint8_t buf[KEEPER_MSG_MAX];
	ssize_t n =
		recv(k->agent.fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_TRUNC);
	Keeper__Request *req;

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0 || (size_t)n > sizeof(buf)) {
		keeper_hang_up(k);
		return false;
	}
	req = keeper__request__unpack(NULL, (size_t)n, buf);
	if (!req) {
		log_warnx("agent sent %zd bytes that are not a request", n);
		keeper_hang_up(k);
		return false;
	}
	dispatch(k, req);
	keeper__request__free_unpacked(req, NULL);
	return k->agent.fd >= 0;
}

static int on_agent(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper *k = ctx;

	if (events & EPOLLOUT)
		keeper_flush(k);
	else
		receive_one(k);
	return 0;
}

/* ---- connections */

static bool peer_allowed(int fd)
{
	struct ucred cred;

	return !io_peer_cred(fd, &cred) &&
	       (cred.uid == 0 || cred.uid == geteuid());
}

/* Takes the descriptor of a connection to our agent. */
static int take_agent(struct keeper *k, int sock)
{
	int size = 2 * KEEPER_MSG_MAX, r;
	fd_auto new = sock;

	if (k->agent.fd >= 0)
		keeper_hang_up(k);
	keeper_forget_start(&k->rank);
	setsockopt(new, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	r = sd_event_add_io(k->event, &k->agent.source, new, EPOLLIN, on_agent,
			    k);
	if (r < 0)
		return r;
	k->agent.fd = new;
	new = -1;
	k->agent.lonely = sd_event_source_disable_unref(k->agent.lonely);
	say_hello(k);
	return 0;
}

static int on_connection(sd_event_source *src, int fd, uint32_t events,
			 void *ctx)
{
	int new = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (new >= 0 && peer_allowed(new))
		(void)!take_agent(ctx, new);
	else
		io_close(&new);
	return 0;
}

/* A socket file whose keeper is dead refuses connections; take its place. */
static int bind_path(int fd, const struct sockaddr_un *sa, struct error *err)
{
	fd_auto probe = -1;

	if (!bind(fd, (const struct sockaddr *)sa, sizeof(*sa)))
		return 0;
	if (errno != EADDRINUSE)
		return error_sys(err, -errno, "%s", sa->sun_path);
	probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (probe >= 0 &&
	    connect(probe, (const struct sockaddr *)sa, sizeof(*sa)) < 0 &&
	    errno == ECONNREFUSED && !unlink(sa->sun_path) &&
	    !bind(fd, (const struct sockaddr *)sa, sizeof(*sa)))
		return 0;
	return error_set(err, -EADDRINUSE,
			 "%s: another keeper of this rank runs here",
			 sa->sun_path);
}

int keeper_agent_open(struct keeper *k, struct error *err)
{
	const struct keeper_id *id = &k->rank.id;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char *dir = xasprintf("%s/keepers", id->run_dir);
	int n, r;

	k->agent.fd = -1;
	mkdir(dir, 0700); /* may be there */
	free(dir);
	n = snprintf(sa.sun_path, sizeof(sa.sun_path),
		     "%s/keepers/%s.%u.%" PRIu64 ".sock", id->run_dir, id->job,
		     id->rank, k->first_epoch);
	if (n < 0 || (size_t)n >= sizeof(sa.sun_path))
		return error_set(err, -ENAMETOOLONG,
				 "%s: too long for a socket; choose a shorter "
				 "run directory",
				 id->run_dir);
	k->agent.listen_fd = socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->agent.listen_fd < 0)
		return error_sys(err, -errno, "socket");
	r = bind_path(k->agent.listen_fd, &sa, err);
	if (r < 0)
		return r;
	k->agent.path = xstrdup(sa.sun_path);
	if (chmod(sa.sun_path, 0600) < 0 || listen(k->agent.listen_fd, 4) < 0)
		return error_sys(err, -errno, "%s", sa.sun_path);
	r = sd_event_add_io(k->event, &k->agent.listen_source,
			    k->agent.listen_fd, EPOLLIN, on_connection, k);
	keeper_watch_loneliness(k);
	return r < 0 ? error_sys(err, r, "sd-event") : 0;
}

static bool takes_packets(int fd)
{
	int type;
	socklen_t n = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) &&
	       type == SOCK_SEQPACKET;
}

/*
 * Its number stays taken, so that a nursery can use it again: by what is open in any
 * case, since the agent hears of our end by the end of the socket.
 */
int keeper_agent_ready(struct keeper *k, int fd, struct error *err)
{
	int sock, r;

	if (fd < 0)
		return 0;
	if (!takes_packets(fd)) {
		(void)!io_write_full(fd, "\n", 1);
		return 0;
	}
	sock = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
	if (sock < 0 || dup2(STDERR_FILENO, fd) < 0) {
		r = -errno;
		io_close(&sock);
	} else {
		r = take_agent(k, sock);
	}
	return r < 0 ? error_sys(err, r, "cannot speak to the agent") : 0;
}

void keeper_agent_close(struct keeper *k)
{
	if (k->agent.path)
		unlink(k->agent.path);
	/* Then the agent knows that we do not come back. */
	keeper_hang_up(k);
	sd_event_source_disable_unref(k->agent.lonely);
	sd_event_source_unref(k->agent.listen_source);
	io_close(&k->agent.listen_fd);
	free(k->agent.path);
}
