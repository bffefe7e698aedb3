/* node.c - when a node runs our process, see cosched.h */
#include "sim/cosched/cosched.h"

/* t - phase, within [0, period). */
static nsec_t within(nsec_t t, nsec_t phase, nsec_t period)
{
	nsec_t m = (t - phase) % period;

	return m < 0 ? m + period : m;
}

static bool daemon_runs(const struct node *n, nsec_t t, nsec_t *ret_since)
{
	if (!n->daemon_each)
		return false;
	*ret_since = within(t, n->daemon_phase, n->daemon_each);
	return *ret_since < n->daemon_for;
}

nsec_t node_runs(const struct node *n, nsec_t t)
{
	nsec_t since = 0;

	for (;;) {
		nsec_t m = n->period ? within(t, n->phase, n->period) : 0;

		if (m && m >= n->on)
			t += n->period - m;
		if (!daemon_runs(n, t, &since))
			return t;
		t += n->daemon_for - since;
		/* A daemon may end when it is not our turn. */
		if (!n->period || within(t, n->phase, n->period) < n->on)
			return t;
	}
}

nsec_t node_stops(const struct node *n, nsec_t t)
{
	nsec_t stops = INT64_MAX, daemon;

	if (n->period)
		stops = t + n->on - within(t, n->phase, n->period);
	if (n->daemon_each) {
		daemon = t + n->daemon_each -
			 within(t, n->daemon_phase, n->daemon_each);
		if (daemon < stops)
			stops = daemon;
	}
	return stops;
}

nsec_t node_works(const struct node *n, nsec_t t, nsec_t work)
{
	for (;;) {
		nsec_t stops;

		t = node_runs(n, t);
		stops = node_stops(n, t);
		if (work <= stops - t)
			return t + work;
		work -= stops - t;
		t = stops;
	}
}
