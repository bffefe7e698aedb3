/* large.c - see large.h */
#include "cluster/agent/large.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/xalloc.h"

enum { REST = 20 }; /* times as long as the look took */

/* As its control group counts them; 0: no group does. */
static uint64_t threads_of(const struct capsule_record *rec)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rec->nr_cgroups && !n; i++)
		n = cgroup_number(rec->cgroups[i], "pids.current", "");
	return n;
}

void large_begin(struct large *l)
{
	l->taken = l->more = false;
	for (size_t i = 0; i < l->nr; i++)
		l->guest[i].seen = false;
}

void large_end(struct large *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (l->guest[i].seen)
			l->guest[kept++] = l->guest[i];
	l->nr = kept;
}

struct large_guest *large_guest(struct large *l,
				const struct capsule_record *rec)
{
	struct large_guest *g;

	if (threads_of(rec) <= GUEST_LARGE)
		return NULL;
	for (g = l->guest; g < l->guest + l->nr; g++)
		if (g->init.pid == rec->init.pid &&
		    g->init.start == rec->init.start) {
			g->seen = true;
			return g;
		}
	array_room(l->guest, l->nr, &l->cap);
	g = &l->guest[l->nr++];
	*g = (struct large_guest){ .init = rec->init, .seen = true };
	return g;
}

bool large_may(const struct large *l, const struct large_guest *g)
{
	if (l->taken || clock_usec(CLOCK_MONOTONIC) < l->rest)
		return false;
	for (size_t i = 0; i < l->nr; i++)
		if (l->guest[i].at < g->at)
			return false;
	return true;
}

bool large_must(struct large *l)
{
	l->more |= l->taken;
	return !l->taken;
}

void large_looked(struct large *l, struct large_guest *g, usec_t from)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	l->taken = true;
	l->rest = now + REST * (now - from);
	g->at = now;
}

void large_clear(struct large *l)
{
	free(l->guest);
	*l = (struct large){ .nr = 0 };
}
