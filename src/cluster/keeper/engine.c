/*
 * engine.c - the engine as a child of the keeper, and the talk with it
 *
 * The engine inherits the keeper's memory, so ops that only touch the capsule
 * are done in the engine itself.  What needs the keeper's living state (quiet,
 * save, load) goes over a socket.  Notes are of one size; bytes travel in a
 * memfd.  An engine that dies or stops never blocks the keeper.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/keeper/priv.h"
#include "core/hurry.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

/* ---- bytes */

int keeper_bytes_to_fd(const void *p, size_t n)
{
	int fd = memfd_create("stint-state", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : io_write_full(fd, p, n);

	if (r < 0) {
		io_close(&fd);
		return r;
	}
	return fd;
}

int keeper_fd_to_bytes(int fd, uint8_t **ret, size_t *ret_n)
{
	struct stat st;
	uint8_t *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < 0 || st.st_size > 64 << 20)
		return -EFBIG;
	p = xmalloc((size_t)st.st_size + 1);
	if (pread(fd, p, (size_t)st.st_size, 0) != st.st_size) {
		free(p);
		return -EIO;
	}
	*ret = p;
	*ret_n = (size_t)st.st_size;
	return 0;
}

/* ---- notes */

int keeper_engine_say(int sock, const struct keeper_note *note, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = { 0 };
	struct iovec iov = { (void *)note, sizeof(*note) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		msg.msg_control = u.buf;
		msg.msg_controllen = sizeof(u.buf);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* 1 and a note (*ret_fd: what came along, or -1), 0 at the end, or -errno. */
static int hear(int sock, struct keeper_note *ret, int *ret_fd, int flags)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u;
	struct iovec iov = { ret, sizeof(*ret) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = u.buf,
			      .msg_controllen = sizeof(u.buf) };
	ssize_t n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	*ret_fd = -1;
	if (n <= 0)
		return n < 0 ? -errno : 0;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	if (n != sizeof(*ret)) {
		io_close(ret_fd);
		return -EPROTO;
	}
	ret->text[sizeof(ret->text) - 1] = '\0';
	return 1;
}

int keeper_engine_ask(int sock, struct keeper_note *note, int fd, int *ret_fd,
		      struct error *err)
{
	int r = keeper_engine_say(sock, note, fd), got = -1;

	if (!r)
		r = hear(sock, note, &got, 0);
	if (r <= 0)
		return error_set(err, -EPIPE, "the keeper does not answer");
	if (ret_fd && note->code >= 0)
		*ret_fd = got;
	else
		io_close(&got);
	return note->code < 0 ? error_set(err, note->code, "%s", note->text)
			      : 0;
}

/* In an engine and its watch (move/proc/watch.h), whose parent is another one. */
static pid_t engine_keeper;

void keeper_engine_hurry(bool on)
{
	if (on)
		hurry_begin(engine_keeper);
	else
		hurry_end(engine_keeper);
}

void keeper_engine_result(int sock, int code, const struct move_report *report,
			  const struct error *err)
{
	struct keeper_note note = { .word = WORD_RESULT, .code = code };

	note.report = *report;
	memcpy(note.text, err->text, sizeof(note.text));
	(void)!keeper_engine_say(sock, &note, -1);
}

/* ---- the keeper's side */

static void note_quiet(struct keeper *k)
{
	keeper_pmi_drain(&k->rank);
	k->rank.quiet = true;
	keeper_io_update(&k->rank);
}

static void note_loud(struct keeper *k)
{
	struct keeper_rank *rank = &k->rank;
	rank->quiet = false;
	if (rank->pmi)
		pmi_server_refence(rank->pmi);
	keeper_io_update(rank);
}

static void note_save(struct keeper *k, int *ret_fd, struct keeper_note *note)
{
	uint8_t *p;
	size_t n;

	keeper_save(&k->rank, &p, &n);
	*ret_fd = keeper_bytes_to_fd(p, n);
	note->code = *ret_fd < 0 ? *ret_fd : 0;
	free(p);
}

static void note_load(struct keeper *k, int fd, struct keeper_note *note)
{
	struct error err = ERROR_INIT;
	uint8_t *p;
	size_t n;

	note->code = fd < 0 ? -EPROTO : keeper_fd_to_bytes(fd, &p, &n);
	if (note->code < 0)
		return;
	note->code =
		k->rank.pmi ? -EALREADY : keeper_load(&k->rank, p, n, &err);
	memcpy(note->text, err.text, sizeof(note->text));
	free(p);
}

static void note_progress(struct keeper *k, const struct keeper_note *note)
{
	Keeper__MoveProgress mp = KEEPER__MOVE_PROGRESS__INIT;

	mp.epoch = k->move.epoch;
	mp.text = (char *)note->text;
	keeper_tell(k, 0, KEEPER__EVENT__BODY_MOVE_PROGRESS, &mp, false);
}

/* Deal with one note; true: it wants an answer, which it has become. */
static bool take_note(struct keeper *k, struct keeper_note *note, int fd,
		      int *ret_fd)
{
	struct keeper_move *m = &k->move;

	switch (note->word) {
	case WORD_QUIET:
		note_quiet(k);
		return true;
	case WORD_LOUD:
		note_loud(k);
		return false;
	case WORD_SAVE:
		note_save(k, ret_fd, note);
		return true;
	case WORD_LOAD:
		note_load(k, fd, note);
		return true;
	case WORD_HOLD_FD:
		io_close(&m->hold_fd);
		m->hold_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return true;
	case WORD_LANDED:
		m->landed = true;
		m->landed_pid = (pid_t)note->number;
		return true;
	case WORD_COMMITTED:
		m->committed = true;
		return true;
	case WORD_PROGRESS:
		note_progress(k, note);
		return false;
	case WORD_RESULT:
		m->have_result = true;
		m->report = note->report;
		m->code = note->code;
		memcpy(m->why.text, note->text, sizeof(note->text));
		return false;
	}
	log_warnx("engine said %u", note->word);
	return false;
}

static void hear_all(struct keeper *k)
{
	struct keeper_move *m = &k->move;
	struct keeper_note note;
	int r, fd, answer_fd;

	while ((r = hear(m->sock, &note, &fd, MSG_DONTWAIT)) > 0) {
		answer_fd = -1;
		note.code = note.word == WORD_RESULT ? note.code : 0;
		if (take_note(k, &note, fd, &answer_fd)) {
			note.word = WORD_DONE;
			(void)!keeper_engine_say(m->sock, &note, answer_fd);
		}
		io_close(&fd);
		io_close(&answer_fd);
	}
	if (r != -EAGAIN)
		m->source = sd_event_source_disable_unref(m->source);
}

static int on_note(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	hear_all(ctx);
	return 0;
}

void keeper_engine_close(struct keeper *k)
{
	struct keeper_move *m = &k->move;

	m->source = sd_event_source_disable_unref(m->source);
	m->child = sd_event_source_disable_unref(m->child);
	io_close(&m->sock);
}

static int on_engine_end(sd_event_source *src, const siginfo_t *si, void *ctx)
{
	struct keeper *k = ctx;
	struct keeper_move *m = &k->move;

	if (m->source)
		hear_all(k); /* its last words may still lie there */
	keeper_engine_close(k);
	m->pid = 0;
	hurry_end(0); /* it may have died before it could do that */
	if (!m->have_result) {
		memset(&m->report, 0, sizeof(m->report));
		m->code = -EIO;
		if (si->si_code == CLD_EXITED)
			error_set(&m->why, 0, "the engine ended with %d",
				  si->si_status);
		else
			error_set(&m->why, 0, "the engine was killed (%s)",
				  strsignal(si->si_status));
	}
	m->ended(k);
	keeper_maybe_exited(&k->rank);
	keeper_maybe_end(k);
	return 0;
}

/*
 * It runs where its rank may, and so on no processor that the host's owner keeps; and
 * takes a rank that may run wherever it may itself for one that is not bound.
 */
static void run_where_rank_may(const struct keeper_rank *rank)
{
	cpu_set_t cpus;

	if (rank->capsule && !sched_getaffinity(capsule_init_pid(rank->capsule),
						sizeof(cpus), &cpus))
		(void)!sched_setaffinity(0, sizeof(cpus), &cpus);
}

/*
 * The agent and the listener must not be held open by an engine that outlives
 * the keeper for a moment; the engine dies with the keeper.
 */
static void become_engine(struct keeper *k, pid_t keeper)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(1);
	engine_keeper = keeper;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	io_close(&k->agent.listen_fd);
	io_close(&k->agent.fd);
	run_where_rank_may(&k->rank);
}

