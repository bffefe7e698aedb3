/*
 * keeper.c - the controller's side of cluster/conn/keeper.proto
 *
 * A request's id is its body case, so an answer says by itself what it answers.  No two
 * requests of one kind are under way with different meanings, except signals: their
 * running number is part of the id.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/hear/hear.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"

static void hear_started(struct klink *k);

#define ASK(NAME)  KEEPER__REQUEST__BODY_##NAME
#define TELL(NAME) KEEPER__EVENT__BODY_##NAME

void klink_gone(struct klink *k)
{
	struct ctl_move *m = ctl_move_of(k);
	struct ctl_rank *r = klink_rank(k);
	bool current;

	hear_started(k);
	current = klink_is_current(k);
	log_debug("job=%" PRIu64 " rank=%u epoch=%" PRIu64 " keeper=gone",
		  k->job_id, k->rank, k->epoch);
	/* The keeper is dead; its commit record is asked for by ctl_look(). */
	k->gone = true;
	if (m && ctl_move_keeper_gone(m, k))
		current = false;
	klink_hand_over(k);
	klink_free(k);
	if (r)
		/* that may have been the last of the output */
		ctl_kept_tell(r->job);
	if (current && ctl_rank_active(r))
		ctl_rank_keeper_died(r);
}

/*
 * Is it certain that the rank has not begun?  A keeper that was sent the program had
 * been started, so the host that says it failed lies.
 */
static bool has_not_begun(const struct klink *k)
{
	const struct ctl_rank *r = klink_rank(k);

	return r && klink_is_current(k) && !k->start_sent &&
	       ctl_rank_may_begin(r);
}

static bool is_refusal(int code)
{
	return code == -EAGAIN || code == -EBUSY || code == -ENOSPC ||
	       code == -ENOTRECOVERABLE;
}

/* What is said after the reason, where it was tried before. */
static const char *tries_text(const struct ctl_rank *r)
{
	static char text[40];

	snprintf(text, sizeof(text), " (as at %u starts before)", r->unready);
	return r->unready ? text : "";
}

static void could_not_start(struct ctl_rank *r, const char *host,
			    const char *why)
{
	ctl_job_set_reason(r->job, ENDED(NOT_STARTED), host);
	ctl_job_fail(r->job, r->rank, 1,
		     "rank %u could not be started on %s: %s%s", r->rank, host,
		     why, tries_text(r));
	ctl_rank_ended(r, 1, 0);
}

void klink_start_failed(struct klink *k, const Control__Failed *f)
{
	struct ctl_rank *r = klink_rank(k);
	struct ctl_move *m = ctl_move_of(k);
	struct ctl_host *h = k->host;
	bool current = r && !m && klink_is_current(k);
	bool again = !m && has_not_begun(k);

	if (m)
		ctl_move_failed(m, f->why);
	klink_free(k);
	if (again && is_refusal(f->code))
		ctl_rank_refused(r, h, f->code, f->why);
	else if (current && !(again && ctl_rank_unready(r, f->why)))
		could_not_start(r, h->name, f->why);
}

/* ---- events ---- */

static void on_hello(struct klink *k, const Keeper__Hello *h)
{
	Keeper__AgentHello answer = KEEPER__AGENT_HELLO__INIT;
	const Keeper__Status *s = h->status;
	struct ctl_rank *r = klink_rank(k);
	struct ctl_move *m = ctl_move_of(k);
	uint64_t signals = r ? r->signals.number : 0;

	if (h->version != KEEPER__VERSION__MAJOR || !s) {
		log_warnx("host=%s job=%" PRIu64 " rank=%u keeper speaks "
			  "version %u",
			  k->host->name, k->job_id, k->rank, h->version);
		return;
	}
	k->heard = true;
	k->start_late = k->release_late = false;
	answer.version = KEEPER__VERSION__MAJOR;
	answer.acked = k->out.acked;
	klink_request(k, ASK(HELLO), &answer);
	if (klink_is_doomed(k))
		klink_kill(k);
	else if (m)
		ctl_move_hello(m, k, s);
	else if (klink_is_current(k) && s->state == KEEPER__STATE__EMPTY)
		klink_send_start(k);
	if (r && !r->rank && klink_is_current(k) &&
	    s->state != KEEPER__STATE__EMPTY &&
	    s->state != KEEPER__STATE__STARTING)
		ctl_stdin_wanted(r->job, s->stdin_offset);
	if (r && klink_is_current(k))
		ctl_rank_is_frozen(r, s->state == KEEPER__STATE__SUSPENDED);
	if (r && s->pid)
		ctl_rank_has_pid(r, s->pid);
	/*
	 * Not if this event has ended the rank's move, so that a newer signal
	 * was sent.
	 */
	if (r && klink_is_current(k) && r->signals.number == signals)
		ctl_signals_known(r, s->signals);
}

/*
 * Where no instruction of the program has run, it is tried elsewhere, as if its keeper
 * had failed before.  Where that is not known, its job says whether it may begin anew.
 */
