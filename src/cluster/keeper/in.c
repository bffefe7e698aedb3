/*
 * in.c - a rank lands: the listener, the destination's engine
 *
 * The keeper lets in whoever first proves that it holds this move's key,
 * however many strangers knock (conn/conn.h).  What the two say then may block it
 * for some seconds: it has no rank yet.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cluster/conn/conn.h"
#include "cluster/keeper/priv.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

static const usec_t handshake = 5 * USEC_PER_SEC;

enum { PATIENCE_MS = 30000 }; /* where RECEIVE does not say */

/* ---- in the engine */

struct in {
	struct keeper *k;
	int sock;
};

static struct channel *engine_channel; /* handed to the child by fork */

static int ask_keeper(struct in *i, uint32_t word, int64_t number, int fd,
		      struct error *err)
{
	struct keeper_note note = { .word = word, .number = number };

	return keeper_engine_ask(i->sock, &note, fd, NULL, err);
}

static int op_spawn(void *ctx, const void *arg, size_t n, const int *fds,
		    size_t nr_fds, struct error *err)
{
	struct in *i = ctx;
	int r = ask_keeper(i, WORD_HOLD_FD, 0, fds[0], err);
	pid_t helper;

	return r < 0 ? r
		     : capsule_spawn(i->k->rank.capsule, move_land, arg, n, fds,
				     nr_fds, &helper, err);
}

static int op_external(void *ctx, const char *name, int *ret_far,
		       struct error *err)
{
	struct in *i = ctx;
	int fd;

	for (int ext = 0; ext < EXT_MAX; ext++) {
		if (strcmp(keeper_end_name[ext], name))
			continue;
		fd = dup(i->k->rank.end[ext].near);
		if (fd < 0)
			return error_sys(err, -errno, "%s", name);
		*ret_far = dup(i->k->rank.end[ext].far);
		return fd;
	}
	return error_set(err, -ENOENT, "no '%s' here", name);
}

static void op_hurry(void *ctx, bool on)
{
	keeper_engine_hurry(on);
}

static int op_load(void *ctx, const void *p, size_t n, struct error *err)
{
	struct in *i = ctx;
	int fd = keeper_bytes_to_fd(p, n), r;

	if (fd < 0)
		return error_sys(err, fd, "memfd");
	r = ask_keeper(i, WORD_LOAD, 0, fd, err);
	close(fd);
	return r;
}

static int op_plug(void *ctx, struct error *err)
{
	struct in *i = ctx;

	return capsule_plug(i->k->rank.capsule, err);
}

static int op_landed(void *ctx, uint64_t epoch, pid_t pid, struct error *err)
{
	return ask_keeper(ctx, WORD_LANDED, pid, -1, err);
}

static int op_committed(void *ctx, uint64_t epoch, struct error *err)
{
	return ask_keeper(ctx, WORD_COMMITTED, 0, -1, err);
}

static const struct move_dest_ops dest_ops = {
	.spawn = op_spawn,
	.external = op_external,
	.hurry = op_hurry,
	.load = op_load,
	.plug = op_plug,
	.landed = op_landed,
	.committed = op_committed,
};

static void run_destination(struct keeper *k, int sock)
{
	struct in i = { .k = k, .sock = sock };
	char root[32];
	struct move_dest dst = {
		.root = root,
		.trees =
			capsule_own_dirs((const char *const *)k->rank.keep_tmp),
		.ops = &dest_ops,
		.ctx = &i,
	};
	struct move_report report = { .outcome = MOVE_ABORTED };
	struct error err = ERROR_INIT;
	int r;

	snprintf(root, sizeof(root), "/proc/%d/root",
		 capsule_init_pid(k->rank.capsule));
	keeper_engine_pace(k, engine_channel, 0);
	r = move_receive(&dst, engine_channel, &report, &err);
	keeper_engine_result(sock, r, &report, &err);
}

/* ---- in the keeper: how it ends */

