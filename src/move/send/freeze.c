/*
 * freeze.c - what happens while the process stands still at the source
 *
 * Every microsecond here is downtime.  The last pages go first, so that the
 * destination puts them in place while the state is being captured.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/handover.h"
#include "move/send/precopy.h"
#include "move/send/recheck.h"
#include "move/send/send.h"
#include "move/send/track.h"
#include "move/state/capture.h"
#include "move/tracee/cpuclock.h"
#include "move/tracee/mempolicy.h"
#include "move/wire/fault.h"
#include "move/wire/message.h"

#define DRAIN_USEC (5 * USEC_PER_MSEC)

static int send_last_pages(struct sending *s, struct error *err)
{
	uint64_t before = page_sender_count(s->process.pages);
	int r = track_layout(s->process.track, true, err);

	/*
	 * a file mapped just now may be lacking there: ask now, while the
	 * freeze can be undone
	 */
	if (!r && track_told_files(s->process.track))
		r = precopy_sync(s, s->report->rounds, err);
	if (!r)
		r = precopy_lacks(s, err);
	/* finding out which other processes map it would take too long now */
	if (!r && s->common.new_objects && s->report->tracked)
		r = error_set(err, -EAGAIN,
			      "process %d has just mapped shared memory",
			      s->process.pid);
	if (!r)
		r = track_send(s->process.track, true, err);
	s->report->pages_last = page_sender_count(s->process.pages) - before;
	return r;
}

/* Ask whether the destination has the files that were opened since the last round. */
static int ask_for_untold(struct sending *s, struct error *err)
{
	uint8_t *news;
	size_t n;
	int r;

	if (!fds_untold(s->common.fds, &news, &n))
		return 0;
	r = precopy_tell(s->ch, news, n, err);
	if (!r)
		r = precopy_sync(s, s->report->rounds, err);
	return r < 0 ? r : precopy_lacks(s, err);
}

/*
 * Capture descriptors, after a short wait in which packets that are under way can
 * arrive.
 */
static int take_fds(struct sending *s, struct iovec *ret, struct error *err)
{
	const struct move_source_ops *ops = s->src->ops;
	uint8_t *blob;
	int r = fds_drain(s->common.fds, DRAIN_USEC, err);

	if (!r && ops && ops->unplug) {
		s->unplugged = true;
		r = ops->unplug(s->src->ctx, err);
	}
	if (!r)
		r = move_fault(MF_SOURCE_UNPLUGGED, err);
	if (!r)
		r = fds_capture(s->common.fds, &blob, &ret->iov_len, err);
	if (!r)
		ret->iov_base = blob;
	return r < 0 ? r : ask_for_untold(s, err);
}

static int put_queue(void *sending, const void *p, size_t n, struct error *err)
{
	struct sending *s = sending;
	const struct iovec iov = { (void *)(uintptr_t)p, n };

	send_tick(s);
	return frame_send(s->ch, FRAME_QUEUE, &iov, 1, err);
}

/*
 * Send the descriptors and what the keeper knows of the process.  Obstacles that may
 * pass are found before any of that is sent, so that the freeze can still be undone.
 */
static int send_fds(struct sending *s, struct error *err)
{
	const struct move_source_ops *ops = s->src->ops;
	struct iovec fds = { 0 }, saved = { 0 };
	bool save = ops && ops->save;
	int r = take_fds(s, &fds, err);

	if (!r && save)
		r = ops->save(s->src->ctx, &saved.iov_base, &saved.iov_len,
			      err);
	s->told = !r;
	if (!r)
		r = frame_send(s->ch, FRAME_FDS, &fds, 1, err);
	if (!r)
		r = fds_queues(s->common.fds, put_queue, s, err);
	if (!r && save)
		r = frame_send(s->ch, FRAME_SAVED, &saved, 1, err);
	free(fds.iov_base);
	free(saved.iov_base);
	return r;
}

/*
 * A thread that is bound to CPUs the destination does not have may run on any CPU
 * there.
 */