int keeper_engine_fork(struct keeper *k,
		       void (*run)(struct keeper *k, int sock),
		       void (*ended)(struct keeper *k), struct error *err)
{
	struct keeper_move *m = &k->move;
	pid_t keeper = getpid();
	int sv[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return error_sys(err, -errno, "socketpair");
	m->ended = ended;
	m->have_result = m->cancelled = false;
	m->landed = m->committed = false;
	m->why.text[0] = '\0';
	m->pid = fork();
	if (m->pid < 0) {
		r = error_sys(err, -errno, "fork");
		m->pid = 0;
		close(sv[0]);
		close(sv[1]);
		return r;
	}
	if (!m->pid) {
		become_engine(k, keeper);
		close(sv[0]);
		run(k, sv[1]);
		_exit(0);
	}
	close(sv[1]);
	m->sock = sv[0];
	r = sd_event_add_child(k->event, &m->child, m->pid, WEXITED,
			       on_engine_end, k);
	if (r >= 0)
		r = sd_event_add_io(k->event, &m->source, m->sock, EPOLLIN,
				    on_note, k);
	if (r < 0)
		log_warn(r, "sd-event");
	return 0;
}

struct pace *keeper_pace(const struct keeper_rank *rank)
{
	char *path = pace_path(rank->id.run_dir);
	struct error err = ERROR_INIT;
	struct pace *pace = NULL;

	/* An owner's own rank is no guest. */
	if (!rank->owners && pace_open(path, &pace, &err) < 0)
		log_warnx("pace=any why=\"%s\"", err.text);
	free(path);
	return pace;
}

void keeper_engine_pace(const struct keeper *k, struct channel *ch,
			uint64_t there)
{
	channel_pace(ch, keeper_pace(&k->rank), there ? pace_own(there) : NULL);
}

void keeper_engine_kill(struct keeper *k)
{
	if (k->move.pid)
		kill(k->move.pid, SIGKILL);
}
