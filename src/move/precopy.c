/*
 * precopy.c - rounds over the running process, until it may be frozen
 *
 * A round sends what was written since the last one and waits until the
 * destination has it, so that what the sockets between swallow does not hide
 * how far behind it is.  It ends when what is left is small, or when two
 * rounds in a row did not make it smaller.
 */
#include <errno.h>
#include <stdlib.h>

#include "move/fault.h"
#include "move/fds.h"
#include "move/lack.h"
#include "move/recheck.h"
#include "move/send.h"
#include "move/throttle.h"
#include "move/track.h"

#define ROUNDS_MOST	   40
#define PAGES_ENOUGH	   128
#define LAST_ROUNDS	   3
#define BASE_USEC	   1500 /* downtime that does not depend on size */
#define THREAD_USEC	   40
#define CONTENT_RATE	   120	/* bytes of queues a microsecond, doc/21 */
#define LONG_ROUND	   2048 /* pages: enough to measure the link by */
#define STOP_AND_COPY_RATE 500	/* bytes a microsecond */
#define PAGEMAP_RATE	   40	/* entries a microsecond, of holes as well */

struct round {
	uint64_t pages;
	usec_t time;
};

/* Files count as the pages that they would fill. */
static uint64_t sent_pages(const struct sending *s)
{
	return page_sender_count(s->pages) +
	       tree_bytes_sent(s->trees) / FRAME_PAGE;
}

int precopy_sync(struct sending *s, uint64_t nr, struct error *err)
{
	struct frame_range range;
	bool opened = true; /* is all there that it has opened? */
	struct error why;
	int r = frame_send_u64(s->ch, FRAME_SYNC, nr, err);

	s->lacking = 0;
	while (r == 0 && (r = frame_recv(s->ch, &s->frame, err)) == 0 &&
	       s->frame.type == FRAME_LACK) {
		int code = lack_of_frame(&s->frame, &range, &why);

		if (!s->lacking)
			s->lack = why;
		s->lacking = code;
		if (range.end)
			track_forget(s, range.start, range.end);
		else
			opened = false;
	}
	if (r == 0)
		fds_confirm(s->fds, opened);
	if (r == 0 &&
	    (s->frame.type != FRAME_SYNC || frame_u64(&s->frame) != nr))
		r = error_set(err, -EPROTO, "the peer sent %s, not SYNC(%llu)",
			      frame_name(s->frame.type),
			      (unsigned long long)nr);
	return r;
}

int precopy_tell(struct sending *s, uint8_t *news, size_t n, struct error *err)
{
	struct iovec iov = { news, n };
	int r = frame_send(s->ch, FRAME_PATHS, &iov, 1, err);

	free(news);
	return r;
}

/*
 * What it has opened since the last round.  What of it cannot move, or not now,
 * may have been closed when it matters: it counts as lacking.
 */
static int sync_opened(struct sending *s, uint64_t nr, struct error *err)
{
	struct error why;
	uint8_t *news;
	size_t size;
	/* without rounds, who would open them is not there yet */
	int n = fds_look(s->fds, s->method != TRACK_NONE, &news, &size, &why);
	int r = n > 0 ? precopy_tell(s, news, size, err) : 0;

	if (r == 0)
		r = precopy_sync(s, nr, err);
	if (r == 0 && n < 0 && !s->lacking) {
		s->lacking = n;
		s->lack = why;
	}
	return r;
}

static int run_round(struct sending *s, struct round *ret, struct error *err)
{
	uint64_t before = sent_pages(s);
	usec_t start = send_now();
	unsigned nr = ++s->report->rounds;
	int r = recheck_running(s, err);

	if (r == 0)
		r = track_layout(s, false, err);
	if (r == 0)
		r = track_send(s, false, err);
	if (r == 0)
		r = sync_opened(s, nr, err);
	if (r < 0)
		return r;
	ret->pages = sent_pages(s) - before;
	ret->time = send_now() - start;
	if (ret->pages >= LONG_ROUND)
		s->bytes_per_us = (double)ret->pages * FRAME_PAGE /
				  (double)(ret->time + 1);
	else
		s->scan_time = ret->time;
	send_progress(s, "round %u: %llu pages in %.1f ms", nr,
		      (unsigned long long)ret->pages, (double)ret->time / 1000);
	return move_fault(MF_SOURCE_ROUND, err);
}

/* How long would it stand still if it were frozen now? */
static usec_t predict(const struct sending *s, const struct round *last,
		      unsigned threads)
{
	double rate = s->bytes_per_us > 0 ? s->bytes_per_us : 1000;

	return BASE_USEC + THREAD_USEC * (usec_t)threads + s->scan_time +
	       (usec_t)(fds_content(s->fds) / CONTENT_RATE) +
	       (usec_t)((double)last->pages * FRAME_PAGE / rate);
}

