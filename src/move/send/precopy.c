/*
 * precopy.c - rounds over the running process, until it may be frozen
 *
 * A round sends the pages that were written since the last one and waits until the
 * destination has them; otherwise buffers along the connection would hide how far
 * behind it is.  Rounds end when little is left, or when two rounds in a row did not
 * make it less; see precopy.h.
 */
#include "move/send/precopy.h"

#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/halt.h"
#include "move/send/recheck.h"
#include "move/send/throttle.h"
#include "move/send/track.h"
#include "move/wire/fault.h"
#include "move/wire/lack.h"

#define ROUNDS_MOST	   40
#define PAGES_ENOUGH	   128
#define LAST_ROUNDS	   3
/* The limit for all rounds together: so many times the pages of the longest one. */
#define LONGEST_TIMES	   6
#define BASE_USEC	   1500 /* downtime that does not depend on size */
#define THREAD_USEC	   40
#define CONTENT_RATE	   160 /* bytes of queues a microsecond, doc/21 */
#define HURRY_WORK	   (10 * USEC_PER_MSEC)
#define LONG_ROUND	   2048 /* pages: enough to measure the link by */
/* bytes per microsecond, until the link's rate is measured */
#define FIRST_RATE	   1000
#define STOP_AND_COPY_RATE 500 /* likewise */
/* entries read per microsecond, those of holes as well */
#define PAGEMAP_RATE	   40
struct precopy {
	usec_t scan_time;    /* for finding pages in the last pass */
	double bytes_per_us; /* of the last long pass */
	uint64_t pages;	     /* sent by the last round */
	usec_t looked; /* when the last round began to look; 0: none has */
	/* the answer to the last SYNC: 0, or a negative errno and why: */
	int lacking;
	struct error lack;
};

struct precopy *precopy_create(void)
{
	return xcalloc(1, sizeof(struct precopy));
}

void precopy_destroy(struct precopy *p)
{
	free(p);
}

int precopy_lacks(const struct sending *s, struct error *err)
{
	const struct precopy *p = s->precopy;

	if (p->lacking)
		*err = p->lack;
	return p->lacking;
}

/* Pages sent; files that were sent count as the pages that they would fill. */
static uint64_t sent_pages(const struct sending *s)
{
	return page_sender_count(s->process.pages) +
	       tree_bytes_sent(s->common.trees) / FRAME_PAGE;
}

int precopy_sync(struct sending *s, uint64_t nr, struct error *err)
{
	struct precopy *p = s->precopy;
	struct frame_range range;
	/* Has the destination been told of all that the process has opened? */
	bool opened = true;
	struct error why;
	int r = frame_send_u64(s->ch, FRAME_SYNC, nr, err);

	p->lacking = 0;
	while (!r && (r = frame_recv(s->ch, &s->frame, err)) == 0 &&
	       s->frame.type == FRAME_LACK) {
		int code = lack_of_frame(&s->frame, &range, &why);

		if (!p->lacking)
			p->lack = why;
		p->lacking = code;
		if (range.end)
			track_forget(s->process.track, range.start, range.end);
		else
			opened = false;
	}
	if (!r)
		fds_confirm(s->common.fds, opened);
	if (!r && (s->frame.type != FRAME_SYNC || frame_u64(&s->frame) != nr))
		r = error_set(err, -EPROTO, "the peer sent %s, not SYNC(%llu)",
			      frame_name(s->frame.type),
			      (unsigned long long)nr);
	return r;
}

int precopy_tell(struct channel *ch, uint8_t *news, size_t n, struct error *err)
{
	struct iovec iov = { news, n };
	int r = frame_send(ch, FRAME_PATHS, &iov, 1, err);

	free(news);
	return r;
}

/*
 * Tell the destination what the process has opened since the last round.  What cannot
 * move, or not now, counts as lacking at the destination: the process may close it
 * before the freeze.
 */
static int sync_opened(struct sending *s, uint64_t nr, struct error *err)
{
	struct error why;
	uint8_t *news;
	size_t size;
	/*
	 * without pre-copy rounds there is no landing process yet that would
	 * open them
	 */
	int n = fds_look(s->common.fds, s->report->tracked, &news, &size, &why);
	int r = n > 0 ? precopy_tell(s->ch, news, size, err) : 0;

	if (!r)
		r = precopy_sync(s, nr, err);
	if (!r && n < 0 && !s->precopy->lacking) {
		s->precopy->lacking = n;
		s->precopy->lack = why;
	}
	return r;
}

