/*
 * out.c - a rank leaves: the source's engine and what it asks for
 *
 * Who decides what became of the rank, when the engine cannot say: the record.
 * Without one the rank is ours and goes on; with one it is the other side's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cluster/keeper/priv.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

static const usec_t patience = 10 * USEC_PER_SEC; /* for the other keeper */
#define LEAVE_MOST (86400 * USEC_PER_SEC) /* a deadline beyond is none */

/* ---- in the engine */

struct out {
	struct keeper *k;
	int sock;
};

static int ask_keeper(struct out *o, uint32_t word, int *ret_fd,
		      struct error *err)
{
	struct keeper_note note = { .word = word };

	return keeper_engine_ask(o->sock, &note, -1, ret_fd, err);
}

static int op_unplug(void *ctx, struct error *err)
{
	struct out *o = ctx;
	int r = ask_keeper(o, WORD_QUIET, NULL, err);

	if (r < 0)
		return r;
	return capsule_unplug(o->k->rank.capsule, err);
}

static int op_replug(void *ctx, struct error *err)
{
	struct out *o = ctx;
	struct keeper_note note = { .word = WORD_LOUD };
	int r = capsule_plug(o->k->rank.capsule, err);

	(void)!keeper_engine_say(o->sock, &note, -1);
	return r;
}

static int op_hold(void *ctx, bool on, struct error *err)
{
	struct out *o = ctx;

	return on ? capsule_freeze(o->k->rank.capsule, err)
		  : capsule_thaw(o->k->rank.capsule, err);
}

static void op_hurry(void *ctx, bool on)
{
	keeper_engine_hurry(on);
}

static void op_stir(void *ctx, bool on)
{
	struct out *o = ctx;

	capsule_stir(o->k->rank.capsule, on);
}

static int op_save(void *ctx, void **ret, size_t *ret_n, struct error *err)
{
	uint8_t *p;
	int fd = -1, r;

	r = ask_keeper(ctx, WORD_SAVE, &fd, err);
	if (r < 0)
		return r;
	r = keeper_fd_to_bytes(fd, &p, ret_n);
	io_close(&fd);
	if (r < 0)
		return error_sys(err, r, "the keeper's state");
	*ret = p;
	return 0;
}

static int op_commit(void *ctx, uint64_t epoch, struct error *err)
{
	struct out *o = ctx;

	int r = keeper_record_write(&o->k->rank.id, epoch, o->k->move.to, err);

	/*
	 * The record is written; peers on this host shall find the rank's
	 * new place.
	 */
	if (!r && capsule_yield(o->k->rank.capsule, err) < 0)
		log_warnx("rank=%u %s", o->k->rank.id.rank, err->text);
	return r;
}

static void op_progress(void *ctx, const char *line)
{
	struct out *o = ctx;
	struct keeper_note note = { .word = WORD_PROGRESS };

	snprintf(note.text, sizeof(note.text), "%s", line);
	(void)!keeper_engine_say(o->sock, &note, -1);
}

static const struct move_source_ops source_ops = {
	.unplug = op_unplug,
	.replug = op_replug,
	.hold = op_hold,
	.hurry = op_hurry,
	.stir = op_stir,
	.save = op_save,
	.commit = op_commit,
};

/*
 * Send the other keeper the rank's passport; after its welcome its capsule is
 * ready.
 */
static int present(struct keeper *k, struct channel *ch, uint64_t *ret_rate,
		   struct error *err)
{
	struct keeper_rank *rank = &k->rank;
	Keeper__Passport pass = KEEPER__PASSPORT__INIT;
	Keeper__Welcome *w;
	int r;

	pass.version = KEEPER__VERSION__MAJOR;
	pass.job = (char *)k->rank.id.job;
	pass.rank = k->rank.id.rank;
	pass.epoch = k->move.epoch;
	pass.keep_tmp = rank->keep_tmp;
	while (rank->keep_tmp && rank->keep_tmp[pass.n_keep_tmp])
		pass.n_keep_tmp++;
	pass.memory_max = rank->limits.memory;
	pass.pids_max = rank->limits.pids;
	pass.milli_cpus = rank->limits.cpus;
	pass.hostname = rank->hostname ? rank->hostname : (char *)"";
	r = keeper_send_msg(ch, &pass.base, err);
	if (r < 0)
		return r;
	w = (Keeper__Welcome *)keeper_recv_msg(ch, &keeper__welcome__descriptor,
					       err);
	if (!w)
		return -EPROTO;
	*ret_rate = w->rate;
	if (w->code < 0)
		r = error_set(err, -ECANCELED, "the destination: %s", w->why);
	keeper__welcome__free_unpacked(w, NULL);
	return r;
}

