/* shadow.c - the head's start and what it leaves over, see shadow.h */
#include "policy/kit/shadow.h"

usec_t shadow_end(const struct view *view, const struct job *job)
{
	return job->estimate ? usec_add(view->now, job->estimate) : USEC_MAX;
}

/* How many more processors are reserved at t than now. */
static int64_t reserved_at(const struct view *view, usec_t t)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		if (r->held)
			n -= r->to <= t ? r->procs : 0;
		else if (r->from <= t && r->to > t)
			n += r->procs;
	}
	return n;
}

/* The first instant after t at which a reservation begins or ends. */
static usec_t next_change(const struct view *view, usec_t t)
{
	usec_t next = USEC_MAX;

	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		if (!r->held && r->from > t && r->from < next)
			next = r->from;
		if (r->to > t && r->to < next)
			next = r->to;
	}
	return next;
}

/* Free and not reserved processors at t. */
static int64_t free_at(const struct ends *ends, const struct view *view,
		       int64_t free, usec_t t)
{
	return free + ends_by(ends, t) - reserved_at(view, t);
}

/* The least number of free processors in [from, to); *ret_at is where it is. */
static int64_t least_free(const struct ends *ends, const struct view *view,
			  int64_t free, usec_t from, usec_t to, usec_t *ret_at)
{
	int64_t least = free_at(ends, view, free, from), n;

	*ret_at = from;
	for (usec_t t = next_change(view, from); t < to;
	     t = next_change(view, t)) {
		n = free_at(ends, view, free, t);
		if (n < least) {
			least = n;
			*ret_at = t;
		}
	}
	return least;
}

/*
 * The first instant from t on at which n are free by the jobs' ends, if reservations
 * stay as they are at t.
 */
static usec_t reach(const struct ends *ends, const struct view *view,
		    int64_t free, usec_t t, int64_t n)
{
	while (t != USEC_MAX) {
		int64_t need = n - free + reserved_at(view, t);
		usec_t at = need > 0 ? ends_reach(ends, need) : t;
		usec_t next = next_change(view, t);

		if (at <= t)
			return t;
		if (at < next || next == USEC_MAX)
			return at;
		t = next;
	}
	return t;
}

struct shadow shadow_of(const struct ends *ends, const struct view *view,
			const struct job *head, int64_t free)
{
	struct shadow s = { .at = view->now, .spare = -1 };
	usec_t least = view->now;

	while (s.spare < 0 && least != USEC_MAX) {
		s.at = reach(ends, view, free, least, head->size);
		s.spare = least_free(ends, view, free, s.at,
				     usec_add(s.at, job_length(head)), &least) -
			  head->size;
		if (least == s.at)
			break;
	}
	if (s.spare < 0)
		s.spare = 0;
	return s;
}
