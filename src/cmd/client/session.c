/*
 * session.c - being the terminal of a job, see session.h
 *
 * The job belongs to the controller; this process prints what ranks print,
 * feeds rank 0, passes signals on, and ends as the job ends.  A controller
 * that goes away is waited for: nothing is lost meanwhile (control.proto).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/known.h"
#include "cluster/conn/loop.h"
#include "cmd/client/run_kept.h"
#include "cmd/client/run_print.h"
#include "cmd/client/run_signals.h"
#include "cmd/client/run_stdin.h"
#include "cmd/client/session.h"
#include "cmd/kit/command.h"
#include "core/clock.h"
#include "core/log.h"

#define CONNECT_TIMEOUT (10 * USEC_PER_SEC)
#define AGAIN_AFTER	(200 * USEC_PER_MSEC)
#define SUBMIT_AFTER	(30 * USEC_PER_SEC)  /* until a job is taken */
#define LOST_AFTER	(120 * USEC_PER_SEC) /* with no controller */
#define LOST_TOLD	(2 * USEC_PER_SEC)   /* it was not just started again */
#define LAST_OUTPUT	(5 * USEC_PER_SEC)

struct run {
	const struct session *session;
	int code;
	struct error err;

	sd_event *event;
	struct address address;
	struct tls_key key;
	struct conn *conn;
	uint64_t job; /* 0: not yet submitted */
	struct run_print *print;
	struct run_stdin *input; /* NULL: the job reads none */
	struct run_kept kept;
	Control__JobState *done; /* how it ended */
	sd_event_source *last;	 /* no longer wait for output */
	usec_t begun;		 /* monotonic */
	usec_t lost_at;		 /* the same; 0: connected */
	bool lost_told;
	unsigned interrupts, terms;
	bool joined;	/* it knows where another client left off */
	bool submitted; /* SUBMIT is sent */
	int exit;
};

/* ---- output ---- */

static void job_signal(struct run *r, uint32_t signo)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;

	s.job = r->job;
	s.signo = signo;
	if (r->conn && r->job &&
	    message_send(r->conn, 3, 0, MESSAGE_BODY(SIGNAL), &s) < 0)
		log_warnx("the controller takes no more signals");
}

static void tell_stays(const struct run *r)
{
	log_warnx("job %" PRIu64 " goes on; `stint attach %" PRIu64
		  "` comes back to it, and `stint cancel %" PRIu64 "` ends it",
		  r->job, r->job, r->job);
}

/* What a job that stays has printed is kept: only we end then. */
static void on_failed_print(void *ctx, int code)
{
	struct run *r = ctx;

	if (r->exit)
		return;
	r->exit = code == -EPIPE ? 128 + SIGPIPE : EXIT_FAILED;
	if (code != -EPIPE)
		log_warn(code, "what the ranks print cannot be written");
	if (!r->session->stays) {
		job_signal(r, 0);
		return;
	}
	if (!r->done)
		tell_stays(r);
	sd_event_exit(r->event, 0);
}

static void taken(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq)
{
	struct run *r = ctx;
	Control__OutputAck a = CONTROL__OUTPUT_ACK__INIT;

	a.job = r->job;
	a.rank = rank;
	a.epoch = epoch;
	a.seq = seq;
	/* Should it be lost, the output comes again and is dropped. */
	if (r->conn && !r->session->stays)
		(void)!message_send(r->conn, 0, 0, MESSAGE_BODY(OUTPUT_ACK),
				    &a);
}

static int on_last(sd_event_source *src, uint64_t usec, void *arg)
{
	log_warnx("some of what the ranks printed is lost");
	return sd_event_exit(sd_event_source_get_event(src), 0);
}

static void kept_next(struct run *r)
{
	if (r->conn && r->job && run_print_idle(r->print) &&
	    run_kept_ask(&r->kept, r->conn, r->job) < 0)
		conn_fail(r->conn, -EIO, "its output cannot be asked for");
}