/* address is "A.B.C.D:PORT". */
static int dial(const char *to, struct error *err)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	struct timeval tv = { .tv_sec = patience / USEC_PER_SEC };
	char host[64];
	unsigned port;
	int fd;

	if (sscanf(to, "%63[0-9.]:%u", host, &port) != 2 || port > 65535 ||
	    inet_pton(AF_INET, host, &sa.sin_addr) != 1)
		return error_set(err, -EINVAL, "'%s' is not an address", to);
	sa.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_sys(err, -errno, "socket");
	move_prepare_socket(fd);
	/* Bounds connect() and the passport; the engine sets its own. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int r = error_sys(err, -errno, "cannot reach %s", to);

		close(fd);
		return r;
	}
	return fd;
}

static int call(struct keeper *k, struct channel **ret, struct error *err)
{
	struct timeval none = { 0 };
	struct channel *ch;
	uint64_t rate;
	int fd, r;

	fd = dial(k->move.to, err);
	if (fd < 0)
		return fd;
	r = channel_tls_client(fd, &k->move.key, patience, &ch, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = present(k, ch, &rate, err);
	if (r < 0) {
		channel_close(ch);
		return r;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	keeper_engine_pace(k, ch, rate);
	*ret = ch;
	return 0;
}

static size_t externals(struct keeper_rank *rank, struct move_external *ext)
{
	size_t n = 0;

	for (int i = 0; i < EXT_MAX; i++) {
		if (!rank->end[i].ino)
			continue;
		ext[n] = (struct move_external){ .dev = rank->end[i].dev,
						 .ino = rank->end[i].ino };
		snprintf(ext[n].name, sizeof(ext[n].name), "%s",
			 keeper_end_name[i]);
		n++;
	}
	return n;
}

/* Till then: not 0, which is no deadline, if it has passed. */
static usec_t time_left(usec_t leave_by)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	return !leave_by ? 0 : leave_by > now ? leave_by - now : 1;
}

static void run_source(struct keeper *k, int sock)
{
	struct out o = { k, sock };
	struct move_external ext[EXT_MAX];
	struct move_source src = {
		.pid = k->rank.pid,
		.epoch = k->move.epoch,
		.budget = k->move.budget,
		.throttle = k->move.budget > 0,
		.external = ext,
		.nr_externals = externals(&k->rank, ext),
		.trees =
			capsule_own_dirs((const char *const *)k->rank.keep_tmp),
		.ops = &source_ops,
		.ctx = &o,
		.progress = op_progress,
	};
	struct move_report report = { .outcome = MOVE_ABORTED };
	struct error err = ERROR_INIT;
	struct channel *ch;
	int r;

	r = call(k, &ch, &err);
	src.deadline = time_left(k->move.leave_by);
	if (!r)
		r = move_send(&src, ch, &report, &err);
	keeper_engine_result(sock, r, &report, &err);
}

/* ---- in the keeper */

void keeper_on_migrate_cancel(struct keeper *k, const Keeper__Request *req)
{
	struct error err;

	if (!k->move.pid || !k->move.out ||
	    req->migrate_cancel->epoch != k->move.epoch) {
		keeper_answer_failed(
			k, req->id,
			error_set(&err, -ESRCH, "no such move is under way"),
			&err);
		return;
	}
	k->move.cancelled = true;
	/* An engine may die at any instant, so it may be killed now. */
	keeper_engine_kill(k);
	keeper_answer_ok(k, req->id);
}

static void gone(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	rank->state = KEEPER__STATE__LEFT;
	k->move.committed_epoch = k->move.epoch;
	if (rank->pid)
		keeper_usage(rank->pid, &rank->used_cpu, &rank->used_memory);
	capsule_hasten(rank->capsule);
	keeper_drop_capsule(rank);
	keeper_end_close(&rank->end[EXT_STDIN]);
	keeper_end_close(&rank->end[EXT_PMI]);
	keeper_tell_done(k, KEEPER__OUTCOME__GONE, "");
	keeper_io_update(rank);
}

/* An engine that died left the rank to us, as it was at any instant. */
static void mend(struct keeper_rank *rank)
{
	struct error err = ERROR_INIT;
	fd_auto pidfd = (int)syscall(SYS_pidfd_open, rank->pid, 0);

	move_calm(rank->pid);
	capsule_stir(rank->capsule, false);
	if ((pidfd >= 0 && move_heal(rank->pid, pidfd, &err) < 0) ||
	    capsule_thaw(rank->capsule, &err) < 0 ||
	    capsule_plug(rank->capsule, &err) < 0)
		log_warnx("rank=%u after a broken move: %s", rank->id.rank,
			  err.text);
}

