/*
 * series.h - how queue and machine stood over time
 *
 * An observer that averages what it sees over equal spans of time.  The spans
 * widen as the run gets longer (twice as wide whenever they get too many), so
 * that a run of any length gives between 1000 and 2000 points and takes the
 * same memory.
 */
#ifndef SIM_REPORT_SERIES_H
#define SIM_REPORT_SERIES_H

#include <stdio.h>

#include "core/units.h"
#include "model/view.h"
#include "sim/report/window.h"

#define SERIES_MAX 2000

struct series_span {
	/* Integrals over the span, in seconds times what is named. */
	double waiting, running, allocated, demand;
};

/* All zero is empty, and of all time; owns nothing else. */
struct series {
	struct series_span span[SERIES_MAX];
	size_t nr;    /* in use */
	usec_t width; /* of a span */
	usec_t begin; /* of the first */
	struct window
		window; /* only of this time; set before the first event */
	usec_t origin;	/* the first event */
	usec_t seen;	/* integrals are complete up to then */
	struct series_span now; /* the state since then, as it is */
	int64_t procs;
};

/* An event was applied to view: the state before it lasted until now. */
void series_note(struct series *s, const struct view *view);

/*
 * A table with tabs: seconds from the first event to the middle of the span,
 * waiting jobs, running jobs, utilization, demand over processors.
 */
void series_print(const struct series *s, int64_t seed, FILE *to);

/* Utilization and queue length as SVG, one above the other. */
void series_plot(const struct series *s, const char *title, const char *note,
		 FILE *to);

#endif
