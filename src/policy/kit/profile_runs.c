/*
 * profile_runs.c - runs of free processors of all classes of sizes that somebody looks for, see
 * profile.h
 */
#include <string.h>

#include "policy/kit/profile_priv.h"

/* Of how many classes are there runs where n are free? */
static inline uint32_t classes(int64_t n)
{
	return n > 0 ? profile_class(n) + 1 : 0;
}

/* What a search for runs of all classes knows where it is. */
struct runs {
	const struct profile_wanted *wanted;
	usec_t start[PROFILE_CLASSES]; /* of the runs that hold this place */
	uint32_t low, nr; /* those of classes below low are not looked at */
	void (*fn)(void *arg, uint32_t class, usec_t start, usec_t end);
	void *arg;
};

struct run {
	usec_t start, end;
};

/* The one of a class that a run which begins at start may be for; NULL: none. */
static const struct profile_want *want_at(const struct profile_wanted *w,
					  uint32_t class, usec_t start)
{
	uint32_t i = w->nr[class];

	while (i && w->want[class][i - 1].before <= start)
		i--;
	return i ? &w->want[class][i - 1] : NULL;
}

static bool is_wanted(const struct profile_wanted *w, uint32_t class,
		      usec_t start, usec_t end)
{
	const struct profile_want *want = want_at(w, class, start);

	return want && (end == USEC_MAX || end - start >= want->least);
}

/* The least value of a step of b that is of at least n classes, before b->add. */
static int64_t least_of(const struct profile_block *b, uint32_t n)
{
	return (n ? INT64_C(1) << (n - 1) : INT64_MIN / 2) - b->add;
}

/* Where the runs that hold step `at` began. */
static void run_starts(const struct profile *p, struct profile_place at,
		       struct runs *r)
{
	const struct profile_block *b = &p->block[at.block];
	uint32_t i = at.step, nr = r->nr, n;

	while (nr > r->low) {
		int64_t least = least_of(b, nr);

		if (b->min - b->add >= least)
			i = 0;
		while (i && b->step[i - 1].free >= least)
			i--;
		if (!i && b == p->block)
			break;
		if (!i) {
			i = (--b)->n;
			continue;
		}
		n = classes(profile_value(b, i - 1));
		while (nr > n)
			r->start[--nr] = i < b->n ? b->step[i].at : b[1].start;
	}
	while (nr)
		r->start[--nr] = b->start;
}

/* The runs of more than n classes end at t. */
static inline void end_runs(struct runs *r, uint32_t n, usec_t t)
{
	while (r->nr > n) {
		uint32_t i = --r->nr;

		if (i >= r->low && is_wanted(r->wanted, i, r->start[i], t))
			r->fn(r->arg, i, r->start[i], t);
	}
}

/* The first step from i on whose runs are not those of the first n classes; b->n: none. */
static uint32_t other_runs(const struct profile_block *b, uint32_t i,
			   uint32_t n)
{
	int64_t least = least_of(b, n);
	uint64_t span = n < PROFILE_CLASSES
				? (uint64_t)(least_of(b, n + 1) - least)
				: INT64_MAX;

	while (i < b->n && (uint64_t)(b->step[i].free - least) < span)
		i++;
	return i;
}

/* Follow the runs of which any part is before `to` on from step `at`; returns where that is. */
static struct profile_place runs_within(const struct profile *p,
					struct profile_place at, usec_t to,
					struct runs *r)
{
	uint32_t i = at.step + 1, n;
	size_t k;

	for (k = at.block; k < p->nr; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->start >= to)
			break;
		while ((i = other_runs(b, i, r->nr)) < b->n &&
		       b->step[i].at < to) {
			n = classes(profile_value(b, i));
			end_runs(r, n, b->step[i].at);
			while (r->nr < n)
				r->start[r->nr++] = b->step[i].at;
		}
		if (i < b->n)
			break;
	}
	return (struct profile_place){ k, i };
}

/* Follow those that go on from step `at` to their ends. */
static void runs_beyond(const struct profile *p, struct profile_place at,
			struct runs *r)
{
	uint32_t i = at.step;

