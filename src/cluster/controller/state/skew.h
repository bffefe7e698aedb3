/*
 * skew.h - converting times of a host's clock to ours
 *
 * A host reports its time now and then.  A report is as old as its transmission
 * took, so the least difference to our time on arrival is the best estimate;
 * only this minute and the previous one count, as clocks are set and drift.
 * Two times of one host keep their order and distance exactly; those of two
 * hosts are off by no more than the fastest transmission took.
 */
#ifndef CLUSTER_CONTROLLER_STATE_SKEW_H
#define CLUSTER_CONTROLLER_STATE_SKEW_H

#include <stdbool.h>

#include "core/units.h"

struct skew {
	bool known;
	usec_t since;	      /* begin of this minute, by our clock */
	usec_t least, before; /* ours minus theirs: this minute, the previous */
};

/* A host may send any number: implausible times are ignored. */
void skew_told(struct skew *s, usec_t ours, usec_t theirs);
/* A time of the host by our clock; 0 if unknown. */
usec_t skew_ours(const struct skew *s, usec_t theirs);

#endif