static void stop_listening(struct keeper *k)
{
	k->landing.patience =
		sd_event_source_disable_unref(k->landing.patience);
	conn_server_destroy(k->landing.door);
	k->landing.door = NULL;
}

void keeper_in_close(struct keeper *k)
{
	stop_listening(k);
	io_close(&k->move.hold_fd);
	if (k->landing.receive)
		keeper__receive__free_unpacked(k->landing.receive, NULL);
	k->landing.receive = NULL;
}

static void discarded(struct keeper *k, const char *why)
{
	stop_listening(k);
	keeper_drop_capsule(&k->rank);
	for (int ext = 0; ext < EXT_MAX; ext++)
		keeper_end_close(&k->rank.end[ext]);
	k->rank.state = KEEPER__STATE__LEFT;
	keeper_tell_done(k, KEEPER__OUTCOME__DISCARDED, why);
	keeper_maybe_end(k);
}

/* Init's child of that pid inside, as seen from here; 0 if it has ended. */
static pid_t look_for_rank(struct keeper_rank *rank)
{
	pid_t init = capsule_init_pid(rank->capsule);
	char path[64], *text, *p, *end;
	long pid, found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", init, init);
	if (io_read_file(AT_FDCWD, path, 65536, &text) < 0)
		return 0;
	for (p = text; (pid = strtol(p, &end, 10)) > 0 && !found; p = end)
		if (move_pid_inside((pid_t)pid) == rank->k->move.landed_pid)
			found = pid;
	free(text);
	return (pid_t)found;
}

/*
 * The kernel's list of children can leave one out while another exits, as the
 * landing helper does just now.
 */
static pid_t find_rank(struct keeper_rank *rank)
{
	pid_t pid = look_for_rank(rank);

	for (int i = 0; i < 50 && !pid; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		pid = look_for_rank(rank);
	}
	return pid;
}

/* The rank runs here now. */
static void rank_runs(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	struct error err = ERROR_INIT;

	rank->pid = find_rank(rank);
	rank->state = KEEPER__STATE__RUNNING;
	rank->quiet = false;
	keeper_ease(rank, false);
	keeper_fast_path_begin(rank, false);
	if (!rank->pmi)
		keeper_end_close(&rank->end[EXT_PMI]);
	if (keeper_io_begin(rank, &err) < 0 || keeper_pmi_begin(rank, &err) < 0)
		log_warnx("rank=%u %s", k->rank.id.rank, err.text);
	keeper_tell_done(k, KEEPER__OUTCOME__LANDED,
			 k->move.report.flawed ? k->move.why.text : "");
	if (rank->pmi)
		pmi_server_refence(rank->pmi);
}

/* The engine died holding a copy that may run: do its last steps. */
static void release(struct keeper *k)
{
	struct error err = ERROR_INIT;

	if (capsule_plug(k->rank.capsule, &err) < 0)
		log_warnx("rank=%u %s", k->rank.id.rank, err.text);
	if (move_release(k->move.hold_fd, &err) < 0)
		log_warnx("rank=%u %s", k->rank.id.rank, err.text);
	rank_runs(k);
}

static void destination_ended(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	struct keeper_move *m = &k->move;
	bool undecided = m->have_result ? m->report.outcome == MOVE_UNDECIDED
					: m->landed;

	if (m->have_result && m->report.outcome == MOVE_DONE) {
		rank_runs(k);
		if (rank->ending) /* KILL came when it was no rank yet */
			keeper_kill_rank(rank);
	} else if (rank->ending) {
		discarded(k, "killed");
	} else if (m->committed && !m->have_result) {
		release(k);
	} else if (undecided) {
		rank->state = KEEPER__STATE__DOUBT;
		keeper_tell_doubt(k);
	} else {
		discarded(k, m->why.text);
	}
}

void keeper_in_verdict(struct keeper *k, bool at_destination)
{
	if (at_destination)
		release(k);
	else
		discarded(k, k->rank.ending ? "killed"
					    : "the source did not commit");
}