	for (size_t k = at.block; k < p->nr; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		while (r->nr > r->low) {
			int64_t least = least_of(b, r->nr);

			if (b->min - b->add >= least)
				break;
			while (i < b->n && b->step[i].free >= least)
				i++;
			if (i == b->n)
				break;
			end_runs(r, classes(profile_value(b, i)),
				 b->step[i].at);
		}
	}
	end_runs(r, r->low, USEC_MAX);
}

/* The run of n free that [from, to) is a part of. */
static struct run run_around(const struct profile *p,
			     const struct profile_freed *f, int64_t n)
{
	struct profile_place first = profile_run_start(p, f->first, n);
	struct profile_place last = f->last;

	return (struct run){
		p->block[first.block].step[first.step].at,
		f->to == USEC_MAX
			? USEC_MAX
			: profile_first_short(p, &last, f->to, USEC_MAX, n),
	};
}

/* Find those of classes from r->low on that are no part of `run`, or of which [from, to) is not. */
static void find_others(const struct profile *p, const struct profile_freed *f,
			struct run run, struct runs *r)
{
	const struct profile_block *b = &p->block[f->first.block];
	uint32_t end = classes(f->most);
	struct profile_place at;

	while (r->low < end &&
	       !is_wanted(r->wanted, r->low, run.start, run.end))
		r->low++;
	if (r->low >= end)
		return;
	r->nr = classes(profile_value(b, f->first.step));
	run_starts(p, f->first, r);
	at = runs_within(p, f->first, f->to, r);
	while (r->nr > r->low &&
	       !want_at(r->wanted, r->nr - 1, r->start[r->nr - 1]))
		r->nr--;
	if (r->nr > r->low)
		runs_beyond(p, at, r);
}

void profile_runs(const struct profile *p, const struct profile_freed *f,
		  const struct profile_wanted *wanted,
		  void (*fn)(void *arg, uint32_t class, usec_t start,
			     usec_t end),
		  void *arg)
{
	struct runs r = { .wanted = wanted, .fn = fn, .arg = arg };
	struct run run = { p->block[0].start, USEC_MAX };
	int64_t n;

	while (wanted->most[r.low] <= f->least - f->n)
		if (++r.low == PROFILE_CLASSES)
			return;
	n = INT64_C(1) << r.low;
	if (f->least > 0)
		run = run_around(p, f, f->least < n ? f->least : n);
	for (; n <= f->least && r.low < PROFILE_CLASSES; r.low++, n *= 2) {
		if (!is_wanted(wanted, r.low, run.start, run.end))
			continue;
		run = run_around(p, f, n);
		if (is_wanted(wanted, r.low, run.start, run.end))
			fn(arg, r.low, run.start, run.end);
	}
	find_others(p, f, run, &r);
}

/* Where a want of a class belongs: behind those that begin later. */
static uint32_t place_for(const struct profile_wanted *w, uint32_t class,
			  usec_t before)
{
	uint32_t i = 0;

	while (i < w->nr[class] && w->want[class][i].before > before)
		i++;
	return i;
}

/* Put new before want i, instead of those up to `to`, all of which it covers. */
static void put_want(struct profile_want *want, uint32_t *nr, uint32_t i,
		     uint32_t to, struct profile_want new)
{
	if (i == to && *nr == PROFILE_WANTS) { /* no room: one covers both */
		if (i)
			want[i - 1].least = new.least;
		else
			want[0].before = new.before;
		return;
	}
	memmove(want + i + 1, want + to, (*nr - to) * sizeof(*want));
	want[i] = new;
	*nr = *nr + i + 1 - to;
}

void profile_want(struct profile_wanted *w, uint32_t size, usec_t length,
		  usec_t before)
{
	uint32_t class = profile_class(size);
	struct profile_want *want = w->want[class];
	uint32_t i = place_for(w, class, before), to = i;

	if (size > w->most[class])
		w->most[class] = size;
	if (i && want[i - 1].least <= length)
		return;
	if (i < w->nr[class] && want[i].before == before &&
	    want[i].least <= length)
		return;
	while (to < w->nr[class] && want[to].least >= length)
		to++;
	put_want(want, &w->nr[class], i, to,
		 (struct profile_want){ before, length });
}
