/*
 * send.c - the source's side of a move
 *
 * One function for each phase, in the order of the protocol (wire/frame.h). Whatever
 * fails before the record is written leads to send_undo(), after which the process runs
 * on as if nothing had happened.
 */
#include "move/send/send.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "move/check/check.h"
#include "move/check/hello.h"
#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/handover.h"
#include "move/send/precopy.h"
#include "move/send/recheck.h"
#include "move/send/throttle.h"
#include "move/send/track.h"
#include "move/state/capture.h"
#include "move/tracee/cpuclock.h"
#include "move/wire/fault.h"

#define FIRST_LOOK    (1 * USEC_PER_SEC)    /* for the very first check */
#define SOON	      (250 * USEC_PER_MSEC) /* for what the destination lacks */
#define SHORTLY	      (10 * USEC_PER_MSEC)  /* for the check before a freeze */
#define QUICKLY	      (10 * USEC_PER_MSEC)  /* of a good answer with clocks */
#define ASK_MOST      4
#define PAUSE	      (2 * USEC_PER_MSEC) /* between two checks */
#define THREADS_LEAST 64		  /* room in the landing area */

static bool may_pass(int r)
{
	return r == -EAGAIN || r == -ENOTSUP;
}

/*
 * Check whether the process may move, again and again until it may or the time `end`
 * has come.  What is in the way may pass: a child that runs for a moment, a deleted
 * file that is open for a moment (SQLite's journal), a connection that is being made.
 */
static int check_until(struct sending *s, usec_t end, struct error *err)
{
	const struct move_source *src = s->src;
	int r;

	s->common.new_objects = false;
	while ((r = check_process(src->pid, src->external, src->nr_externals,
				  s->common.trees, &s->process.seen, err)) <
		       0 &&
	       may_pass(r) && send_now() < end)
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE * 1000 }, NULL);
	return r;
}

/*
 * Open a pidfd of the process and what else is needed, and check whether it may move at
 * all.
 */
static int send_check(struct sending *s, struct error *err)
{
	const struct move_source *src = s->src;
	struct error why;
	int t = tree_open(src->pid, src->trees, &s->common.trees, &why);
	int r = check_until(s, send_now() + FIRST_LOOK, err);

	if (!r && t < 0)
		*err = why;
	if (r < 0 || t < 0)
		return r < 0 ? r : t;
	r = send_process_open(&s->process, s->src, s->watch, s->ch, err);
	return r < 0 ? r : move_fault(MF_SOURCE_CHECKED, err);
}

/*
 * A file that the destination lacks may just have been deleted here, or will be soon:
 * ask again.  A process that opens new files all the time is not refused for that,
 * because the files that are open at the freeze are checked once more.
 */
static int settle_hello(struct sending *s, Move__Hello **ret, struct error *err)
{
	usec_t end = send_now() + SOON;
	Move__Hello *h = NULL;
	int r = hello_ask(s, &h, err);

	while ((r < 0 ? may_pass(r) : *h->lack) && send_now() < end) {
		if (!r)
			move__hello__free_unpacked(h, NULL);
		r = check_until(s, end, err);
		if (!r)
			r = hello_ask(s, &h, err);
	}
	if (r < 0)
		return r;
	if (*h->lack &&
	    (!*h->lack_file ||
	     hello_stays(&s->common, s->process.pid, h->lack_file))) {
		r = error_set(err, -ENOTSUP, "%s", h->lack);
		move__hello__free_unpacked(h, NULL);
		return r;
	}
	*ret = h;
	return 0;
}

/*
 * A busy host may read its clocks long before it sends them, or this one may wake up
 * late. So after a slow answer ask again: the answer with the youngest clocks counts.
 */