static void not_started(struct klink *k, const Keeper__Failed *f)
{
	struct ctl_rank *r = klink_rank(k);
	int code = f->code == -ENOENT			       ? 127
		   : f->code == -EACCES || f->code == -ENOEXEC ? 126
							       : 1;
	struct error why;

	if (f->begun == KEEPER__BEGUN__NOT_BEGUN_HERE &&
	    ctl_rank_may_begin(r) && ctl_rank_unready(r, f->why))
		klink_kill(k);
	else if (code != 1 || f->begun != KEEPER__BEGUN__BEGUN_UNKNOWN ||
		 !ctl_job_survives(r->job, f->why)) {
		error_set(&why, code, "%s%s", f->why, tries_text(r));
		klink_cannot_start(k, code, why.text);
	}
}

static void on_failed(struct klink *k, uint64_t re, const Keeper__Failed *f)
{
	struct ctl_rank *r = klink_rank(k);
	struct ctl_move *m = ctl_move_of(k);

	if ((re & (CTL_SIGNAL_ID - 1)) == ASK(SIGNAL)) {
		ctl_signal_failed(k, re / CTL_SIGNAL_ID, f);
	} else if (re == ASK(SUSPEND) && r && klink_is_current(k)) {
		ctl_rank_is_frozen(r, false);
	} else if (re == ASK(START) && r && klink_is_current(k)) {
		not_started(k, f);
	} else if (m && re == (ctl_move_at_dest(m, k) ? ASK(RECEIVE)
						      : ASK(MIGRATE_OUT))) {
		ctl_move_failed(m, f->why);
	} else {
		log_debug("job=%" PRIu64 " rank=%u request=%" PRIu64
			  " failed why=\"%s\"",
			  k->job_id, k->rank, re,
			  ctl_log_text(k->host->ctl, f->why));
	}
}

static void on_exited(struct klink *k, const Keeper__Exited *e)
{
	struct ctl_rank *r = klink_rank(k);
	struct ctl_move *m = ctl_move_of(k);
	int code;

	if (r->epoch != k->epoch && !(m && ctl_move_at_dest(m, k)))
		return;
	/*
	 * A source reports how a move went before it reports the rank's end; so
	 * the source had no move under way.
	 */
	if (m && !m->committed && !ctl_move_at_dest(m, k))
		ctl_move_failed(m, "the rank has ended");
	ctl_rank_printed(r,
			 e->stdout_end + output_begin(r->job->spec->requeues),
			 e->stderr_end + output_begin(r->job->spec->requeues));
	if (r->state != STATE(DONE)) {
		ctl_rank_used(r, e->cpu_usec, e->max_rss);
		ctl_rank_was_held(r, e->cpus_held_usec);
	}
	ctl_limit_exited(r, e);
	code = klink_exit_code(e);
	ctl_pmi_exited(k, e, code);
	ctl_rank_ended(r, code, e->signaled ? code - 128 : 0);
}

/*
 * What it prints into no file is limited as if it did.  No end that comes later is the
 * cause of the job's: it may be that of a rank which had printed all it had to.
 */
static void on_output(struct klink *k, const Keeper__Output *o)
{
	struct ctl_job *job = k->job;
	uint64_t most = job->spec->output_max;
	char size[SIZE_TEXT];

	if (!most || o->offset + o->data.len <= most || klink_is_past(k) ||
	    job->exit || job->spec->stopping)
		return;
	ctl_job_cause(job, CAUSE_OWN, 0);
	ctl_job_set_reason(job, ENDED(OUTPUT_LIMIT), "");
	ctl_job_fail(job, (int)k->rank, 128 + SIGXFSZ,
		     "rank %u printed more than %s (--output-limit)", k->rank,
		     size_text(most, size));
}

static void on_stdin_taken(struct klink *k, uint64_t re,
			   const Keeper__StdinTaken *s)
{
	if (!k->rank && klink_is_current(k))
		ctl_stdin_taken(k->job, re, s);
}

static void on_started(struct klink *k, const Keeper__Started *s)
{
	struct ctl_rank *r = klink_rank(k);

	ctl_rank_has_pid(r, s->pid);
	ctl_rank_started(r);
	if (!r->rank)
		ctl_stdin_begins(r->job);
}

/*
 * May this keeper speak for the rank?  Only if it has the rank, or is about to get it;
 * what others say of the rank is out of date.
 */
static bool speaks_for_rank(const struct klink *k, const struct ctl_move *m)
{
	return klink_is_current(k) || (m && ctl_move_at_dest(m, k));
}

/* Is it an event that only a keeper that has the rank, or will have it, may send? */
static bool is_of_rank(const Keeper__Event *e)
{
	return e->body_case == TELL(STARTED) ||
	       e->body_case == TELL(PMI_FENCE) ||
	       e->body_case == TELL(PMI_ABORT);
}

