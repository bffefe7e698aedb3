/*
 * talk.c - tell the policy which ranks communicate, and how much
 *
 * Hosts report how much ranks have sent so far.  Every TALK_EVERY that is turned into
 * bytes per second of each pair, in both directions together; the policy is told of
 * those that have changed.  A job that stands still is left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "core/xalloc.h"

#define TALK_EVERY     (10 * USEC_PER_SEC)
/* How many pairs per rank the policy is told of: those that send most. */
#define PAIRS_RANK     4
/* Per second: pairs that send less are left out. */
#define BYTES_LEAST    10000
#define SEGMENTS_LEAST 10
/* A rate has changed if it differs by more than this part. */
#define NEWS	       0.25

/* ---- all that was sent so far, by pair ---- */

static int by_pair(const void *x, const void *y)
{
	const struct pair_sent *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return (a->b > b->b) - (a->b < b->b);
}

static void add_rank(struct talk_sums *s, const struct ctl_rank *r)
{
	for (size_t i = 0; i < r->sent.nr; i++) {
		const struct rank_sent *to = &r->sent.to[i];
		bool up = r->rank < to->rank;

		array_room(s->pair, s->nr, &s->cap);
		s->pair[s->nr++] = (struct pair_sent){
			.a = up ? r->rank : to->rank,
			.b = up ? to->rank : r->rank,
			.bytes = to->bytes,
			.segments = to->segments,
		};
	}
}

/* Add both directions of each pair. */
static struct talk_sums sum_up(const struct ctl_job *job)
{
	struct talk_sums s = { .at = ctl_now() };
	size_t nr = 0;

	for (uint32_t i = 0; i < job->nr; i++)
		add_rank(&s, &job->ranks[i]);
	if (s.nr)
		qsort(s.pair, s.nr, sizeof(*s.pair), by_pair);
	for (size_t i = 0; i < s.nr; i++) {
		if (nr && !by_pair(&s.pair[nr - 1], &s.pair[i])) {
			s.pair[nr - 1].bytes += s.pair[i].bytes;
			s.pair[nr - 1].segments += s.pair[i].segments;
		} else {
			s.pair[nr++] = s.pair[i];
		}
	}
	s.nr = nr;
	return s;
}

/* ---- and what that is a second ---- */

/* A count that has become less has begun again at 0, as that of a requeued job does. */
static double rate(uint64_t now, uint64_t was, double seconds)
{
	return (double)(now >= was ? now - was : now) / seconds;
}

static int loudest_first(const void *x, const void *y)
{
	const struct job_talk *a = x, *b = y;

	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static int talk_order(const void *x, const void *y)
{
	const struct job_talk *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return (a->b > b->b) - (a->b < b->b);
}

/* Fill talk[now->nr]; returns how many entries it has. */
static uint32_t rates_of(const struct talk_sums *now,
			 const struct talk_sums *was, uint32_t most,
			 struct job_talk *talk)
{
	double seconds = usec_to_seconds(now->at - was->at);
	size_t k = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < now->nr; i++) {
		static const struct pair_sent none;
		const struct pair_sent *p = &now->pair[i], *q = &none;
		struct job_talk t = { p->a, p->b, 0, 0 };

		while (k < was->nr && by_pair(&was->pair[k], p) < 0)
			k++;
		if (k < was->nr && !by_pair(&was->pair[k], p))
			q = &was->pair[k];
		t.bytes = rate(p->bytes, q->bytes, seconds);
		t.segments = rate(p->segments, q->segments, seconds);
		if (t.bytes >= BYTES_LEAST || t.segments >= SEGMENTS_LEAST)
			talk[n++] = t;
	}
	if (n > most) {
		qsort(talk, n, sizeof(*talk), loudest_first);
		n = most;
		qsort(talk, n, sizeof(*talk), talk_order);
	}
	return n;
}

static bool number_differs(double a, double b)
{
	return fabs(a - b) > NEWS * (a > b ? a : b);
}

static bool talk_differs(const struct job *job, const struct job_talk *talk,
			 uint32_t n)
{
	if (job->ranks->nr_talks != n)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		const struct job_talk *a = &job->ranks->talk[i], *b = &talk[i];

		if (a->a != b->a || a->b != b->b ||
		    number_differs(a->bytes, b->bytes) ||
		    number_differs(a->segments, b->segments))
			return true;
	}
	return false;
}

static void tell_talk(struct ctl_job *job, const struct talk_sums *now)
{
	struct job_talk *talk = xcalloc(now->nr + 1, sizeof(*talk));
	struct event e = { .type = EVENT_TALK,
			   .job = job->model,
			   .talk = talk };

	e.n = rates_of(now, &job->talks, PAIRS_RANK * job->nr, talk);
	if (talk_differs(job->model, talk, e.n))
		sched_apply_and_ask(job->ctl, &e);
	free(talk);
}

void ctl_sched_talk(struct ctl_job *job)
{
	const struct job *model = job->model;
	struct talk_sums *was = &job->talks;
	struct talk_sums now;

	if (!model || model->state != JOB_RUNNING || model->ranks->nr_frozen ||
	    (was->at && ctl_now() - was->at < TALK_EVERY))
		return;
	now = sum_up(job);
	/* The time in which the first count grew is not known, so it gives no rate. */
	if (was->at && now.at > was->at)
		tell_talk(job, &now);
	free(was->pair);
	*was = now;
}