static int ask_clocks(struct sending *s, Move__Hello **ret, struct error *err)
{
	struct clocks c, *best = &s->common.clocks;
	Move__Hello *h = NULL;
	usec_t asked;
	bool guessed;
	int r, n = 0;

	do {
		if (h)
			move__hello__free_unpacked(h, NULL);
		h = NULL;
		asked = send_now();
		r = settle_hello(s, &h, err);
		if (r < 0)
			return r;
		guessed = hello_clocks(&s->process, h, &c);
		if (!n || c.monotonic < best->monotonic)
			best->monotonic = c.monotonic;
		if (!n || c.boottime < best->boottime)
			best->boottime = c.boottime;
	} while (guessed && send_now() - asked > QUICKLY && ++n < ASK_MOST);
	*ret = h;
	return 0;
}

static int send_hello(struct sending *s, struct error *err)
{
	Move__Hello *h = NULL;
	bool other_vdso;
	int r = ask_clocks(s, &h, err);

	if (r < 0)
		return r;
	other_vdso = hello_other_vdso(s->common.hello, h);
	if (h->cpus.len == sizeof(s->there.cpus))
		memcpy(&s->there.cpus, h->cpus.data, sizeof(s->there.cpus));
	s->there.nodes = h->nodes;
	h->nodes = (ProtobufCBinaryData){ 0 };
	move__hello__free_unpacked(h, NULL);
	if (other_vdso) {
		s->process.tracee->leave_vdso = s->process.tracee->lose_vdso =
			true;
		send_progress(
			s->src,
			"the kernels differ: calls of the vdso become system calls");
	}
	s->process.tracee->clock_shift = clocks_shift(s->process.pid);
	return move_fault(MF_SOURCE_HELLO, err);
}

/* Make the landing area, with room for threads that are made during the move. */
static int prepare_area(struct send_process *p, struct error *err)
{
	struct proc_status st;
	int r = proc_read_status(p->pid, &st, err);
	size_t n = THREADS_LEAST;

	if (!r && 2 * st.threads > n)
		n = 2 * st.threads;
	return r < 0 ? r : tracee_map_area(p->tracee, n, err);
}

/*
 * Report how many CPU-time clocks will begin at 0 at the destination, as far as is
 * known now.
 */
static void tell_cpu_clocks(const struct move_source *src,
			    const struct send_process *p)
{
	size_t room = cpuclock_room(p->pid, p->state);
	struct proc_status st;
	struct error err;

	if (!room)
		send_progress(
			src,
			"its CPU clocks begin at 0 there: this kernel's vdso has no place to add to them");
	else if (proc_read_status(p->pid, &st, &err) == 0 &&
		 (size_t)st.threads >= room)
		send_progress(
			src,
			"the CPU clocks of %zu threads begin at 0 there: the vdso has room for %zu",
			(size_t)st.threads + 1 - room, room - 1);
}

static int send_setup(struct sending *s, struct error *err)
{
	struct send_process *p = &s->process;
	struct error why;
	usec_t start;
	int r;

	p->track = track_create(p, &s->common, s->ch);
	r = capture_static(p->pid, &p->state, err);
	if (r < 0)
		return r;
	tracee_look(p->tracee);
	start = send_now();
	r = check_stop_leader(p->tracee, err);
	if (!r)
		r = check_dispatch(p->tracee, err);
	if (!r)
		r = prepare_area(p, err);
	if (!r)
		r = check_asked(p->tracee, err);
	p->queued = tracee_count_signals(p->pid);
	if (!r)
		r = track_start(p->track, fds_reads_direct(s->common.fds), &why,
				err);
	s->report->tracked = track_follows(p->track);
	if (!r && !s->report->tracked)
		send_progress(s->src, "stop-and-copy: %s", why.text);
	if (s->report->tracked)
		fds_forbid_direct(s->common.fds);
	tracee_resume(p->tracee);
	s->report->paused = send_now() - start;
	if (!r)
		tell_cpu_clocks(s->src, p);
	return r;
}

/*
 * Rounds and checks until nothing is in the way and little is left to send.  A program
 * that starts one child after another is without a child for moments only: wait for
 * such a moment after each round.
 */
