/*
 * skew.h - what a host's clock says, by ours
 *
 * A host tells its time now and then.  What it told is at least as old as it
 * took to come, so the least difference to our time on arrival is the best
 * guess; of this minute and the one before, as clocks are set and drift.  Two
 * instants of one host so keep their order and distance exactly, those of two
 * hosts are off by no more than the fastest message took.
 */
#ifndef CLUSTER_CONTROLLER_STATE_SKEW_H
#define CLUSTER_CONTROLLER_STATE_SKEW_H

#include <stdbool.h>

#include "core/units.h"

struct skew {
	bool known;
	usec_t since;	      /* ours: this minute's beginning */
	usec_t least, before; /* ours less theirs: of this and the last one */
};

/* A host may say any number: what is no time of this age is as if not told. */
void skew_told(struct skew *s, usec_t ours, usec_t theirs);
/* Theirs by our clock; 0 if it is not known. */
usec_t skew_ours(const struct skew *s, usec_t theirs);

#endif