static int round_layout(struct sending *s, struct error *err)
{
	struct track *t = s->process.track;
	int r = track_layout(t, false, err);
	usec_t paused = track_paused(t);

	s->report->paused += paused;
	if (paused)
		send_progress(s->src,
			      "it stood still for %.1f ms for new mappings",
			      (double)paused / 1000);
	return r;
}

/*
 * What a round does about descriptors.  Looking at a thousand of them takes tens of
 * thousands of system calls.
 */
enum opened {
	LOOK,  /* find and tell what has been opened */
	LATER, /* leave that to the round that follows at once */
};

static int send_round(struct sending *s, unsigned nr, enum opened opened,
		      struct error *err)
{
	int r = recheck_running(&s->process, err);

	if (!r)
		r = round_layout(s, err);
	if (!r)
		r = track_send(s->process.track, false, err);
	if (r < 0)
		return r;
	return opened == LOOK ? sync_opened(s, nr, err)
			      : precopy_sync(s, nr, err);
}

/*
 * A round that began then has found what was written since the one before began, at the
 * pace of the process: while it is slowed down or stands still that says nothing.
 */
static void note_written(struct sending *s, usec_t start, uint64_t pages)
{
	struct precopy *p = s->precopy;

	if (p->looked) {
		s->report->written += pages * FRAME_PAGE;
		s->report->written_in += start - p->looked;
	}
	p->looked = start;
}

static int run_round(struct sending *s, enum opened opened, struct error *err)
{
	struct precopy *p = s->precopy;
	uint64_t before = sent_pages(s);
	uint64_t memory = page_sender_count(s->process.pages);
	usec_t time, start = send_now();
	unsigned nr = ++s->report->rounds;
	bool runs = !s->halted && !s->throttle;
	int r;

	halt_round_begins(s);
	r = send_round(s, nr, opened, err);
	halt_round_ends(s);
	if (r < 0)
		return r;
	p->pages = sent_pages(s) - before;
	if (runs)
		note_written(s, start,
			     page_sender_count(s->process.pages) - memory);
	time = send_now() - start;
	if (p->pages >= LONG_ROUND)
		p->bytes_per_us =
			(double)p->pages * FRAME_PAGE / (double)(time + 1);
	else
		p->scan_time = time;
	send_progress(s->src, "round %u: %llu pages in %.1f ms", nr,
		      (unsigned long long)p->pages, (double)time / 1000);
	return move_fault(MF_SOURCE_ROUND, err);
}

/* How long it would take to send as many pages as the last round did. */
static usec_t predict_pages(const struct sending *s)
{
	const struct precopy *p = s->precopy;
	double rate = halt_allowed(s, p->bytes_per_us > 0 ? p->bytes_per_us
							  : FIRST_RATE);

	return (usec_t)((double)p->pages * FRAME_PAGE / rate);
}

static void tick(void *sending)
{
	struct sending *s = sending;

	halt_tick(s, sent_pages(s));
	send_tick(s);
}

/* How long would the process stand still if it were frozen now? */
static usec_t predict(const struct sending *s, unsigned threads)
{
	return BASE_USEC + THREAD_USEC * (usec_t)threads +
	       s->precopy->scan_time +
	       (usec_t)(fds_content(s->common.fds) / CONTENT_RATE) +
	       predict_pages(s);
}

/*
 * How many entries of pagemap a pass reads: all but those of mappings without any page.
 */
static int count_entries(pid_t pid, uint64_t *ret, struct error *err)
{
	struct vma_list maps = { 0 };
	uint64_t n = 0;
	int r = proc_read_maps(pid, &maps, err);

	if (!r)
		r = proc_read_advice(pid, &maps, err);
	for (size_t i = 0; i < maps.nr; i++)
		if (vma_carries_pages(&maps.v[i]) && !maps.v[i].empty)
			n += (maps.v[i].end - maps.v[i].start) / FRAME_PAGE;
	vma_list_clear(&maps);
	if (!r)
		*ret = n;
	return r;
}

/*
 * Without write tracking all memory is sent while the process stands still; files are
 * sent before.
 */
static int stop_and_copy(struct sending *s, struct error *err)
{
	uint64_t entries = 0;
	usec_t expected;
	int r = count_entries(s->process.pid, &entries, err);

	if (r < 0)
		return r;
	expected = BASE_USEC +
		   (usec_t)((double)s->report->bytes_held /
			    halt_allowed(s, STOP_AND_COPY_RATE)) +
		   (usec_t)(entries / PAGEMAP_RATE);
	s->report->predicted = expected;
	if (s->src->budget && expected > s->src->budget)
		return error_set(
			err, -EDQUOT,
			"without write tracking it would stand still for about %.0f ms, over the budget of %.3g ms",
			(double)expected / 1000, (double)s->src->budget / 1000);
	return track_trees(s->process.track, err);
}