static int send_wait(struct sending *s, usec_t end, struct error *err)
{
	int r, lacks;

	do {
		if (precopy_lacks(s, err) < 0)
			nanosleep(&(struct timespec){ .tv_nsec = PAUSE * 1000 },
				  NULL);
		r = check_until(s, end, err);
		if (!r && (r = precopy_again(s, err)) < 0)
			return r;
		if ((lacks = precopy_lacks(s, err)) < 0)
			r = lacks;
		else if (!r)
			r = check_until(s, send_now() + SHORTLY, err);
	} while (r < 0 && may_pass(r) && send_now() < end);
	return r;
}

/* Nothing was in the way when the move began, so what is now may pass again. */
static int send_freeze(struct sending *s, struct error *err)
{
	usec_t end = send_now() + CHECK_PATIENCE;
	int r;

	while ((r = freeze_send(s, err)) < 0 && may_pass(r) && !s->told &&
	       send_now() < end) {
		freeze_undo(s);
		s->report->retries++;
		s->report->stalled += send_now() - s->frozen;
		s->halted = 0;
		send_progress(s->src, "not yet: %s", err->text);
		r = send_wait(s, end, err);
		if (r < 0)
			return r;
	}
	return r;
}

/*
 * Check again, so that what has changed since the first check is found before the
 * freeze.  A process that is slowed down is checked while it stands still.
 */
static int send_last(struct sending *s, struct error *err)
{
	int r = 0;

	if (!s->throttle)
		r = check_until(s, send_now() + CHECK_PATIENCE, err);
	return r < 0 ? r : precopy_last(s, err);
}

static int send_hold(struct sending *s, bool on, struct error *err)
{
	int r = 0;

	if (s->src->ops && s->src->ops->hold)
		r = s->src->ops->hold(s->src->ctx, on, err);
	else if (kill(s->process.pid, on ? SIGSTOP : SIGCONT) < 0)
		r = error_sys(err, -errno, "stopping process %d",
			      s->process.pid);
	if (!r)
		s->held = on;
	if (!r)
		watch_note(s->watch, on ? SEND_HELD : 0);
	return r;
}

/*
 * The point of no return.  Before the record is written, the process is held by
 * something that outlives this engine, so that it cannot run on after the record,
 * whoever dies.
 */
static int send_record(struct sending *s, struct error *err)
{
	const struct move_source_ops *ops = s->src->ops;
	int r = send_hold(s, true, err);

	if (!r)
		r = move_fault(MF_SOURCE_HELD, err);
	/*
	 * The destination may have died just after READY: look once more before
	 * the record is written.
	 */
	if (!r && channel_hung_up(s->ch))
		r = error_set(err, -EPIPE,
			      "the destination died at the end of the move");
	if (r < 0)
		return r;
	watch_note(s->watch, SEND_DECIDES);
	/* writing to a disk may take long */
	watch_waits(s->watch, true);
	if (ops && ops->commit)
		r = ops->commit(s->src->ctx, s->src->epoch, err);
	watch_waits(s->watch, false);
	if (r < 0)
		watch_note(s->watch, SEND_HELD);
	s->recorded = !r;
	return r;
}

static int send_commit(struct sending *s, struct error *err)
{
	uint64_t epoch = s->src->epoch;
	usec_t sent = send_now(), ready;
	struct error late;
	int r;

	s->process.handover = handover_create(s->process.tracee, s->ch,
					      &s->frame.beats, s->common.fds);
	r = handover_run(s->process.handover, err);
	if (!r)
		r = frame_expect_u64(s->ch, &s->frame, FRAME_READY, epoch, err);
	ready = send_now();
	if (!r)
		r = move_fault(MF_SOURCE_READY, err);
	if (!r)
		r = send_record(s, err);
	if (r < 0)
		return r;
	r = move_fault(MF_SOURCE_RECORDED, err);
	if (fds_finish(s->common.fds, &late) < 0)
		send_progress(s->src, "%s", late.text);
	if (!r)
		r = frame_send_u64(s->ch, FRAME_COMMIT, epoch, err);
	send_unwatched(s);
	if (!r)
		r = move_fault(MF_SOURCE_COMMITTED, err);
	if (!r)
		r = frame_expect_u64(s->ch, &s->frame, FRAME_RUNNING, epoch,
				     err);
	s->report->restore = ready - sent;
	s->report->commit = send_now() - ready;
	return r < 0 ? r : move_fault(MF_SOURCE_RUNNING, err);
}

