/*
 * average.h - a load averaged over a time (Schnor 1997 section 3.3)
 *
 *	avenrun_b(t) = e^(-a/b) avenrun_b(t-1) + (1 - e^(-a/b)) load
 *
 * where a is the time since the last sample, which need not be the same each
 * time, and b the smoothing interval.  b = 0 is the run queue as it is: of the
 * descriptors that the section compares, the one that follows best.
 */
#ifndef MODEL_AVERAGE_H
#define MODEL_AVERAGE_H

#include <stdbool.h>

#include "core/units.h"

struct average {
	usec_t over; /* b; set by whoever makes it, the rest is 0 at first */
	double value;
	usec_t last;
	bool fed; /* the first sample is the average */
};

/* It was `load` up to now, which never goes back; returns the average. */
double average_feed(struct average *a, double load, usec_t now);

#endif