static void fit_cpus(const struct move_source *src, const cpu_set_t *cpus,
		     Move__State *m)
{
	for (size_t i = 0; i < m->n_thread; i++) {
		ProtobufCBinaryData *b = &m->thread[i]->affinity;
		cpu_set_t want, both;

		if (!b->len)
			continue;
		CPU_ZERO(&want);
		memcpy(&want, b->data,
		       b->len < sizeof(want) ? b->len : sizeof(want));
		CPU_AND(&both, &want, cpus);
		if (CPU_EQUAL(&both, &want))
			continue;
		send_progress(
			src,
			"thread %d is bound to CPUs of which the destination lacks some: it may run on any there",
			m->thread[i]->tid);
		b->len = 0;
	}
}

static void fit_nodes(const struct move_source *src,
		      const ProtobufCBinaryData *nodes, Move__State *m)
{
	for (size_t i = 0; i < m->n_thread; i++) {
		Move__Mempolicy **p = &m->thread[i]->mempolicy;

		if (!*p || mempolicy_fits(*p, nodes))
			continue;
		send_progress(
			src,
			"thread %d wants memory of nodes of which the destination lacks some: it gets memory where it runs",
			m->thread[i]->tid);
		move__mempolicy__free_unpacked(*p, NULL);
		*p = NULL;
	}
}

static int send_state(struct sending *s, struct error *err)
{
	Move__State *m = s->process.state;
	int r = capture_state(s->process.tracee, &s->process.stopped, m, err);

	if (!r)
		r = capture_changing(s->process.pid, &s->process.stopped, m,
				     err);
	if (r < 0)
		return r;
	fit_cpus(s->src, &s->there.cpus, m);
	fit_nodes(s->src, &s->there.nodes, m);
	r = move_fault(MF_SOURCE_CAPTURED, err);
	m->epoch = s->src->epoch;
	track_describe(s->process.track, m);
	if (!r)
		r = frame_send_u64(s->ch, FRAME_DONE, m->epoch, err);
	if (!r)
		r = wire_send(s->ch, FRAME_STATE, &m->base, err);
	return r < 0 ? r : move_fault(MF_SOURCE_SENT, err);
}

int freeze_send(struct sending *s, struct error *err)
{
	struct move_report *rep = s->report;
	usec_t stopped, pages, state;
	int r;

	cpuclock_avoid(s->process.tracee, s->process.state);
	tracee_look(s->process.tracee);
	send_limit(s);
	s->frozen = send_now();
	/* before the stop, because the parent in a vfork() cannot be stopped */
	r = precopy_lacks(s, err);
	if (!r)
		r = recheck_children(s->process.pid, err);
	if (r < 0)
		return r;
	s->frozen = s->halted ? s->halted : send_now();
	r = tracee_stop(s->process.tracee, err);
	if (!r)
		r = move_fault(MF_SOURCE_FROZEN, err);
	if (!r)
		r = recheck_stopped(s, &s->process, err);
	if (!r)
		r = capture_calls(s->process.tracee, err);
	stopped = send_now();
	if (!r)
		r = send_last_pages(s, err);
	pages = send_now();
	/* However long the memory took, the steps that follow are short. */
	if (!r && s->report->tracked)
		r = send_hurry_both(s, true, err);
	if (!r)
		r = send_fds(s, err);
	if (!r)
		r = send_state(s, err);
	state = send_now();
	rep->freeze = stopped - s->frozen;
	rep->last = pages - stopped;
	rep->capture = state - pages;
	return r;
}

void freeze_undo(struct sending *s)
{
	const struct move_source_ops *ops = s->src->ops;
	struct error err;

	/* the process has to run on, whether this works or not */
	if (s->unplugged && ops->replug && ops->replug(s->src->ctx, &err) < 0)
		send_progress(s->src, "replug: %s", err.text);
	s->unplugged = false;
	fds_release(s->common.fds);
	if (s->process.tracee && !handover_lasts(s->process.handover))
		tracee_resume(s->process.tracee);
	send_unwatched(s);
	send_hurry(s, false);
}