/* ---- in the keeper: how it begins */

/* The name gets into the capsule's /etc/hosts. */
#define HOSTNAME_CHARS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

static void keep_passport(struct keeper_rank *rank,
			  const Keeper__Passport *pass)
{
	rank->keep_tmp = xcalloc(pass->n_keep_tmp + 1, sizeof(*rank->keep_tmp));
	for (size_t i = 0; i < pass->n_keep_tmp; i++)
		rank->keep_tmp[i] = xstrdup(pass->keep_tmp[i]);
	if (*pass->hostname)
		rank->hostname = xstrdup(pass->hostname);
}

static int prepare_landing(struct keeper *k, const Keeper__Passport *pass,
			   struct error *err)
{
	struct keeper_rank *rank = &k->rank;
	const Keeper__Receive *rc = k->landing.receive;
	int r;

	if (pass->version != KEEPER__VERSION__MAJOR)
		return error_set(err, -EPROTO, "keeper of version %u, here %d",
				 pass->version, KEEPER__VERSION__MAJOR);
	if (strcmp(pass->job, k->rank.id.job) ||
	    pass->rank != k->rank.id.rank || pass->epoch != k->move.epoch)
		return error_set(err, -EINVAL, "rank %s.%u was not expected",
				 pass->job, pass->rank);
	rank->limits = (struct limits){ .memory = pass->memory_max,
					.pids = pass->pids_max,
					.cpus = pass->milli_cpus };
	r = limits_fit(&rank->limits, &k->terms, err);
	if (r < 0)
		return r;
	if (strlen(pass->hostname) > HOST_NAME_MAX ||
	    strspn(pass->hostname, HOSTNAME_CHARS) != strlen(pass->hostname))
		return error_set(err, -EINVAL, "its host name is invalid");
	keep_passport(rank, pass);
	r = keeper_make_ends(rank, true, (bool[2]){ false }, err);
	if (r < 0)
		return r;
	return keeper_make_capsule(rank, rc->capsule, rc->uid, rc->gid,
				   rc->groups, rc->n_groups, err);
}

/* The passport, then what we say to it; 0 when the engine may begin. */
static int welcome(struct keeper *k, struct channel *ch, struct error *err)
{
	Keeper__Welcome w = KEEPER__WELCOME__INIT;
	Keeper__Passport *pass;
	struct pace *pace;
	int r;

	pass = (Keeper__Passport *)keeper_recv_msg(
		ch, &keeper__passport__descriptor, err);
	if (!pass)
		return -EPROTO;
	r = prepare_landing(k, pass, err);
	keeper__passport__free_unpacked(pass, NULL);
	w.code = r;
	pace = r < 0 ? NULL : keeper_pace(&k->rank);
	w.rate = pace_rate(pace);
	pace_close(pace);
	w.why = r < 0 ? err->text : (char *)"";
	if (keeper_send_msg(ch, &w.base, r < 0 ? NULL : err) < 0 && !r)
		r = -EPIPE;
	return r;
}

static int begin_landing(struct keeper *k, struct channel *ch,
			 struct error *err)
{
	struct timeval limit = { .tv_sec = handshake / USEC_PER_SEC };
	struct timeval none = { 0 };
	int fd = channel_fd(ch), r;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	r = welcome(k, ch, err);
	if (r < 0)
		return r;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	engine_channel = ch;
	r = keeper_engine_fork(k, run_destination, destination_ended, err);
	engine_channel = NULL;
	keeper_close_near(&k->rank);
	return r;
}

static int find_move_key(void *ctx, const char *identity,
			 uint8_t secret[TLS_SECRET_SIZE])
{
	const struct keeper *k = ctx;

	if (strcmp(identity, k->move.key.identity))
		return -ENOENT;
	memcpy(secret, k->move.key.secret, TLS_SECRET_SIZE);
	return 0;
}

