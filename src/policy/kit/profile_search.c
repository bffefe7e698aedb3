/* profile_search.c - where in a profile processors are free, see profile.h */
#include "policy/kit/profile_priv.h"

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* The first t in [from, to) at which n are not free; USEC_MAX if there is
 * none.  from lies in step *at, and t does afterwards. */
static usec_t first_short(const struct profile *p, struct profile_place *at,
			  usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->step;

	for (size_t k = at->block; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			continue;
		for (; i < b->n && b->step[i].at < to; i++)
			if (profile_value(b, i) < n) {
				*at = (struct profile_place){ k, i };
				return later(b->step[i].at, from);
			}
	}
	return USEC_MAX;
}

usec_t profile_until(const struct profile *p, usec_t from, int64_t n)
{
	struct profile_place at = profile_place_of(p, from);

	return first_short(p, &at, from, USEC_MAX, n);
}

/* The first t in [from, to) at which n are free; USEC_MAX if there is none.
 * from lies in step *at, and t does afterwards. */
static usec_t first_free(const struct profile *p, struct profile_place *at,
			 usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->step;

	for (size_t k = at->block; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->max < n)
			continue;
		for (; i < b->n && b->step[i].at < to; i++)
			if (profile_value(b, i) >= n) {
				*at = (struct profile_place){ k, i };
				return later(b->step[i].at, from);
			}
	}
	return USEC_MAX;
}

/* Where the run of n free that holds step at began. */
static usec_t run_start(const struct profile *p, struct profile_place at,
			int64_t n)
{
	size_t k = at.block;
	uint32_t i = at.step + 1;

	for (;;) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			i = 0;
		while (i > 0 && profile_value(b, i - 1) >= n)
			i--;
		if (i > 0)
			return i < b->n ? b->step[i].at : b[1].start;
		if (!k)
			return b->start;
		i = p->block[--k].n;
	}
}

static usec_t end_of(usec_t t, usec_t length)
{
	return length > USEC_MAX - t ? USEC_MAX : t + length;
}

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

static bool is_wanted(const struct runs *r, uint32_t class)
{
	return class >= r->low && r->start[class] < r->wanted->before[class];
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

		if (is_wanted(r, i) &&
		    (t == USEC_MAX || t - r->start[i] >= r->wanted->least[i]))
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

void profile_runs(const struct profile *p, usec_t from, usec_t to, int64_t was,
		  const struct profile_wanted *wanted,
		  void (*fn)(void *arg, uint32_t class, usec_t start,
			     usec_t end),
		  void *arg)
{
	struct profile_place at;
	struct runs r = { .wanted = wanted, .fn = fn, .arg = arg };

	while (wanted->most[r.low] <= was)
		if (++r.low == PROFILE_CLASSES)
			return;
	at = profile_place_near(p, p->near[1], from);
	r.nr = classes(profile_value(&p->block[at.block], at.step));
	run_starts(p, at, &r);
	at = runs_within(p, at, to, &r);
	while (r.nr > r.low && !is_wanted(&r, r.nr - 1))
		r.nr--;
	while (r.nr > r.low && !is_wanted(&r, r.low))
		r.low++;
	if (r.nr > r.low)
		runs_beyond(p, at, &r);
}

usec_t profile_since(const struct profile *p, usec_t to, int64_t n,
		     struct profile_place *near)
{
	struct profile_place at = profile_place_near(p, *near, to - 1);

	*near = at;
	return profile_value(&p->block[at.block], at.step) < n
		       ? to
		       : run_start(p, at, n);
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n)
{
	struct profile_place at = profile_place_of(p, from);

	for (;;) {
		usec_t end;

		from = first_free(p, &at, from, USEC_MAX, n);
		if (from == USEC_MAX)
			return USEC_MAX;
		end = first_short(p, &at, from, end_of(from, length), n);
		if (end == USEC_MAX)
			return from;
		from = end;
	}
}

static int64_t better(int64_t a, int64_t b, bool max)
{
	return (b > a) == max ? b : a;
}

static int64_t bound(const struct profile *p, usec_t from, usec_t to, bool max)
{
	size_t k = profile_block_of(p, from);
	uint32_t i = profile_step_of(&p->block[k], from);
	int64_t best = profile_value(&p->block[k], i);

	for (; k < p->nr && p->block[k].start < to; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (!i && k + 1 < p->nr && b[1].start <= to)
			best = better(best, max ? b->max : b->min, max);
		else
			for (; i < b->n && b->step[i].at < to; i++)
				best = better(best, profile_value(b, i), max);
	}
	return best;
}

int64_t profile_min(const struct profile *p, usec_t from, usec_t to)
{
	return bound(p, from, to, false);
}

int64_t profile_max(const struct profile *p, usec_t from, usec_t to)
{
	return bound(p, from, to, true);
}
