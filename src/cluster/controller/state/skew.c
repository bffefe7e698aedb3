/* skew.c - convert times of a host's clock to ours, see skew.h */
#include "cluster/controller/state/skew.h"

#define MINUTE (60 * USEC_PER_SEC)

/* The year 2255. */
#define LATEST ((usec_t)9000000000 * USEC_PER_SEC)

static bool is_time(usec_t theirs)
{
	return theirs > 0 && theirs < LATEST;
}

void skew_told(struct skew *s, usec_t ours, usec_t theirs)
{
	usec_t d = is_time(theirs) ? ours - theirs : 0;

	if (!is_time(theirs))
		return;

	if (!s->known || ours - s->since >= MINUTE || ours < s->since) {
		s->before = s->known ? s->least : d;
		s->least = d;
		s->since = ours;
		s->known = true;
	}
	if (d < s->least)
		s->least = d;
}

usec_t skew_ours(const struct skew *s, usec_t theirs)
{
	usec_t d = s->least < s->before ? s->least : s->before;

	return s->known && is_time(theirs) ? theirs + d : 0;
}