/* The source's keeper has come: from now on this keeper talks to no other. */
static void on_source(struct conn *c, void *ctx)
{
	struct error err = ERROR_INIT;
	struct keeper *k = ctx;
	struct channel *ch;
	struct tls *tls;
	int fd;

	tls = conn_take(c, &fd);
	stop_listening(k);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	ch = channel_from_tls(fd, tls);
	if (begin_landing(k, ch, &err) < 0) {
		channel_close(ch);
		keeper_close_near(&k->rank);
		discarded(k, err.text);
	} else {
		channel_abandon(ch);
	}
}

static const struct conn_ops source_ops = { .ready = on_source };

static int on_patience(sd_event_source *src, uint64_t now, void *ctx)
{
	discarded(ctx, "nobody came");
	return 0;
}

static int listen_on(struct keeper *k, const char *address, struct error *err)
{
	const struct conn_server_conf conf = {
		.ops = &source_ops,
		.ctx = k,
		.lookup = find_move_key,
		.max_strangers = 16,
		.max_conns = 32,
		.handshake_timeout = handshake,
	};
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t n = sizeof(sa);
	int fd, r;

	if (inet_pton(AF_INET, address, &sa.sin_addr) != 1)
		return error_set(err, -EINVAL, "'%s' is not an address",
				 address);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	move_prepare_socket(fd);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &n) < 0)
		r = error_sys(err, -errno, "cannot listen on %s", address);
	else
		r = conn_server_create(k->event, fd, &conf, &k->landing.door,
				       err);
	if (r < 0)
		io_close(&fd);
	else
		k->landing.port = ntohs(sa.sin_port);
	return r;
}

static int expect(struct keeper *k, const Keeper__Receive *rc,
		  struct error *err)
{
	uint64_t wait = rc->patience_ms ? rc->patience_ms : PATIENCE_MS;
	int r;

	if (k->rank.state != KEEPER__STATE__EMPTY || !k->first_epoch)
		return error_set(err, -EBUSY,
				 "this keeper was not made for a landing");
	if (rc->key.len != TLS_SECRET_SIZE || !rc->capsule ||
	    rc->epoch != k->first_epoch)
		return error_set(err, -EINVAL,
				 "RECEIVE lacks a key, a capsule or the epoch "
				 "it was started for");
	r = listen_on(k, rc->listen, err);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(k->event, &k->landing.patience,
				       CLOCK_MONOTONIC, wait * USEC_PER_MSEC,
				       10 * USEC_PER_MSEC, on_patience, k);
	return r < 0 ? error_sys(err, r, "sd-event") : 0;
}

static void tell_receiving(struct keeper *k, uint64_t re)
{
	Keeper__Receiving receiving = KEEPER__RECEIVING__INIT;

	receiving.epoch = k->first_epoch;
	receiving.port = k->landing.port;
	keeper_tell(k, re, KEEPER__EVENT__BODY_RECEIVING, &receiving, false);
}

void keeper_on_receive(struct keeper *k, const Keeper__Request *req)
{
	struct error err = ERROR_INIT;
	uint8_t *buf;
	size_t n;
	int r;

	/* A request that is repeated after a lost connection. */
	if (k->rank.state == KEEPER__STATE__RECEIVING &&
	    req->receive->epoch == k->first_epoch) {
		tell_receiving(k, req->id);
		return;
	}
	r = expect(k, req->receive, &err);
	if (r < 0) {
		stop_listening(k);
		keeper_answer_failed(k, req->id, r, &err);
		return;
	}
	/* The request goes away with this call; a copy stays. */
	buf = xmalloc(keeper__receive__get_packed_size(req->receive));
	n = keeper__receive__pack(req->receive, buf);
	k->landing.receive = keeper__receive__unpack(NULL, n, buf);
	free(buf);
	k->move.out = false;
	k->move.epoch = k->move.last_epoch = k->first_epoch;
	keeper_move_key(k, k->move.epoch, req->receive->key.data);
	k->rank.state = KEEPER__STATE__RECEIVING;
	k->rank.quiet = true;
	tell_receiving(k, req->id);
}