/* Every entry of pagemap is read, but for mappings that have no page at all. */
static int count_entries(const struct sending *s, uint64_t *ret,
			 struct error *err)
{
	struct vma_list maps = { 0 };
	uint64_t n = 0;
	int r = proc_read_maps(s->src->pid, &maps, err);

	if (r == 0)
		r = proc_read_advice(s->src->pid, &maps, err);
	for (size_t i = 0; i < maps.nr; i++)
		if (vma_carries_pages(&maps.v[i]) && !maps.v[i].empty)
			n += (maps.v[i].end - maps.v[i].start) / FRAME_PAGE;
	vma_list_clear(&maps);
	if (r == 0)
		*ret = n;
	return r;
}

/* All of its memory has to travel while it stands still, but not its files. */
static int stop_and_copy(struct sending *s, struct error *err)
{
	uint64_t entries = 0;
	usec_t expected;
	int r = count_entries(s, &entries, err);

	if (r < 0)
		return r;
	expected = BASE_USEC +
		   (usec_t)(s->report->bytes_held / STOP_AND_COPY_RATE) +
		   (usec_t)(entries / PAGEMAP_RATE);
	s->report->predicted = expected;
	if (s->src->budget && expected > s->src->budget)
		return error_set(
			err, -EDQUOT,
			"without write tracking it would stand still for about %.0f ms, over the budget of %.1f ms",
			(double)expected / 1000, (double)s->src->budget / 1000);
	return track_trees(s, err);
}

static int rounds(struct sending *s, struct round *ret, struct error *err)
{
	uint64_t best = UINT64_MAX;
	unsigned useless = 0;
	int r;

	while ((r = run_round(s, ret, err)) == 0) {
		if (ret->pages <= PAGES_ENOUGH && s->report->rounds > 1)
			break;
		useless = ret->pages > best - best / 8 ? useless + 1 : 0;
		if (ret->pages < best)
			best = ret->pages;
		if (useless == 2 || s->report->rounds == ROUNDS_MOST)
			break;
	}
	return r;
}

/* 0: it fits, or nobody asked. */
static int over_budget(struct sending *s, const struct round *last,
		       struct error *err)
{
	struct proc_status st;
	int r = proc_read_status(s->src->pid, &st, err);

	if (r < 0)
		return r;
	s->report->predicted = predict(s, last, st.threads);
	if (s->src->budget && s->report->predicted > s->src->budget)
		return error_set(
			err, -EDQUOT,
			"it would stand still for %.1f ms, over the budget of %.1f ms (%llu pages are written between rounds)",
			(double)s->report->predicted / 1000,
			(double)s->src->budget / 1000,
			(unsigned long long)last->pages);
	return 0;
}

/* Try once more with the process slowed down. */
static int throttled_rounds(struct sending *s, struct round *last,
			    struct error *err)
{
	int r;

	send_progress(s, "%s: slowing it down", err->text);
	throttle_start(s);
	r = rounds(s, last, err);
	if (r == 0)
		r = over_budget(s, last, err);
	/* the last round, too, has to be short */
	if (r < 0)
		throttle_stop(s);
	return r;
}

/*
 * Once more what is slow to read, and what was written meanwhile; ahead of
 * others already, since whoever waits for its turn finds the more to send.
 */
static int last_rounds(struct sending *s, struct round *ret, struct error *err)
{
	unsigned n = 0;
	int r;

	send_hurry(s, true);
	r = frame_send_u64(s->ch, FRAME_HURRY, true, err);
	do {
		if (r == 0)
			r = run_round(s, ret, err);
	} while (r == 0 && (ret->pages > PAGES_ENOUGH || s->lacking) &&
		 ++n < LAST_ROUNDS);
	return r;
}

int precopy_run(struct sending *s, struct error *err)
{
	struct round last = { 0 };
	int r;

	if (s->method == TRACK_NONE)
		return stop_and_copy(s, err);
	page_sender_on_flush(s->pages, throttle_tick, s);
	r = rounds(s, &last, err);
	if (r == 0)
		r = over_budget(s, &last, err);
	if (r == -EDQUOT && s->src->throttle)
		r = throttled_rounds(s, &last, err);
	return r;
}

int precopy_last(struct sending *s, struct error *err)
{
	struct round last;
	int r;

	if (s->method == TRACK_NONE)
		return sync_opened(s, 0, err);
	s->read_advice = true;
	r = last_rounds(s, &last, err);
	throttle_stop(s);
	return r;
}

int precopy_again(struct sending *s, struct error *err)
{
	struct round last;
	int r;

	if (s->method == TRACK_NONE) {
		r = track_trees(s, err);
		return r < 0 ? r : sync_opened(s, 0, err);
	}
	r = frame_send_u64(s->ch, FRAME_HURRY, false, err);
	if (r == 0)
		r = run_round(s, &last, err);
	return r < 0 ? r : last_rounds(s, &last, err);
}
