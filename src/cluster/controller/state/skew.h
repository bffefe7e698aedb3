/*
 * skew.h - converting times of a host's clock to ours
 *
 * A host reports its time now and then.  A report is as old as its transmission took,
 * so the least difference to our time on arrival is the best estimate.  Only this
 * minute and the previous one count, because clocks drift and are set.  Two times of
 * one host keep their order and distance exactly; times of two hosts are off by no more
 * than the fastest transmission took.
 */
#ifndef CLUSTER_CONTROLLER_STATE_SKEW_H
#define CLUSTER_CONTROLLER_STATE_SKEW_H

#include <stdbool.h>

#include "core/units.h"

struct skew {
	bool known;
	usec_t since; /* beginning of this minute, by our clock */
	/* ours minus theirs, least of this and of the previous minute */
	usec_t least, before;
};

/* A host may send any number: implausible times are ignored. */
void skew_told(struct skew *s, usec_t ours, usec_t theirs);
/* A time of the host by our clock; 0 if unknown. */
usec_t skew_ours(const struct skew *s, usec_t theirs);

#endif