/* The job is over, and everything it printed is here and written: end. */
static void check_end(void *ctx)
{
	struct run *r = ctx;
	bool all;

	if (r->session->stays)
		kept_next(r);
	if (!r->done || (r->session->stays && !r->kept.over))
		return;
	r->last = sd_event_source_disable_unref(r->last);
	all = r->session->stays || run_print_reached(r->print, r->done);
	if (all)
		run_print_finish(r->print);
	if (!run_print_idle(r->print))
		return; /* it will be */
	if (all)
		sd_event_exit(r->event, 0);
	else
		loop_after(r->event, &r->last, LAST_OUTPUT, on_last, r);
}

static const struct run_print_ops print_ops = { .taken = taken,
						.idle = check_end,
						.failed = on_failed_print };

/* ---- messages ---- */

/* Takes the message when it is the last. */
static bool on_state(struct run *r, Control__Message *m)
{
	const Control__JobState *s = m->job_state;

	if (!r->session->ask && !r->joined && s->n_begins) {
		run_print_join(r->print, s);
		r->joined = true;
	}
	if (s->state == CONTROL__STATE__WAITING && isatty(STDERR_FILENO))
		run_print_waiting(r->session->name, r->job, s->why);
	if (s->state != CONTROL__STATE__DONE || r->done)
		return false;
	r->done = m->job_state;
	m->job_state = NULL;
	m->body_case = CONTROL__MESSAGE__BODY__NOT_SET;
	check_end(r);
	return true;
}

static int attach_to_job(struct run *r)
{
	Control__Attach a = CONTROL__ATTACH__INIT;

	a.job = r->job;
	r->kept.asked = false;
	return message_send(r->conn, 2, 0, MESSAGE_BODY(ATTACH), &a);
}

/* Again, too: by its key it is known to be the same job. */
static int submit(struct run *r)
{
	r->submitted = true;
	return message_send(r->conn, 1, 0, MESSAGE_BODY(SUBMIT),
			    r->session->ask);
}

static int on_hello(struct run *r, const Control__Hello *hello,
		    struct error *err)
{
	const struct session *s = r->session;
	int k;

	if (!r->job)
		r->code = known_check(s->controller, hello->controller,
				      MESSAGE_BODY(SUBMIT), s->ask, &r->err);
	if (r->code < 0)
		return sd_event_exit(r->event, 0);
	k = r->job ? attach_to_job(r) : submit(r);
	r->lost_at = 0;
	r->lost_told = false;
	return k < 0 ? error_sys(err, k,
				 "the job's arguments and environment "
				 "cannot be sent")
		     : 0;
}

static usec_t since_begin(const struct run *r)
{
	return clock_usec(CLOCK_MONOTONIC) - r->begun;
}

/* Print it once, so that the user knows what the command waits for. */
static void tell_waiting(struct run *r, const char *why)
{
	if (!r->lost_told && isatty(STDERR_FILENO))
		fprintf(stderr, "stint %s: %s; trying for %d s\n",
			r->session->name, why,
			(int)(SUBMIT_AFTER / USEC_PER_SEC));
	r->lost_told = true;
}

static int on_submit_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct run *r = arg;

	if (r->conn && !r->job && submit(r) < 0)
		conn_fail(r->conn, -EIO, "the job cannot be sent again");
	return 0;
}

/* A request was refused: of these only the job itself matters. */
static int on_failed(struct run *r, const Control__Message *m,
		     struct error *err)
{
	if (m->re == 3)
		return 0;
	/* The user's other commands have all connections there may be: as if it was lost. */
	if (r->lost_at && m->failed->code == -EUSERS)
		return error_set(err, -EUSERS, "%s", m->failed->why);
	if (m->re == 1 && m->failed->code == -EAGAIN &&
	    since_begin(r) < SUBMIT_AFTER) {
		tell_waiting(r, m->failed->why);
		loop_after(r->event, NULL, AGAIN_AFTER, on_submit_again, r);
		return 0;
	}
	r->code = known_refused(r->session->controller,
				m->re == 1   ? MESSAGE_BODY(SUBMIT)
				: m->re == 2 ? MESSAGE_BODY(ATTACH)
					     : MESSAGE_BODY(GET_OUTPUT),
				m->failed, &r->err);
	return sd_event_exit(r->event, 0);
}