static void stayed(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	/* who asked for the move knows of no process */
	const char *why = k->move.cancelled	   ? "cancelled"
			  : k->move.code == -ESRCH ? "the rank has ended"
						   : k->move.why.text;

	rank->state = KEEPER__STATE__RUNNING;
	rank->quiet = false;
	if (!k->move.have_result && !rank->have_exit)
		mend(rank);
	keeper_ease(rank, false);
	keeper_tell_done(k, KEEPER__OUTCOME__STAYED, why);
	if (rank->pmi)
		pmi_server_refence(rank->pmi);
	keeper_io_update(rank);
}

static void source_ended(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	struct keeper_move *m = &k->move;
	struct error err = ERROR_INIT;
	bool doubt = m->report.outcome == MOVE_UNDECIDED;

	/*
	 * The engine did not tell, and nobody can find out: the record may
	 * have been written.
	 */
	if (!m->have_result)
		doubt = keeper_record_read(&k->rank.id, m->epoch, &err) != 0;
	if (m->have_result && m->report.outcome == MOVE_DONE) {
		gone(k);
	} else if (doubt) {
		k->move.committed_epoch = m->epoch;
		rank->quiet = true;
		rank->state = KEEPER__STATE__DOUBT;
		keeper_io_update(rank);
		if (rank->ending)
			keeper_out_verdict(k, true);
		else
			keeper_tell_doubt(k);
	} else {
		stayed(k);
	}
}

void keeper_out_verdict(struct keeper *k, bool at_destination)
{
	struct keeper_rank *rank = &k->rank;
	if (at_destination) {
		gone(k);
		return;
	}
	/* The rank is lost: its connections were given away with the record. */
	k->move.committed_epoch = 0;
	keeper_record_remove(&k->rank.id, k->move.epoch);
	keeper_tell_done(k, KEEPER__OUTCOME__LOST,
			 "the destination lost it after the commit");
	rank->state = KEEPER__STATE__RUNNING;
	rank->have_exit = true;
	rank->exit.status = SIGKILL;
	rank->quiet = false;
	keeper_io_update(rank);
}

/* Why there is no rank here that could leave; 0: there is one. */
static int has_rank(const struct keeper_rank *rank, struct error *err)
{
	switch (rank->have_exit ? KEEPER__STATE__EXITED : rank->state) {
	case KEEPER__STATE__RUNNING:
	case KEEPER__STATE__SUSPENDED:
		return 0;
	case KEEPER__STATE__EXITED:
		return error_set(
			err, -ESRCH, "the rank has ended%s",
			rank->state == KEEPER__STATE__EXITED
				? ""
				: "; what it printed last is still to be read");
	case KEEPER__STATE__MOVING:
		return error_set(err, -EBUSY,
				 "another move of the rank is under way");
	case KEEPER__STATE__DOUBT:
		return error_set(
			err, -EBUSY,
			"where the rank is after its last move is not settled yet");
	case KEEPER__STATE__LEFT:
		return error_set(err, -ESRCH, "the rank has left this host");
	default:
		return error_set(err, -EBUSY, "the rank is not here yet");
	}
}

static usec_t leaves_by(uint64_t in)
{
	return in && in < LEAVE_MOST ? clock_usec(CLOCK_MONOTONIC) + (usec_t)in
				     : 0;
}

void keeper_on_migrate_out(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	const Keeper__MigrateOut *mo = req->migrate_out;
	struct keeper_move *m = &k->move;
	struct error err = ERROR_INIT;
	int r;

	/* A request that is repeated after a lost connection. */
	if (rank->state == KEEPER__STATE__MOVING && mo->epoch == m->epoch) {
		keeper_answer_ok(k, req->id);
		return;
	}
	r = has_rank(rank, &err);
	if (!r && mo->epoch <= k->move.last_epoch)
		r = error_set(&err, -EINVAL,
			      "epoch %" PRIu64 " was used before", mo->epoch);
	if (!r && mo->key.len != TLS_SECRET_SIZE)
		r = error_set(&err, -EINVAL, "a key has %d bytes",
			      TLS_SECRET_SIZE);
	/* A suspended rank could not be stopped once more; it lands running. */
	if (!r && rank->state == KEEPER__STATE__SUSPENDED)
		r = capsule_thaw(rank->capsule, &err);
	if (!r) {
		free(m->to);
		m->to = xasprintf("%s:%u", mo->address, mo->port);
		m->epoch = k->move.last_epoch = mo->epoch;
		m->out = true;
		m->budget = (usec_t)mo->budget_usec;
		m->leave_by = leaves_by(mo->leave_usec);
		keeper_move_key(k, mo->epoch, mo->key.data);
		keeper_ease(rank, true);
		r = keeper_engine_fork(k, run_source, source_ended, &err);
	}
	if (r < 0) {
		keeper_answer_failed(k, req->id, r, &err);
		return;
	}
	rank->state = KEEPER__STATE__MOVING;
	keeper_answer_ok(k, req->id);
}