static void klink_event(struct klink *k, Keeper__Event *e)
{
	struct ctl_move *m = ctl_move_of(k);

	if (is_of_rank(e) && !speaks_for_rank(k, m))
		return;
	switch (e->body_case) {
	case TELL(OK):
		if ((e->re & (CTL_SIGNAL_ID - 1)) == ASK(SIGNAL))
			ctl_signal_taken(k, e->re / CTL_SIGNAL_ID);
		else if (e->re == KEEPER__AGENTS__STOP && klink_is_current(k))
			ctl_rank_was_stopped(klink_rank(k));
		break;
	case TELL(FAILED):
		on_failed(k, e->re, e->failed);
		break;
	case TELL(STARTED):
		on_started(k, e->started);
		break;
	case TELL(OUTPUT):
		on_output(k, e->output);
		break;
	case TELL(EXITED):
		on_exited(k, e->exited);
		break;
	case TELL(STDIN_TAKEN):
		on_stdin_taken(k, e->re, e->stdin_taken);
		break;
	case TELL(PMI_FENCE):
		ctl_pmi_fence(k, e->pmi_fence);
		break;
	case TELL(PMI_ABORT):
		ctl_pmi_abort(k, e->pmi_abort);
		break;
	case TELL(RECEIVING):
		if (m && ctl_move_at_dest(m, k))
			ctl_move_receiving(m, e->receiving);
		break;
	case TELL(MOVE_PROGRESS):
		if (m)
			ctl_move_progress(m, e->move_progress);
		break;
	case TELL(MOVE_DONE):
		ctl_move_done(k, e->move_done);
		break;
	case TELL(MOVE_DOUBT):
		ctl_move_doubt(k, e->move_doubt);
		break;
	case TELL(STATUS):
		if (m)
			ctl_move_hello(m, k, e->status);
		break;
	default:
		break; /* events of later versions */
	}
}

/*
 * Add a keeper that reports but was not started by this controller: an earlier one may
 * have started it.
 */
static struct klink *klink_found(struct ctl_host *h, uint64_t job,
				 uint32_t rank, uint64_t epoch)
{
	struct klink *k = klink_create(h, job, rank, epoch);

	if (k->job && !klink_can_be_there(k)) {
		log_warnx("host=%s job=%" PRIu64 " rank=%u epoch=%" PRIu64
			  " is not there",
			  h->name, job, rank, epoch);
		klink_disown(k);
	}
	return k;
}

/* Takes the event. */
static void hear(struct klink *k, Keeper__Event *e)
{
	bool kept = false;

	if (e->body_case == TELL(HELLO))
		on_hello(k, e->hello);
	else if (!k->heard || (e->seq && !klink_take(k, e, &kept)))
		goto out;
	else if (k->job)
		klink_event(k, e);
	/* The event is dealt with now, not before; with the next one, if that is here. */
	if (k->out.nr && !(k->ends && e->body_case == TELL(STARTED)))
		klink_flush(k);
out:
	if (!kept)
		keeper__event__free_unpacked(e, NULL);
}

static void hear_started(struct klink *k)
{
	Keeper__Event *e = k->started;

	k->started = NULL;
	k->hears_started = sd_event_source_disable_unref(k->hears_started);
	if (e && !k->heard && k->job) {
		/* Its agent has gone meanwhile; but it was said, and must not be forgotten. */
		klink_event(k, e);
		keeper__event__free_unpacked(e, NULL);
	} else if (e) {
		hear(k, e);
	}
}

static int on_started_waited(sd_event_source *src, uint64_t usec, void *arg)
{
	hear_started(arg);
	return 0;
}

/*
 * What lives for some milliseconds is told of as soon as it has ended: that it has started
 * is heard then, in the same turn, with one commit for both and one message to whom it
 * concerns.  Until then its keeper was told of nothing, and would say it again.
 */
static bool may_wait(const struct klink *k, const Keeper__Event *e)
{
	return e->body_case == TELL(STARTED) && k->heard && k->job &&
	       k->host->ctl->conf->started_waits;
}

void klink_packet(struct ctl_host *h, const Control__KeeperName *name,
		  const ProtobufCBinaryData *data)
{
	Keeper__Event *e = keeper__event__unpack(NULL, data->len, data->data);
	uint64_t id = strtoull(name->job, NULL, 10);
	struct klink *k = klink_at(h, id, name->rank, name->epoch);

	if (!e) {
		log_warnx("host=%s a keeper's message cannot be read", h->name);
		return;
	}
	if (!k && e->body_case == TELL(HELLO) && ctl_host_has_room(h))
		k = klink_found(h, id, name->rank, name->epoch);
	if (k && k->started) {
		k->ends = e->body_case == TELL(EXITED);
		hear_started(k);
	}
	if (!k) {
		keeper__event__free_unpacked(e, NULL);
	} else if (may_wait(k, e)) {
		k->started = e;
		if (!k->rank && klink_is_current(k))
			ctl_stdin_begins(k->job); /* it may wait for that */
		loop_after(h->ctl->event, &k->hears_started,
			   h->ctl->conf->started_waits, on_started_waited, k);
	} else {
		hear(k, e);
	}
}