static int take_message(struct run *r, Control__Message *m, struct error *err)
{
	switch (m->body_case) {
	case MESSAGE_BODY(HELLO):
		return on_hello(r, m->hello, err);
	case MESSAGE_BODY(SUBMITTED):
		r->job = m->submitted->job;
		return attach_to_job(r);
	case MESSAGE_BODY(FAILED):
		return on_failed(r, m, err);
	case MESSAGE_BODY(OUTPUT):
		run_print_piece(r->print, m->output);
		check_end(r);
		break;
	case MESSAGE_BODY(KEPT_OUTPUT):
		run_kept_print(&r->kept, m->kept_output, r->print);
		check_end(r);
		break;
	case MESSAGE_BODY(OK):
		if (m->re == 2)
			check_end(r);
		break;
	case MESSAGE_BODY(STDIN_ROOM):
		if (r->input)
			run_stdin_room(r->input, m->stdin_room->from,
				       m->stdin_room->room);
		break;
	case MESSAGE_BODY(JOB_STATE):
		on_state(r, m);
		break;
	default:
		break;
	}
	return 0;
}

static int on_message(struct conn *c, const uint8_t *p, size_t n, void *arg,
		      struct error *err)
{
	Control__Message *m = message_parse(p, n, err);
	int k;

	if (!m)
		return -EPROTO;
	k = take_message(arg, m, err);
	message_free(m);
	return k < 0 ? k : 0;
}

/* ---- the connection ---- */

static void run_connect(struct run *r);

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	run_connect(arg);
	return 0;
}

static void on_ready(struct conn *c, void *arg)
{
	if (message_send_hello(c, 4, 0, NULL, NULL) < 0)
		conn_fail(c, -EIO, "HELLO cannot be sent");
}

static void tell_lost(struct run *r, const char *why)
{
	struct error text;

	if (!r->job) {
		error_set(&text, 0, "controller at %s: %s",
			  r->session->controller, why);
		tell_waiting(r, text.text);
		return;
	}
	log_warnx("controller at %s: %s; job %" PRIu64
		  " goes on, and it is waited for, %d s long",
		  r->session->controller, why, r->job,
		  (int)(LOST_AFTER / USEC_PER_SEC));
	r->lost_told = true;
}

static bool worth_waiting(const struct run *r, int code, usec_t now)
{
	if (!r->job)
		return client_is_restart(code) && since_begin(r) < SUBMIT_AFTER;
	return code != -EACCES && now - r->lost_at <= LOST_AFTER;
}

static void on_closed(struct conn *c, int code, const struct error *why,
		      void *arg)
{
	struct run *r = arg;
	uint64_t now;

	conn_destroy(c);
	r->conn = NULL;
	sd_event_now(r->event, CLOCK_MONOTONIC, &now);
	if (!r->lost_at)
		r->lost_at = now;
	if (!worth_waiting(r, code, now)) {
		r->code = code ? code : -EPIPE;
		error_set(&r->err, r->code, "controller at %s: %s%s",
			  r->session->controller,
			  code ? why->text : "it is shutting down",
			  r->submitted && !r->job
				  ? "; `stint ps` tells if the job was taken"
				  : "");
		sd_event_exit(r->event, 0);
		return;
	}
	if (now - r->lost_at > LOST_TOLD && !r->lost_told)
		tell_lost(r, code ? why->text : "it is shutting down");
	loop_after(r->event, NULL, AGAIN_AFTER, on_again, r);
}

static const struct conn_ops run_ops = {
	.ready = on_ready,
	.message = on_message,
	.closed = on_closed,
};