/*
 * If each round is only a little shorter than the one before, there could be very many;
 * so all of them together may send no more than LONGEST_TIMES the longest.
 */
static int rounds(struct sending *s, struct error *err)
{
	uint64_t best = UINT64_MAX, most = 0, sum = 0;
	unsigned useless = 0;
	int r;

	while ((r = run_round(s, LOOK, err)) == 0) {
		uint64_t n = s->precopy->pages;

		/*
		 * for what was written meanwhile, and what will be written while that
		 * is sent
		 */
		halt_if_late(s, 2 * predict_pages(s));
		halt_for_owner(s, 0);
		if (s->halted)
			break;
		if (n <= PAGES_ENOUGH && s->report->rounds > 1)
			break;
		useless = n > best - best / 8 ? useless + 1 : 0;
		best = n < best ? n : best;
		most = n > most ? n : most;
		sum += n;
		if (useless == 2 || sum > LONGEST_TIMES * most ||
		    s->report->rounds >= ROUNDS_MOST)
			break;
	}
	return r;
}

static int is_over(const struct sending *s, usec_t time, struct error *err)
{
	if (!s->src->budget || time <= s->src->budget)
		return 0;
	return error_set(
		err, -EDQUOT,
		"it would stand still for %.1f ms, over the budget of %.3g ms (%llu pages are written between rounds)",
		(double)time / 1000, (double)s->src->budget / 1000,
		(unsigned long long)s->precopy->pages);
}

static int set_predicted(struct sending *s, struct error *err)
{
	struct proc_status st;
	int r = proc_read_status(s->process.pid, &st, err);

	if (!r)
		s->report->predicted = predict(s, st.threads);
	return r;
}

/* 0: the predicted pause fits the budget, or no budget was given. */
static int over_budget(struct sending *s, struct error *err)
{
	int r = set_predicted(s, err);

	return r < 0 ? r : is_over(s, s->report->predicted, err);
}

static void end_throttle(struct sending *s)
{
	throttle_destroy(s->throttle);
	s->throttle = NULL;
}

/* Try once more with the process slowed down. */
static int throttled_rounds(struct sending *s, struct error *err)
{
	int r;

	send_progress(s->src, "%s: slowing it down", err->text);
	s->throttle = throttle_create(s->process.tracee, s->src->budget);
	r = rounds(s, err);
	if (!r)
		r = over_budget(s, err);
	/* the last round has to be short as well */
	if (r < 0)
		end_throttle(s);
	return r;
}

/*
 * Send what was written meanwhile. If that is little, raise priorities now: while the
 * engine waits for a processor, the process writes more. If it is much, do not raise
 * them: sending it would use up the time for which priorities may be raised.
 */
static int last_rounds(struct sending *s, struct error *err)
{
	uint64_t before;
	unsigned n = 0;
	int r;

	do {
		before = s->precopy->pages;
		r = send_hurry_both(s, predict_pages(s) <= HURRY_WORK, err);
		if (!r)
			r = run_round(s, LOOK, err);
	} while (!r && ++n < LAST_ROUNDS &&
		 (s->precopy->lacking ||
		  (s->precopy->pages > PAGES_ENOUGH &&
		   s->precopy->pages < before - before / 8)));
	if (!r)
		r = set_predicted(s, err);
	/* it may write more now than when the pause was last predicted */
	return r < 0 ? r : is_over(s, predict_pages(s), err);
}

int precopy_run(struct sending *s, struct error *err)
{
	int r;

	page_sender_on_flush(s->process.pages, tick, s);
	if (!s->report->tracked)
		return stop_and_copy(s, err);
	r = rounds(s, err);
	if (!r)
		r = over_budget(s, err);
	if (r == -EDQUOT && s->src->throttle)
		r = throttled_rounds(s, err);
	return r;
}

int precopy_last(struct sending *s, struct error *err)
{
	int r;

	if (!s->report->tracked)
		return sync_opened(s, 0, err);
	/* have the next pass read the advice again, which is slow */
	track_ask_advice(s->process.track);
	r = run_round(s, LATER, err);
	if (!r)
		r = last_rounds(s, err);
	end_throttle(s);
	return r;
}

int precopy_again(struct sending *s, struct error *err)
{
	int r;

	if (!s->report->tracked) {
		r = track_trees(s->process.track, err);
		return r < 0 ? r : sync_opened(s, 0, err);
	}
	s->precopy->looked = 0; /* it stood still since */
	r = send_hurry_both(s, false, err);
	if (!r)
		r = run_round(s, LATER, err);
	if (!r)
		r = last_rounds(s, err);
	end_throttle(s);
	return r;
}