/* The copy runs at the destination: end the process here. */
static void send_finish(struct sending *s)
{
	s->report->outcome = MOVE_DONE;
	s->report->downtime = send_now() - s->frozen;
	s->report->total = send_now() - s->started;
	s->report->pages_sent = page_sender_count(s->process.pages);
	s->report->threads = (unsigned)s->process.tracee->nr;
	send_process_end(&s->process);
}

/* If the connection broke, the destination may have said why before. */
static int last_words(struct sending *s, int r, struct error *err)
{
	struct error why;
	int k = 0;

	if (r != -EPIPE && r != -ECONNRESET)
		return r;
	while (k == 0)
		k = frame_recv(s->ch, &s->frame, &why);
	if (k != -ECANCELED)
		return r;
	*err = why;
	return k;
}

/* Find out whether the move failed because the process has exited. */
static int explain_failure(struct sending *s, int r, struct error *err)
{
	struct error why;
	int gone = s->process.pages ? recheck_running(&s->process, &why)
				    : proc_running(s->process.pid, &why);

	if (gone < 0)
		*err = why;
	/* by -ESRCH callers know that the process has exited */
	return gone < 0 ? gone : last_words(s, r == -ESRCH ? -EIO : r, err);
}

static void send_undo(struct sending *s, const char *why)
{
	struct error err;

	if (s->held && send_hold(s, false, &err) < 0)
		send_progress(s->src, "%s", err.text);
	if (!handover_undo(s->process.handover, why))
		send_progress(
			s->src,
			"the process waits for its lock by fcntl(F_SETLK), which somebody else has by now");
	freeze_undo(s);
	s->report->outcome = MOVE_ABORTED;
}

static void sending_clear(struct sending *s)
{
	throttle_destroy(s->throttle);
	ahead_destroy(s->ahead);
	precopy_destroy(s->precopy);
	fds_source_destroy(s->common.fds);
	tree_close(s->common.trees);
	send_process_clear(&s->process, s->recorded);
	move__hello__free_unpacked(s->common.hello, NULL);
	free(s->common.left.object);
	free(s->there.nodes.data);
	watch_stop(s->watch);
	frame_clear(&s->frame);
	channel_close(s->ch);
}

int move_send(const struct move_source *src, struct channel *ch,
	      struct move_report *ret, struct error *err)
{
	struct sending s = {
		.src = src,
		.ch = ch,
		.report = ret,
		.process = { .pid = src->pid, .pidfd = -1 },
		.ahead = ahead_create(),
		.precopy = precopy_create(),
	};
	int r;

	*ret = (struct move_report){ 0 };
	s.started = send_now();
	s.deadline = src->deadline ? s.started + src->deadline : 0;
	frame_set_link(ch);
	r = send_watch(&s, err);
	if (!r)
		r = send_check(&s, err);
	if (!r)
		r = send_hello(&s, err);
	if (!r)
		r = send_setup(&s, err);
	if (!r)
		r = precopy_run(&s, err);
	if (!r)
		r = send_last(&s, err);
	if (!r)
		r = send_freeze(&s, err);
	if (!r)
		r = send_commit(&s, err);
	if (r < 0 && r != -ECANCELED && !s.recorded)
		r = explain_failure(&s, r, err);
	if (!r) {
		/* the text is still that of an obstacle that has passed */
		*err = (struct error)ERROR_INIT;
		send_finish(&s);
	} else if (s.recorded) {
		ret->outcome = MOVE_UNDECIDED;
	} else {
		send_undo(&s, err->text);
		if (r != -ECANCELED)
			frame_send_abort(ch, err->text);
	}
	send_hurry(&s, false);
	sending_clear(&s);
	return r;
}