static void run_connect(struct run *r)
{
	r->conn = conn_connect(r->event, &r->address, &r->key, CONNECT_TIMEOUT,
			       &run_ops, r);
}

/* ---- signals and standard input ---- */

/* With no job to be heard of any more, or told to often enough. */
static bool leaves(const struct run *r, int signo)
{
	if (!r->job || (r->session->stays && run_signal_ends(signo)) ||
	    (signo == SIGINT && r->interrupts > 1))
		return true;
	return (r->lost_at || r->done) && run_signal_ends(signo);
}

static int on_signal(sd_event_source *src, const struct signalfd_siginfo *si,
		     void *arg)
{
	struct run *r = arg;
	int signo = si->ssi_signo;

	if (leaves(r, signo)) {
		if (r->job && r->session->stays)
			tell_stays(r);
		else if (r->job && r->lost_at)
			log_warnx("the controller does not answer; when it "
				  "does, it ends job %" PRIu64,
				  r->job);
		r->exit = 128 + signo;
		return sd_event_exit(r->event, 0);
	}
	if (signo == SIGINT && r->interrupts++) {
		log_warnx("killing the job");
		/* behind a pager that waits, what is unread would keep it */
		run_print_drop(r->print);
		signo = SIGKILL;
	}
	if (signo == SIGTERM || signo == SIGHUP) {
		if (r->terms++)
			run_print_drop(r->print);
		signo = 0; /* end it: TERM, and KILL when that does not help */
	}
	job_signal(r, signo);
	return 0;
}

static int send_stdin(void *ctx, uint64_t offset, const void *p, size_t n,
		      bool eof)
{
	Control__Stdin s = CONTROL__STDIN__INIT;
	struct run *r = ctx;

	if (!r->conn || !r->job)
		return -ENOTCONN;
	s.job = r->job;
	s.offset = offset;
	s.data.data = (uint8_t *)p;
	s.data.len = n;
	s.eof = eof;
	return message_send(r->conn, 0, 0, MESSAGE_BODY(STDIN_DATA), &s);
}

static int run_loop(struct run *r)
{
	int k;

	r->begun = clock_usec(CLOCK_MONOTONIC);
	k = loop_create(&r->event, &r->err);
	if (k < 0)
		return k;
	k = run_signals_take(r->event, on_signal, r);
	if (k < 0)
		return loop_unwatched(&r->err, k, "signals for the event loop");
	r->print = run_print_create(r->event, r->session->ranks,
				    r->session->label, &print_ops, r);
	if (r->session->ask && r->session->ask->stdin_open)
		r->input = run_stdin_create(r->event, send_stdin, r);
	run_connect(r);
	k = sd_event_loop(r->event);
	run_print_finish(r->print);
	if (!r->exit)
		run_print_drain(r->print);
	conn_finish(r->conn);
	run_stdin_destroy(r->input);
	run_print_destroy(r->print);
	sd_event_source_disable_unref(r->last);
	sd_event_unref(r->event);
	return k < 0 ? error_sys(&r->err, k, "event loop") : r->code;
}

static int run_end(struct run *r, int code)
{
	if (code < 0)
		return command_fail(r->session->name, command_code(code),
				    &r->err);
	if (r->exit)
		return r->exit;
	if (!r->done)
		return EXIT_FAILED;
	if ((r->done->exit || r->done->limit_met) && *r->done->why)
		fprintf(stderr, "stint %s: job %" PRIu64 ": %s\n",
			r->session->name, r->job, r->done->why);
	return r->done->exit;
}

int session_run(const struct session *session)
{
	struct run r = { .session = session,
			 .address = session->address,
			 .key = session->key,
			 .job = session->job };
	int code = run_end(&r, run_loop(&r));

	if (r.done)
		control__job_state__free_unpacked(r.done, NULL);
	explicit_bzero(&r.key, sizeof(r.key));
	return code;
}
